"""`anabranch match`: players against each other from paired openings, with a table that lives.

Options in, progress and a table out; the work is that of `anabranch.match`. Ctrl-C ends a match at once, and
no finished game is lost: the same command goes on.
"""

from __future__ import annotations

import math
import time as clocks
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from anabranch.cli.options import (
    Chess960Option,
    EvaluationsOption,
    JsonOption,
    RayOption,
    SimulationsOption,
    VariantOption,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anabranch.match.adjudication import Adjudication
    from anabranch.match.game import GameRecord, GameSpec
    from anabranch.match.openings import Opening
    from anabranch.match.runner import Show
    from anabranch.match.standings import Matchup, Standings
    from anabranch.match.statistics import Estimate, Sprt

QUIET = 30.0
"""Seconds between two lines of progress where there is no terminal."""

WIDE = 100
"""Columns of a screen from which on the whole table is shown."""

PlayersOption: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--player",
        "-p",
        metavar="NAME=KIND:...",
        help="NAME=preset:PRESET,SETTING=VALUE,... or NAME=uci:COMMAND,OPTION=VALUE,...; also a limit of its "
        "own: evaluations=, simulations=, nodes=, time=, clock=. Two or more.",
    ),
]


def match(
    player: PlayersOption,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Where results go; if they are there, they go on."
        ),
    ],
    variant: VariantOption = "chess",
    chess960: Chess960Option = False,
    evaluations: EvaluationsOption = None,
    simulations: SimulationsOption = None,
    nodes: Annotated[int | None, typer.Option(metavar="N", help="Limit: nodes of UCI programs.")] = None,
    time: Annotated[float | None, typer.Option(metavar="SECONDS", help="Limit: time per move.")] = None,
    clock: Annotated[str | None, typer.Option(metavar="BASE+INC", help="Limit: a clock, in seconds.")] = None,
    pairs: Annotated[
        int, typer.Option(metavar="N", help="Pairs of games of every two players that meet.")
    ] = 100,
    openings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="EPD, FEN or PGN.  [default: the suite of the package]"),
    ] = None,
    gauntlet: Annotated[
        bool, typer.Option("--gauntlet", help="The first against all others, not all against all.")
    ] = False,
    sprt: Annotated[
        str | None, typer.Option(metavar="ELO0,ELO1", help="Stop as soon as it is decided which is true.")
    ] = None,
    sprt_model: Annotated[
        str, typer.Option(metavar="NAME", help="Elo of the SPRT: logistic or normalised.")
    ] = "logistic",
    alpha: Annotated[float, typer.Option(metavar="P", help="Error of the first kind.")] = 0.05,
    beta: Annotated[float, typer.Option(metavar="P", help="Error of the second kind.")] = 0.05,
    anchor: Annotated[
        str | None,
        typer.Option(metavar="NAME=ELO", help="A player whose rating is known.  [default: the last, 0]"),
    ] = None,
    resign: Annotated[
        str | None,
        typer.Option(
            metavar="CP,PLIES|off",
            help="A game is won when both saw that score for so long.  [default: 1000,6; variants 1500,6]",
        ),
    ] = None,
    draw: Annotated[
        str,
        typer.Option(metavar="CP,PLIES,AFTER|off", help="Drawn when both saw no more, from a ply on."),
    ] = "10,12,80",
    tablebases: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Syzygy tables that end games.")
    ] = None,
    longest: Annotated[
        str, typer.Option(metavar="PLIES|off", help="Plies after which a game is drawn.")
    ] = "400",
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", metavar="N", help="Games at a time.  [default: the cores here]"),
    ] = None,
    ray: RayOption = None,
    margin: Annotated[float, typer.Option(metavar="SECONDS", help="How late a move may be.")] = 1.0,
    patience: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Silence without a clock after which a program counts as hanging."
        ),
    ] = 60.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Of all that is left to chance.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Let engines play each other, and tell how strong they are.

    Every opening is played twice with colours reversed. Results are kept game by game: the same command goes
    on where it was interrupted, and with more pairs it makes the match longer. An engine that crashes, hangs
    or plays an illegal move loses that game and is started again.
    """
    from anabranch.cli.output import announce, notices, output, plural, print_json
    from anabranch.jobs.executor import executor_of
    from anabranch.match.estimate import seconds_of_games
    from anabranch.match.player import Budget, read_budget, read_player
    from anabranch.match.results import read_results
    from anabranch.match.runner import run_match, summary
    from anabranch.match.schedule import MatchSpec
    from anabranch.match.standings import Tally
    from anabranch.optional import require

    timed = read_budget({} if clock is None else {"clock": clock})
    budget = Budget(evaluations, simulations, nodes, time, timed.clock, timed.increment)
    spec = MatchSpec(
        tuple(read_player(text).with_budget(budget) for text in player),
        tuple(find_openings(openings, variant, chess960)),
        pairs,
        variant,
        chess960,
        "gauntlet" if gauntlet else "round-robin",
        _adjudication(variant, resign, draw, tablebases, longest),
        margin,
        patience,
        seed,
        _sprt(sprt, sprt_model, alpha, beta),
        _anchor(anchor),
    )
    is_whole = True
    executor = executor_of(workers, ray)
    if ray is not None:
        require("ray", "cluster")

    def begin(missing: Sequence[GameSpec], played: Sequence[GameRecord]) -> None:
        is_most = spec.sprt is not None
        seconds = seconds_of_games(missing, played)
        announce(plural(len(missing), "game"), seconds, len(missing), executor, is_most=is_most)

    with _show() as show:
        try:
            run_match(spec, out, executor, show, begin)
        except KeyboardInterrupt:
            is_whole = False
    tally = Tally.of(spec, read_results(out))
    if as_json:
        print_json(summary(spec, tally))
    else:
        console = output()
        console.print(render(tally.standings(), tally.ratings(), console.width))
    if not is_whole:
        notices().print("interrupted; the same command goes on")
        raise typer.Exit(130)


def find_openings(path: Path | None, variant: str, chess960: bool) -> list[Opening]:
    """The openings of a file, each once, or those that the package has for it."""
    from anabranch.match.openings import default_openings, read_openings, without_repeats

    if path is None:
        return default_openings(variant, chess960)
    return without_repeats(read_openings(path, variant, chess960))


def _adjudication(
    variant: str, resign: str | None, draw: str, tablebases: Path | None, longest: str
) -> Adjudication:
    from anabranch.match.adjudication import RESIGN_PLIES, Adjudication, resign_score

    chosen: dict[str, Any] = {"tablebases": None if tablebases is None else str(tablebases)}
    if resign != "off":
        default = f"{resign_score(variant)},{RESIGN_PLIES}"
        score, plies = _numbers("--resign", resign or default, 2)
        chosen.update(resign_score=score, resign_plies=plies)
    if draw != "off":
        score, plies, after = _numbers("--draw", draw, 3)
        chosen.update(draw_score=score, draw_plies=plies, draw_after=after)
    if longest != "off":
        chosen["longest"] = _numbers("--longest", longest, 1)[0]
    return Adjudication(**chosen)


def _numbers(option: str, text: str, amount: int) -> list[int]:
    from anabranch.errors import MatchError

    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != amount:
        words = {1: "a whole number", 2: "two whole numbers", 3: "three whole numbers"}[amount]
        raise MatchError(f"{option} takes {words} with commas between, or off, not {text!r}")
    return numbers


def _anchor(text: str | None) -> tuple[str, float] | None:
    from anabranch.errors import MatchError

    if text is None:
        return None
    name, _, rating = text.rpartition("=")
    try:
        return name, float(rating)
    except ValueError:
        raise MatchError(f"--anchor takes a player and its rating, NAME=ELO, not {text!r}") from None


def _sprt(text: str | None, model: str, alpha: float, beta: float) -> Sprt | None:
    from anabranch.errors import MatchError
    from anabranch.match.statistics import Sprt

    if text is None:
        return None
    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise MatchError(f"--sprt takes two numbers with a comma between, not {text!r}") from None
    return Sprt(elo0, elo1, alpha, beta, model)  # type: ignore[arg-type]


@contextmanager
def _show() -> Iterator[Show]:
    """Somebody who hears where a match stands: a table where stderr is a terminal, else a line at times."""
    from rich.live import Live

    from anabranch.cli.output import notices

    console = notices()
    said = clocks.monotonic()

    def tell_fault(record: GameRecord | None) -> None:
        if record is not None and record.fault is not None:
            loser = record.white if record.white_points == 0.0 else record.black
            place = f"game {record.pair + 1}.{record.game + 1}"
            console.print(f"{place}: {loser} lost by its own fault: {record.reason}: {record.fault}")

    if console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:

            def show_table(standings: Standings, record: GameRecord | None) -> None:
                tell_fault(record)
                live.update(render(standings, {}, console.width), refresh=record is None)

            yield show_table
        return

    def show_line(standings: Standings, record: GameRecord | None) -> None:
        nonlocal said
        tell_fault(record)
        if clocks.monotonic() - said >= QUIET or (record is not None and standings.is_over):
            said = clocks.monotonic()
            console.print(line_of(standings))

    yield show_line


def line_of(standings: Standings) -> str:
    """Where a match stands, in a line."""
    parts = [f"{standings.games} of {standings.spec.games} games"]
    for matchup in standings.matchups[:1] if len(standings.matchups) == 1 else ():
        parts.append(f"{matchup.first} {matchup.points:g} - {matchup.games - matchup.points:g}")
        parts.append(f"Elo {estimate(matchup.elo)}")
        if standings.ratio is not None:
            parts.append(f"LLR {standings.ratio:.2f}")
    return ", ".join(parts)


def render(standings: Standings, ratings: Mapping[str, Estimate], width: int) -> RenderableType:
    """Where a match stands, as tables, in so many columns of a screen."""
    from rich.console import Group

    from anabranch.cli.output import table

    rows = [_cells(matchup) for matchup in standings.matchups]
    left_out = () if width >= WIDE else (">games", ">nElo", ">LOS")
    columns = [column for column in rows[0] if column not in left_out]
    shown = [[row[column] for column in columns] for row in rows]
    parts: list[RenderableType] = [table(None, columns, shown)]
    if ratings:
        ordered = sorted(ratings.items(), key=lambda item: -item[1].value)
        parts.append(
            table(None, ["player", ">rating"], [[name, estimate(rating)] for name, rating in ordered])
        )
    parts.extend(_notes(standings))
    return Group(*parts)


def _cells(matchup: Matchup) -> dict[str, str]:
    """The cells of a row, by column."""
    score = f"{100.0 * matchup.points / matchup.games:.1f} %" if matchup.games else "-"
    return {
        "players": f"{matchup.first} - {matchup.second}",
        ">games": str(matchup.games),
        ">+ = -": f"{matchup.wins} {matchup.draws} {matchup.losses}",
        ">score": score,
        ">Elo": estimate(matchup.elo),
        ">nElo": estimate(matchup.normalised_elo),
        ">LOS": f"{100.0 * matchup.superiority:.1f} %",
        ">pairs": " ".join(str(number) for number in matchup.pairs),
    }


def _notes(standings: Standings) -> list[str]:
    notes = [f"{standings.games} of {standings.spec.games} games"]
    if standings.spec.sprt is not None and standings.ratio is not None:
        test = standings.spec.sprt
        notes.append(
            f"SPRT [{test.elo0:g}, {test.elo1:g}] {test.model}: LLR {standings.ratio:.2f} "
            f"({test.lower:.2f} to {test.upper:.2f}), {standings.verdict}"
        )
    for name, kinds in standings.faults.items():
        told = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
        notes.append(f"{name} lost by its own fault: {told}")
    if standings.reasons:
        notes.append(
            "games ended by " + ", ".join(f"{name} {number}" for name, number in standings.reasons.items())
        )
    return notes


def estimate(number: Estimate) -> str:
    """A number with its error, in whole tenths.

    >>> from anabranch.match.statistics import Estimate
    >>> estimate(Estimate(40.7, 30.43)), estimate(Estimate(math.inf, math.inf))
    ('+40.7 ± 30.4', '+inf')
    """
    value = f"{number.value:+.1f}"
    return f"{value} ± {number.error:.1f}" if math.isfinite(number.error) else value
