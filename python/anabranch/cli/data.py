"""`anabranch data`: training data made by a teacher or read from games, looked at and checked.

Options in, progress and a summary out; the work is that of `anabranch.data`. Ctrl-C ends a command at once,
and nothing finished is lost: the same command goes on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from anabranch.cli.options import JsonOption, RayOption
from anabranch.jobs.executor import cores
from anabranch.settings import variants

data = typer.Typer(
    help="Make, read, count and check training data (needs the extra data).",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataVariant: TypeAlias = Annotated[
    str, typer.Option("--variant", "-v", metavar="NAME", help=f"One of {', '.join(variants())}.")
]
OutOption: TypeAlias = Annotated[
    Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the shards go.")
]
EngineOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="PROGRAM", help="The teacher.  [default: stockfish, for variants fairy-stockfish]"
    ),
]
NodesOption: TypeAlias = Annotated[int, typer.Option(metavar="N", help="Nodes of the teacher per position.")]
LinesOption: TypeAlias = Annotated[int, typer.Option(metavar="N", help="Moves it scores (MultiPV).")]
UciOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--uci", metavar="NAME=VALUE", help="A UCI option; may be repeated.")
]
WorkersOption: TypeAlias = Annotated[
    int | None, typer.Option("--workers", "-w", metavar="N", help="Processes.  [default: the cores here]")
]
PatienceOption: TypeAlias = Annotated[
    float, typer.Option(metavar="SECONDS", help="Silence after which the teacher counts as hanging.")
]
FoldersArgument: TypeAlias = Annotated[
    list[Path], typer.Argument(metavar="FOLDER...", help="Folders with shards.")
]


@data.command()
def generate(
    out: OutOption,
    games: Annotated[int, typer.Option(metavar="N", help="Games in all; more than before extend the job.")],
    variant: DataVariant = "chess",
    engine: EngineOption = None,
    nodes: NodesOption = 400,
    lines: LinesOption = 2,
    seed: Annotated[int, typer.Option(metavar="N", help="Of all that is left to chance.")] = 1,
    workers: WorkersOption = None,
    ray: RayOption = None,
    games_per_shard: Annotated[int, typer.Option(metavar="N", help="Games in a file.")] = 200,
    opening_plies: Annotated[
        tuple[int, int], typer.Option(metavar="LEAST MOST", help="Random moves at the beginning.")
    ] = (2, 10),
    playable: Annotated[int, typer.Option(metavar="CP", help="Worst opening that is played on.")] = 400,
    decided: Annotated[
        int | None,
        typer.Option(
            metavar="CP",
            help="Score that ends a game if it lasts three plies.  [default: chess 800, crazyhouse 1200]",
        ),
    ] = None,
    played_out: Annotated[
        float, typer.Option(metavar="SHARE", help="Of games that go on nevertheless.")
    ] = 0.1,
    weaker: Annotated[float, typer.Option(metavar="SHARE", help="Of moves drawn by their scores.")] = 0.1,
    random_moves: Annotated[float, typer.Option(metavar="SHARE", help="Of moves drawn from all.")] = 0.03,
    longest: Annotated[int, typer.Option(metavar="N", help="Plies after which a game is a draw.")] = 300,
    uci: UciOption = None,
    patience: PatienceOption = 20.0,
) -> None:
    """Let a UCI engine play against itself and keep what it says about every position.

    The same command goes on where it was interrupted, and extends the data when it asks for more games. The
    data depends on the options and the engine, not on the number of workers.
    """
    from anabranch.data.generate import GenerateJob, finished_games, missing_shards, open_generation
    from anabranch.data.shards import remove_repeated_games
    from anabranch.data.teacher import find_engine
    from anabranch.data.units import make_shards
    from anabranch.jobs.executor import executor_of

    executor = executor_of(workers, ray)
    job = GenerateJob(
        variant, engine or default_engine(variant), games, nodes, lines, seed, games_per_shard, opening_plies,
        playable, decided, played_out, weaker, random_moves, longest, read_uci(uci),
    )  # fmt: skip
    find_engine(job.engine)
    with open_generation(job, out, patience) as generation:
        missing = missing_shards(job, out)
        with show_progress("games", games, finished_games(job, out, missing)) as advance:
            make_shards(generation, missing, executor, advance)
        repeated = remove_repeated_games(out)
        if repeated:
            typer.echo(f"{repeated:,} games were played twice and count once")


@data.command()
def label(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Lists of FEN or EPD, PGN files, shards or folders of shards."
        ),
    ],
    out: OutOption,
    variant: DataVariant = "chess",
    engine: EngineOption = None,
    nodes: NodesOption = 400,
    lines: LinesOption = 2,
    workers: WorkersOption = None,
    ray: RayOption = None,
    positions_per_shard: Annotated[int, typer.Option(metavar="N", help="Positions in a file.")] = 5_000,
    uci: UciOption = None,
    patience: PatienceOption = 20.0,
) -> None:
    """Let a UCI engine judge positions that exist already.

    The same command goes on where it was interrupted. Games keep their moves and results; positions of a list
    are games of their own, without either.
    """
    from anabranch.data.folder import holds_samples
    from anabranch.data.label import LabelJob, finished_positions, missing_labels, open_labelling
    from anabranch.data.teacher import find_engine
    from anabranch.data.units import make_shards
    from anabranch.errors import DataError
    from anabranch.jobs.executor import executor_of

    executor = executor_of(workers, ray)
    for path in files:
        if not path.exists():
            raise DataError(f"there is no file {path}")
    sources = tuple(str(path) for path in files)
    job = LabelJob(
        variant, engine or default_engine(variant), sources, nodes, lines, positions_per_shard, read_uci(uci)
    )
    find_engine(job.engine)
    with open_labelling(job, out, notice, patience) as labelling:
        missing = missing_labels(out)
        done = finished_positions(labelling, missing)
        with show_progress("positions", labelling.positions, done) as advance:
            make_shards(labelling, missing, executor, advance)
        if not holds_samples(out):
            raise DataError("no position was labelled, because the teacher failed on every one")


@data.command("from-pgn")
def from_pgn(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="PGN, plain or as .zst, .bz2, .gz; - is standard input."),
    ],
    out: OutOption,
    variant: Annotated[
        str,
        typer.Option("--variant", "-v", metavar="NAME", help=f"One of {', '.join(variants())}, or chess960."),
    ] = "chess",
    min_rating: Annotated[int | None, typer.Option(metavar="ELO", help="Of both players.")] = None,
    min_time: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="Base time and 40 increments: 180 leaves out bullet. Games without a time control pass.",
        ),
    ] = None,
    max_time: Annotated[int | None, typer.Option(metavar="SECONDS", help="The same from above.")] = None,
    max_games: Annotated[int | None, typer.Option(metavar="N", help="Games after which to stop.")] = None,
    min_plies: Annotated[int, typer.Option(metavar="N", help="Length of a game, both sides' moves.")] = 10,
    skip_plies: Annotated[int, typer.Option(metavar="N", help="Positions to leave out at the start.")] = 0,
    bots: Annotated[bool, typer.Option("--bots", help="Also games of players with the title BOT.")] = False,
    abandoned: Annotated[
        bool, typer.Option("--abandoned", help="Also abandoned games and breaches of rules.")
    ] = False,
    evaluated: Annotated[
        bool, typer.Option("--evaluated", help="Only games with scores in their comments.")
    ] = False,
    positions_per_shard: Annotated[
        int, typer.Option(metavar="N", help="Positions in a file, about.")
    ] = 100_000,
    threads: Annotated[
        int | None, typer.Option("--threads", "-t", metavar="N", help="[default: the cores here]")
    ] = None,
) -> None:
    """Read games from PGN files: lichess's monthly files, KingBase, any other.

    The move that was played is the policy target; the value comes from the result and from scores in comments
    where there are any: %eval, and those that engines give in matches. Games without a result, with illegal
    moves, or seen before are left out and counted. The same command goes on where it was interrupted, and
    more files extend the data.
    """
    from anabranch.cli.output import plural
    from anabranch.data.pgn import PgnJob, Progress, import_pgn, omissions, other_variant
    from anabranch.errors import DataError

    job = PgnJob(
        variant, min_rating, min_time, max_time, min_plies, skip_plies, bots, abandoned, evaluated,
        max_games=max_games, positions_per_shard=positions_per_shard,
    )  # fmt: skip
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    begun = time.monotonic()
    with _bar("MB", sum(sizes) / 1e6) as update:

        def advance(progress: Progress) -> None:
            done = sum(sizes[: progress.file]) + progress.consumed
            games = progress.counts.get("games", 0)
            rate = games / max(time.monotonic() - begun, 1e-9)
            update(done / 1e6, f"{games:,} games, {progress.positions:,} positions, {rate:,.0f} games/s")

        reached = import_pgn(job, files, out, advance, threads or cores())
    games, kept = reached.counts.get("games", 0), reached.counts.get("kept", 0)
    left_out = omissions(reached.counts)
    if reached.positions == 0:
        other = other_variant(files, variant)
        hint = "" if other is None else f"; the games are of {other}, so give --variant {other}"
        why = f": {left_out}" if left_out else ""
        raise DataError(f"none of {plural(games, 'game')} was kept{why}{hint}")
    typer.echo(f"{plural(games, 'game')} read, {kept:,} kept with {plural(reached.positions, 'position')}")
    if left_out:
        typer.echo(f"left out: {left_out}")


@data.command()
def stats(folders: FoldersArgument, as_json: JsonOption = False) -> None:
    """Count games, positions, results and scores, and fit the value scale to results.

    Damaged shards are named and left out.
    """
    from anabranch.cli.output import output, print_json, table
    from anabranch.data.stats import collect

    document = collect(folders, lambda damage: notice(damage.reason))
    if as_json:
        print_json(document)
        return
    console = output()
    lengths, results = document["positions_per_game"], document["results"]
    rows = [
        ["shards", f"{document['shards']:,}"],
        ["games", f"{document['games']:,}"],
        ["positions", f"{document['positions']:,}"],
        *([f"  of {name}", f"{count:,}"] for name, count in document["variants"].items()),
        ["positions per game", f"{lengths['mean']:.1f} (most {lengths['longest']})"],
        ["results for who moves first", " ".join(f"{name} {count:,}" for name, count in results.items())],
        ["with a score", f"{document['scored']:,}"],
        ["undecided, below 600 cp", _percent(document["undecided"])],
        ["repeated positions", _percent(document["repeated_positions"])],
        ["legal moves", f"{document['legal_moves']:.1f}"],
        ["value scale s that fits results", _number(document["value_scale"])],
        ["  those not stopped as decided", _number(document["value_scale_of_games_played_out"])],
    ]  # fmt: skip
    console.print(table(None, ["", ">"], rows))
    if document["scored"]:
        cells = [
            [
                f"{cell['from']} to {cell['to']}" if cell["to"] else "mate",
                f"{cell['positions']:,}",
                _percent(cell["positions"] / document["scored"]),
                _percent(cell["points_of_the_better_side"]),
            ]
            for cell in document["scores"]
        ]
        console.print(table(None, ["score, cp", ">positions", ">share", ">points of the better side"], cells))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} cp"


@data.command()
def check(
    folders: FoldersArgument,
    every_position: Annotated[
        bool, typer.Option("--all", help="Hold every position against the rules, not 1,000 of each shard.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that shards are whole and what is in them is sound. Exit code 2 if something is wrong.

    Checksums, columns, positions, legality of moves, weights, values, games that occur twice, files left
    behind.
    """
    from anabranch.cli.output import print_json
    from anabranch.data.check import check_folders
    from anabranch.data.shards import find_shards

    shards = positions = 0

    with _bar("shards", sum(len(find_shards(folder)) for folder in folders)) as update:

        def advance(_path: Path, count: int) -> None:
            nonlocal shards, positions
            shards += 1
            positions += count
            update(shards, f"{positions:,} positions")

        faults = check_folders(folders, every_position, advance)
    if as_json:
        named = [{"path": str(fault.path), "reason": fault.reason} for fault in faults]
        print_json({"shards": shards, "positions": positions, "faults": named})
    else:
        for fault in faults:
            typer.echo(f"{fault.path} {fault.reason}")
        verdict = f"{len(faults)} faults" if faults else "all sound"
        typer.echo(f"{shards:,} shards with {positions:,} positions: {verdict}")
    if faults:
        raise typer.Exit(2)


