"""`anabranch match`: players against each other from paired openings, with live standings.

This reads options and prints; `anabranch.match` does the work. Ctrl-C ends a match at once and loses no
finished game: the same command continues it.
"""

from __future__ import annotations

import math
import time as clocks
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from anabranch.catalogue import is_grid
from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import Chess960Option, JsonOption, RayOption, VariantOption, WorkersOption, option
from anabranch.errors import MatchError
from anabranch.match.adjudication import Adjudication
from anabranch.match.player import Budget
from anabranch.match.schedule import MatchSpec
from anabranch.match.statistics import Sprt
from anabranch.named_games import is_reference, load_reference

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anabranch.match.game import GameRecord, GameSpec
    from anabranch.match.openings import Opening
    from anabranch.match.runner import OnGame
    from anabranch.match.standings import Matchup, Standings
    from anabranch.match.statistics import Estimate

QUIET = 30.0
"""Seconds between two lines of progress where there is no terminal."""

WIDE = 100
"""Columns of a screen from which on the whole table is shown."""

PlayersOption: TypeAlias = Annotated[
    list[str],
    option(
        "NAME=KIND:...",
        "NAME=preset:PRESET,SETTING=VALUE,... or NAME=uci:COMMAND,OPTION=VALUE,...; limits of its own "
        "too: evaluations=, simulations=, nodes=, time=, clock=. Two or more.",
        "--player",
        "-p",
    ),
]
SCORES = ("resign_score", "draw_score")
SECONDS = {"time": "SECONDS", "clock": "SECONDS", "increment": "SECONDS"}
BudgetOptions: TypeAlias = Annotated[
    dict[str, Any], FromSettings(Budget, metavars={**SECONDS, "clock": "BASE+INC"}, raw=True)
]
MatchOptions: TypeAlias = Annotated[
    dict[str, Any],
    FromSettings(
        MatchSpec,
        only=("pairs", "mode", "margin", "timeout", "seed"),
        metavars={"margin": "SECONDS", "timeout": "SECONDS"},
    ),
]
AdjudicationOptions: TypeAlias = Annotated[
    dict[str, Any],
    FromSettings(
        Adjudication.usual("chess"),
        metavars={"tablebases": "FOLDER", "longest": "N|off", **dict.fromkeys(SCORES, "CP|off")},
        defaults={"resign_score": "1000, in variants 1500"},
    ),
]
SprtOptions: TypeAlias = Annotated[
    dict[str, Any],
    FromSettings(
        Sprt,
        prefix="sprt-",
        metavars={"elo0": "ELO", "elo1": "ELO", "alpha": "P", "beta": "P"},
        optional=True,
    ),
]


