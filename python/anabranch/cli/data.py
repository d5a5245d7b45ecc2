"""`anabranch data`: training data made by a teacher or read from games, counted and checked.

Options become a job of `anabranch.data`. Ctrl-C ends a command at once, and nothing finished is lost: the
same command continues.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch import _core
from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import (
    ChessVariantOption,
    JsonOption,
    RayOption,
    WorkersOption,
    argument,
    group,
    option,
)
from anabranch.data.jobs import (
    TIMEOUT,
    ExpandJob,
    GenerateJob,
    LabelJob,
    PgnJob,
    SampleJob,
    check_variant,
)
from anabranch.jobs.executor import cores
from anabranch.optional import check_installed
from anabranch.settings import variants

data = group("Make, read, count and check training data (needs the extra data).")

OutOption: TypeAlias = Annotated[Path, option("FOLDER", "Where the shards go.", "--out", "-o")]
EngineOption: TypeAlias = Annotated[
    str | None,
    option("PROGRAM", "The teacher.  [default: stockfish, for variants fairy-stockfish]", "--engine"),
]
UciOption: TypeAlias = Annotated[
    list[str] | None, option("NAME=VALUE", "A UCI option; may be repeated.", "--uci")
]
TimeoutOption: TypeAlias = Annotated[
    float, option("SECONDS", "Silence after which the teacher counts as hanging.")
]
FoldersArgument: TypeAlias = Annotated[list[Path], argument("FOLDER...", "Folders with shards.")]


def _require() -> None:
    check_installed("training data", "data", "pyarrow")


@data.command()
@with_settings
def generate(
    *,
    given: Annotated[
        dict[str, Any],
        FromSettings(
            GenerateJob,
            skip=("variant", "engine", "options"),
            metavars={"opening_plies": "LEAST MOST"},
        ),
    ],
    out: OutOption,
    variant: ChessVariantOption = "chess",
    engine: EngineOption = None,
    uci: UciOption = None,
    timeout: TimeoutOption = TIMEOUT,
    workers: WorkersOption = None,
    ray: RayOption = None,
) -> None:
    """Let a UCI engine play against itself, and store its scores for every position.

    The same command continues where it was interrupted, and extends the data when it has more games. The data
    depends on the options and the engine, not on the number of workers or machines.

    Example: anabranch data generate --variant crazyhouse --games 1000 --out games
    """
    _require()
    from anabranch.cli.output import show_progress
    from anabranch.data.generate import open_generation
    from anabranch.data.shards import remove_repeated_games
    from anabranch.data.teacher import find_engine
    from anabranch.data.units import make_shards
    from anabranch.jobs.executor import executor_of

    executor = executor_of(workers, ray)
    job = GenerateJob(
        variant=variant, engine=engine or default_engine(variant), options=read_uci(uci), **given
    )
    job.check()
    find_engine(job.engine)
    with open_generation(job, out, timeout) as generation:
        with show_progress("games") as progress:
            made = make_shards(generation, executor, progress)
        typer.echo(f"{_counted(generation.total(), 'games', made.before)}; {made}")
        repeated = remove_repeated_games(out)
        if repeated:
            typer.echo(f"{repeated:,} games were played twice and count once")


@data.command()
@with_settings
def label(
    *,
    given: Annotated[
        dict[str, Any], FromSettings(LabelJob, skip=("variant", "engine", "sources", "options"))
    ],
    files: Annotated[
        list[Path], argument("FILE...", "Lists of FEN or EPD, PGN files, shards or folders of shards.")
    ],
    out: OutOption,
    variant: ChessVariantOption = "chess",
    engine: EngineOption = None,
    uci: UciOption = None,
    timeout: TimeoutOption = TIMEOUT,
    workers: WorkersOption = None,
    ray: RayOption = None,
) -> None:
    """Let a UCI engine judge positions that exist already.

    The same command continues where it was interrupted. Games keep their moves and results; positions of a
    list are games of their own, without either.

    Example: anabranch data label openings.epd --nodes 2000 --out labels
    """
    _require()
    from anabranch.cli.output import show_progress
    from anabranch.data.folder import holds_samples
    from anabranch.data.label import open_labelling
    from anabranch.data.teacher import find_engine
    from anabranch.data.units import make_shards
    from anabranch.errors import DataError
    from anabranch.jobs.executor import executor_of

    executor = executor_of(workers, ray)
    for path in files:
        if not path.exists():
            raise DataError(f"there is no file {path}")
    job = LabelJob(
        variant=variant,
        engine=engine or default_engine(variant),
        sources=tuple(str(path) for path in files),
        options=read_uci(uci),
        **given,
    )
    job.check()
    find_engine(job.engine)
    with open_labelling(job, out, notice, timeout) as labelling:
        with show_progress("positions" if job.block == 1 else "blocks") as progress:
            made = make_shards(labelling, executor, progress)
        before = min(made.before * job.block, labelling.positions())
        typer.echo(f"{_counted(labelling.positions(), 'positions', before)}; {made}")
        if not holds_samples(out):
            raise DataError("no position was labelled, because the teacher failed on every one")


def _counted(total: int, unit: str, before: int) -> str:
    return f"{total:,} {unit}" + (f", {before:,} of them before" if before else "")


@data.command()
@with_settings
def sample(
    *,
    given: Annotated[dict[str, Any], FromSettings(SampleJob, skip=("variant", "sources", "network"))],
    folders: Annotated[list[Path], argument("FOLDER...", "Folders with shards of games.")],
    out: OutOption,
    variant: ChessVariantOption = "chess",
    evaluator: Annotated[
        str, option("NAME|FILE", "The network of the policy, of the family sparse.", "--evaluator", "-e")
    ] = "network",
) -> None:
    """Draw positions from games for a teacher: some as they were played, some a few moves away from the game.

    Those away from the game are like the positions that a search looks at. The shards have no targets:
    `anabranch data label` takes them. The same command continues where it was interrupted.

    Example: anabranch data sample games --out positions
    """
    _require()
    from anabranch.cli.output import show_progress
    from anabranch.data.sample import sample_shards
    from anabranch.errors import DataError
    from anabranch.evaluators.resolve import resolve_evaluator

    check_variant(variant)
    network = resolve_evaluator(evaluator, variant)
    if not isinstance(network, _core.Network):
        raise DataError(f"{evaluator} is not a network of the family sparse")
    job = SampleJob(variant, tuple(str(folder) for folder in folders), network.metadata["sha256"], **given)
    with show_progress("shards") as progress:
        positions = sample_shards(job, network, out, progress)
    typer.echo(f"{positions:,} positions")


@data.command()
@with_settings
def expand(
    *,
    given: Annotated[dict[str, Any], FromSettings(ExpandJob, skip=("variant", "source"))],
    folder: Annotated[Path, argument("FOLDER", "A folder with shards of `data label`.")],
    out: OutOption,
    variant: ChessVariantOption = "chess",
) -> None:
    """Make positions of the moves that a teacher has scored, each with the score of its move.

    They are for the value of a network alone: they have no policy target. Labels with all moves (`data label
    --lines 256`) give some thirty such positions each. The same command continues where it was interrupted.

    Example: anabranch data expand labels --out children
    """
    _require()
    from anabranch.cli.output import show_progress
    from anabranch.data.expand import expand_shards

    with show_progress("shards") as progress:
        positions = expand_shards(ExpandJob(variant, str(folder), **given), out, progress)
    typer.echo(f"{positions:,} positions")


@data.command("from-selfplay")
def from_selfplay(
    *,
    folder: Annotated[Path, argument("FOLDER", "A folder of `selfplay run` or `selfplay play`.")],
    out: OutOption,
    variant: ChessVariantOption = "chess",
) -> None:
    """Make shards of the positions of self-play, to train on as on those of a teacher.

    The policy target is that of the run; the score is the value of the root, in centipawns. The same command
    continues where it was interrupted, and takes positions that are new.

    Example: anabranch data from-selfplay games --out shards
    """
    _require()
    from anabranch.cli.output import plural, show_progress
    from anabranch.selfplay.shards import import_selfplay

    with show_progress("files") as progress:
        positions = import_selfplay(variant, folder, out, progress)
    typer.echo(f"{plural(positions, 'position')} written")


@data.command("from-pgn")
@with_settings
def from_pgn(
    *,
    given: Annotated[dict[str, Any], FromSettings(PgnJob, skip=("variant", "unfinished"))],
    files: Annotated[
        list[Path], argument("FILE...", "PGN, plain or as .zst, .bz2, .gz; - is standard input.")
    ],
    out: OutOption,
    variant: Annotated[
        str,
        option("NAME", f"One of {', '.join(variants())}, or chess960.", "--variant", "--game", "-v"),
    ] = "chess",
    threads: Annotated[int | None, option("N", "[default: the cores here]", "--threads", "-t")] = None,
) -> None:
    """Read games from PGN files: lichess's monthly files, KingBase, any other.

    The move that was played is the policy target; the value comes from the result and from scores in comments
    where there are any: %eval, and those that engines give in matches. Games without a result, with illegal
    moves, or seen before are left out and counted. The same command continues where it was interrupted, and
    more files extend the data.

    Example: anabranch data from-pgn lichess_db_standard_rated_2017-01.pgn.zst --min-rating 2200 --out games
    """
    _require()
    from anabranch.cli.output import plural, show_progress
    from anabranch.data.pgn import import_pgn, omissions, other_variant
    from anabranch.errors import DataError

    job = PgnJob(variant, **given)
    with show_progress("MB") as progress:
        reached = import_pgn(job, files, out, progress, threads or cores())
    games, kept = reached.counts.get("games", 0), reached.counts.get("kept", 0)
    left_out = omissions(reached.counts)
    if reached.positions == 0:
        other = other_variant(files, job.variant)
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

    Example: anabranch data stats games
    """
    _require()
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
        bool, option(None, "Hold every position against the rules, not 1,000 of each shard.", "--all")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that shards are whole and what is in them is sound. Exit code 2 if something is wrong.

    Checksums, columns, positions, legality of moves, weights, values, games that occur twice, files left
    behind.

    Example: anabranch data check games --all
    """
    _require()
    from anabranch.cli.output import print_json, show_progress
    from anabranch.data.check import check_folders

    with show_progress("shards") as progress:
        shards, positions, faults = check_folders(folders, every_position, progress)
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
    """Print a sentence that is not a result."""
    typer.echo(sentence, err=True)
