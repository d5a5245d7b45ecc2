"""`anabranch selfplay`: networks that learn from games against themselves.

Options become the plan of a run; the work is that of `anabranch.selfplay`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.from_settings import FromSettings, text_of, with_settings
from anabranch.cli.options import JsonOption, RayOption, WorkersOption, argument, group, option
from anabranch.errors import SelfPlayError
from anabranch.selfplay.plan import USUAL, LoopPlan

selfplay = group("Networks that learn from games against themselves.")

GameOption: TypeAlias = Annotated[
    str | None,
    option(
        "NAME",
        "chess, crazyhouse, a game of 'anabranch games', or one of rows written in Python, module:Class.",
        "--game",
        "--variant",
        "-v",
    ),
]
RunFolderOption: TypeAlias = Annotated[
    Path, option("DIR", "The folder of the run: plan, journal, positions, networks.", "--out")
]
FolderArgument: TypeAlias = Annotated[Path, argument("DIR", "The folder of a run.")]


def plan_options(*skip: str) -> FromSettings:
    """Options for the plan of a run; the help has the defaults of all games."""
    metavars = {"initial": "NAME|FILE", "data": "DIR", "outsiders": "NAME|FILE|uci:COMMAND"}
    texts = {entry.name: _default_text(entry) for entry in fields(LoopPlan)}
    defaults = {name: text for name, text in texts.items() if text is not None}
    return FromSettings(LoopPlan, skip=("game", *skip), metavars=metavars, defaults=defaults)


def _default_text(entry: Field[Any]) -> str | None:
    """The default of a field and those of games that have another one; none where all have the same."""
    games: dict[Any, list[str]] = {}
    for game, usual in USUAL.items():
        value = usual.get(entry.name, entry.default)
        if value != entry.default:
            games.setdefault(value, []).append(game)
    others = [f"{text_of(value)} in {', '.join(names)}" for value, names in games.items()]
    return "; ".join([text_of(entry.default), *others]) if others else None


def _notify(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


@contextmanager
def _saying_what_is_kept(out: Path) -> Iterator[None]:
    """After Ctrl-C, say what the folder has."""
    from anabranch.selfplay.folder import read_run

    try:
        yield
    except KeyboardInterrupt:
        with suppress(SelfPlayError):
            rows = read_run(out).records("play").values()
            games, positions = (sum(row[name] for row in rows) for name in ("games", "positions"))
            _notify(
                f"anabranch: interrupted; {out} has {games:,} games with {positions:,} positions, "
                "and the same command continues"
            )
        raise


def _check_named(game: str) -> None:
    """Refuse the game of a folder that is a module, unless the user has named it."""
    from anabranch.named_games import is_loaded

    if not is_loaded(game):
        raise SelfPlayError(f"the run plays a game written in Python, so name it: --game {game}")


def _plan(out: Path, game: str | None, given: dict[str, Any]) -> LoopPlan:
    """The plan of the options; of a run to be continued, its own, with which the options must agree."""
    from anabranch import _core
    from anabranch.catalogue import is_grid
    from anabranch.named_games import is_reference
    from anabranch.selfplay.folder import DOCUMENT, read_run
    from anabranch.selfplay.plan import plan_of
    from anabranch.selfplay.rows_records import game_of_rows

    if (out / DOCUMENT).is_file():
        stored = read_run(out).plan
        if game is None:
            _check_named(stored.game)
        if game is None and not given:
            return stored
        game = stored.game if game is None else game
    if game is None:
        raise SelfPlayError("a new run needs --game")
    if not is_grid(game):
        return plan_of(game, **given)
    if is_reference(game):
        game_of_rows(game)
        return plan_of(game, **given)
    name, _ = _core.Session(game, False, {"evaluator": "uniform"}, False).variant()
    return plan_of(name, **given)


@selfplay.command()
@with_settings
def run(
    *,
    plan: Annotated[dict[str, Any], plan_options()],
    out: RunFolderOption = Path("selfplay"),
    game: GameOption = None,
    minutes: Annotated[
        float | None, option("N", "Ends after so many minutes of work, earlier calls included.")
    ] = None,
    generations: Annotated[int | None, option("N", "Ends after so many generations.")] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
) -> None:
    """Play, learn, judge, again.

    The run lives in the folder --out. The same command, or one with --out alone, continues it after any
    end, kill -9 included, and gives the same networks. The best one is named at the end.

    Example: anabranch selfplay run --game connect-four --minutes 60 --out c4
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from anabranch.jobs.executor import executor_of
    from anabranch.selfplay import loop

    chosen = _plan(out, game, plan)
    if minutes is None and generations is None:
        raise SelfPlayError("a run needs an end: give --minutes or --generations")
    with _saying_what_is_kept(out):
        limit = loop.Limit(minutes, generations)
        folder = loop.run(out, chosen, limit, executor_of(workers, ray), _notify)
    best = folder.best
    typer.echo("no network yet" if best is None else f"{folder.network_file(best)}: generation {best}")


@selfplay.command()
@with_settings
def play(
    *,
    plan: Annotated[dict[str, Any], plan_options("initial", "data", "data_share")],
    out: RunFolderOption,
    game: GameOption = None,
    evaluator: Annotated[
        str | None,
        option(
            "NAME|FILE",
            "What plays: a network file or an evaluator.  [default: of a folder that is continued its own, "
            "else rollout, material in chess variants]",
            "--evaluator",
            "-e",
        ),
    ] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
) -> None:
    """Play one generation of games with an evaluator, and learn nothing.

    Example: anabranch selfplay play --game hex:size=7 --games 100 --out games
    """
    from anabranch.jobs.executor import executor_of
    from anabranch.selfplay.loop import nothing_of, play_only, player_of_games

    chosen = _plan(out, game, plan)
    with _saying_what_is_kept(out):
        player = evaluator or player_of_games(out) or nothing_of(chosen.game)
        folder = play_only(out, chosen, player, executor_of(workers, ray), _notify)
    positions = sum(record["positions"] for record in folder.records("play").values())
    typer.echo(f"{out}: {chosen.games:,} games, {positions:,} positions")