def default_engine(variant: str) -> str:
    """The teacher where none is named."""
    return "stockfish" if variant == "chess" else "fairy-stockfish"


def read_uci(assignments: list[str] | None) -> dict[str, str]:
    """UCI options given as text.

    >>> read_uci(["Skill Level=3"])
    {'Skill Level': '3'}
    """
    from anabranch.errors import DataError

    options = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not (name.strip() and equals):
            raise DataError(f"a UCI option is given as name=value, not {assignment!r}")
        options[name.strip()] = value.strip()
    return options


def notice(sentence: str) -> None:
    """Say something that is not a result."""
    typer.echo(sentence, err=True)


Update: TypeAlias = Callable[[float, str], None]


@contextlib.contextmanager
def _bar(unit: str, total: float) -> Iterator[Update]:
    """A progress bar on stderr with some words, where that is a terminal; elsewhere a line a minute."""
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    from anabranch.cli.output import Amount, notices

    console = notices()
    bar = Progress(
        BarColumn(),
        Amount(unit),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    last = time.monotonic()
    with bar:
        task = bar.add_task(unit, total=total or None, words="")

        def update(done: float, words: str) -> None:
            nonlocal last
            bar.update(task, completed=done, words=words)
            if not console.is_terminal and time.monotonic() - last > 60:
                last = time.monotonic()
                notice(f"{done:,.0f} of {total:,.0f} {unit}, {words}")

        yield update


@contextlib.contextmanager
def show_progress(unit: str, total: int, done: int) -> Iterator[Callable[[int, int], None]]:
    """A bar for work of a teacher, and one line about it at the end; it hears of samples and failures."""
    begun = time.monotonic()
    units = samples = failures = 0

    def words() -> str:
        rate = samples / max(time.monotonic() - begun, 1e-9)
        return f"{samples:,} positions, {rate:,.0f} positions/s, {failures:,} dropped because of the teacher"

    with _bar(unit, total) as update:
        update(done, words())

        def advance(count: int, failed: int) -> None:
            nonlocal units, samples, failures
            units += 1
            samples += count
            failures += failed
            update(done + units, words())

        yield advance
    earlier = f", {done:,} of them before" if done else ""
    typer.echo(f"{total:,} {unit}{earlier}; {words()}")


__all__ = ["data"]