@with_settings
def match(
    *,
    player: PlayersOption,
    out: Annotated[
        Path, option("FOLDER", "Folder of the results; a match there is continued.", "--out", "-o")
    ],
    variant: VariantOption = "chess",
    chess960: Chess960Option = False,
    budget: BudgetOptions,
    settings: MatchOptions,
    adjudication: AdjudicationOptions,
    sprt: SprtOptions,
    openings: Annotated[
        Path | None,
        option(
            "FILE",
            "EPD, FEN or PGN; besides chess, moves or boards.  "
            "[default: the openings of the package; besides chess random ones]",
        ),
    ] = None,
    opening_plies: Annotated[
        int | None,
        option("N", "Plies of random openings, besides chess.  [default: 4; hex and go 2, othello 6]"),
    ] = None,
    anchor: Annotated[
        str | None, option("NAME=ELO", "A player whose rating is known.  [default: the last, 0]")
    ] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play engines against each other, and estimate their difference in Elo.

    Every opening is played twice with colours reversed. Results are kept game by game: the same command
    continues a match that was interrupted, and with more pairs it makes the match longer. An engine that
    crashes, hangs or plays an illegal move loses that game and is started again.

    Example: anabranch match -p new=preset:default -p old=preset:mcgs --evaluations 400 --out runs/first
    """
    from anabranch.cli.output import announce, end_interrupted, output, plural, print_json
    from anabranch.jobs.executor import check_cluster, executor_of
    from anabranch.match.estimate import seconds_of_games
    from anabranch.match.player import read_budget, read_player
    from anabranch.match.results import read_results
    from anabranch.match.runner import run_match, summary
    from anabranch.match.standings import Tally

    limits = read_budget(budget)
    if is_reference(variant):
        load_reference(variant)
    spec = MatchSpec(
        tuple(read_player(text).with_budget(limits) for text in player),
        tuple(find_openings(openings, variant, chess960, opening_plies, settings.get("seed", 0))),
        variant=variant,
        chess960=chess960,
        adjudication=replace(Adjudication.usual(variant), **adjudication),
        sprt=_sprt(sprt),
        anchor=_anchor(anchor),
        **settings,
    )
    is_complete = True
    executor = executor_of(workers, ray)
    check_cluster(ray)

    def on_start(missing: Sequence[GameSpec], played: Sequence[GameRecord]) -> None:
        is_most = spec.sprt is not None
        seconds = seconds_of_games(missing, played)
        announce(plural(len(missing), "game"), seconds, len(missing), executor, is_most=is_most)

    with _progress() as on_game:
        try:
            run_match(spec, out, executor, on_game, on_start)
        except KeyboardInterrupt:
            is_complete = False
    tally = Tally.of(spec, read_results(out))
    if as_json:
        print_json(summary(spec, tally))
    else:
        console = output()
        console.print(render(tally.standings(), tally.ratings(), console.width))
    if not is_complete:
        end_interrupted()


def find_openings(
    path: Path | None, variant: str, chess960: bool, plies: int | None = None, seed: int = 0
) -> list[Opening]:
    """The openings of a file, each once, or those that the package has; besides chess, random ones."""
    from anabranch.match.grid_openings import random_openings, read_grid_openings
    from anabranch.match.openings import default_openings, read_openings, without_repeats

    if plies is not None and (path is not None or not is_grid(variant)):
        raise MatchError("--opening-plies is for random openings, in games besides chess")
    if is_grid(variant):
        return (
            random_openings(variant, plies, seed=seed) if path is None else read_grid_openings(path, variant)
        )
    if path is None:
        return default_openings(variant, chess960)
    return without_repeats(read_openings(path, variant, chess960))


def _anchor(text: str | None) -> tuple[str, float] | None:
    if text is None:
        return None
    name, _, rating = text.rpartition("=")
    try:
        return name, float(rating)
    except ValueError:
        raise MatchError(f"--anchor takes a player and its rating, NAME=ELO, not {text!r}") from None


def _sprt(given: dict[str, Any]) -> Sprt | None:
    if not given:
        return None
    if not {"elo0", "elo1"} <= given.keys():
        raise MatchError("an SPRT needs --sprt-elo0 and --sprt-elo1")
    return Sprt(**given)


@contextmanager
def _progress() -> Iterator[OnGame]:
    """A callback that shows the standings: a table where stderr is a terminal, else a line now and then."""
    from rich.live import Live

    from anabranch.cli.output import notices

    console = notices()
    printed = clocks.monotonic()

    def print_fault(record: GameRecord | None) -> None:
        if record is not None and record.fault is not None:
            loser = record.white if record.white_points == 0.0 else record.black
            place = f"game {record.pair + 1}.{record.game + 1}"
            console.print(f"{place}: {loser} lost by its own fault: {record.reason}: {record.fault}")

    if console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:

            def show_table(standings: Standings, record: GameRecord | None) -> None:
                print_fault(record)
                live.update(render(standings, {}, console.width), refresh=record is None)

            yield show_table
        return

    def show_line(standings: Standings, record: GameRecord | None) -> None:
        nonlocal printed
        print_fault(record)
        if clocks.monotonic() - printed >= QUIET or (record is not None and standings.is_over):
            printed = clocks.monotonic()
            console.print(line_of(standings))

    yield show_line


def line_of(standings: Standings) -> str:
    """The standings of a match in a line."""
    parts = [f"{standings.games} of {standings.spec.games} games"]
    for matchup in standings.matchups[:1] if len(standings.matchups) == 1 else ():
        parts.append(f"{matchup.first} {matchup.points:g} - {matchup.games - matchup.points:g}")
        parts.append(f"Elo {estimate(matchup.elo)}")
        if standings.ratio is not None:
            parts.append(f"LLR {standings.ratio:.2f}")
    return ", ".join(parts)


def render(standings: Standings, ratings: Mapping[str, Estimate], width: int) -> RenderableType:
    """The standings of a match as tables, for a screen of some width."""
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
        listed = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
        notes.append(f"{name} lost by its own fault: {listed}")
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