@selfplay.command()
def status(
    folder: FolderArgument,
    plot: Annotated[Path | None, option("FILE", "Write the curves as a picture, .png or .svg.")] = None,
    watch: Annotated[
        float | None, option("SECONDS", "Show the table again so often, until Ctrl-C; the picture too.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the generations of a run: games, losses, gates, Elo, and how far the present one is.

    Example: anabranch selfplay status c4 --plot c4.png
    """
    if watch is not None:
        if as_json or not watch > 0.0:
            raise SelfPlayError("--watch takes seconds above 0, and shows a table")
        from anabranch.cli.output import output

        with output().screen() if sys.stdout.isatty() else nullcontext() as screen:
            while True:
                text = _status_text(folder, plot)
                screen.update(text) if screen is not None else typer.echo(text)
                time.sleep(watch)
    if as_json:
        from anabranch.selfplay.folder import read_run
        from anabranch.selfplay.status import as_dict, draw, rows_of

        found = read_run(folder)
        if plot is not None:
            draw(rows_of(found), plot)
        typer.echo(json.dumps(as_dict(found)))
        return
    typer.echo(_status_text(folder, plot))


def _status_text(folder: Path, plot: Path | None) -> str:
    """The table of a run and where it is; the curves are drawn too, if wanted."""
    from anabranch.selfplay.folder import read_run
    from anabranch.selfplay.status import draw, rows_of, stage_of, table

    found = read_run(folder)
    rows = rows_of(found)
    if plot is not None:
        draw(rows, plot)
    best = found.best
    named = [] if best is None else [f"best: {found.network_file(best)}"]
    return "\n".join([table(rows), stage_of(found), *named])


@selfplay.command()
def compare(
    first: Annotated[list[Path], option("DIR", "A run of the first way; may be repeated.", "--first")],
    second: Annotated[list[Path], option("DIR", "A run of the second way; may be repeated.", "--second")],
    out: Annotated[Path, option("DIR", "Where the games are kept; the same command continues.")],
    pairs: Annotated[int, option("N", "Pairs of games of two runs in each generation.")] = 50,
    evaluations: Annotated[
        int | None,
        option(
            "N", "Evaluations of a move, from 1 on.  [default: those of the gates]", "--evaluations", "-n"
        ),
    ] = None,
    game: Annotated[
        str | None, option("NAME", "The game of the runs, needed where it is written in Python.", "--game")
    ] = None,
    plot: Annotated[Path | None, option("FILE", "Draw Elo over generations, .png or .svg.")] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two ways to run self-play: networks of equal generations play each other.

    Runs of a way differ in their seed; the first of one way meets the first of the other, and so on.

    Example: anabranch selfplay compare --first graph-1 --second tree-1 --out graph-tree
    """
    from dataclasses import asdict

    from anabranch.jobs.executor import executor_of
    from anabranch.named_games import is_reference
    from anabranch.selfplay.compare import compare as compared
    from anabranch.selfplay.compare import compared_text, differing, draw_compared
    from anabranch.selfplay.folder import read_run
    from anabranch.selfplay.pictures import check_picture
    from anabranch.selfplay.rows_records import game_of_rows

    if plot is not None:
        check_picture(plot)
    ways = [[read_run(path) for path in way] for way in (first, second)]
    if game is not None and is_reference(game):
        game_of_rows(game)
    for folder in ways[0] + ways[1]:
        _check_named(folder.plan.game)
    rows = compared(ways[0], ways[1], pairs, evaluations, out, executor_of(workers, ray))
    for sentence in differing(ways[0], ways[1]):
        _notify(sentence)
    found = []
    for row in rows:
        found.append(row)
        if not as_json:
            typer.echo(compared_text(row))
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in found]))
    if plot is not None:
        draw_compared(found, plot)


@selfplay.command()
def check(
    evaluator: Annotated[str, argument("NAME|FILE", "A network for Connect Four, or rollout.")],
    files: Annotated[list[Path], argument("FILE...", "Positions of Connect Four with exact scores.")],
    evaluations: Annotated[
        int, option("N", "Evaluations of a move; 0 takes the network's first choice.", "--evaluations", "-n")
    ] = 400,
    limit: Annotated[int | None, option("N", "Positions of each file.  [default: all]")] = None,
    exact: Annotated[Path | None, option("FILE", "Where exact results are kept (JSON).")] = None,
    most: Annotated[int, option("N", "Positions after which the solver gives up a move.")] = 1_000_000_000,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count wrong moves in Connect Four: moves that change win, draw or loss.

    The exact results after moves come from a solver, which takes seconds for an early position; --exact keeps
    them for the next time.

    Example: anabranch selfplay check c4/networks/0020/network.safetensors L1_R1.txt L3_R1.txt
    """
    from dataclasses import asdict

    from anabranch.jobs.executor import executor_of
    from anabranch.selfplay.wrong_moves import ExactResults, check_files

    known = ExactResults(exact, most, executor_of(workers))
    rows = check_files(evaluator, files, evaluations, known, limit)
    if as_json:
        typer.echo(json.dumps([{**asdict(row), "share": row.share} for row in rows]))
        return
    for row in rows:
        typer.echo(
            f"{row.name:<12} {row.wrong:>4} wrong of {row.positions} ({row.share:.1%}; "
            f"{row.decidable} not lost, {row.undecided} undecided), {row.seconds:.1f} s"
        )
