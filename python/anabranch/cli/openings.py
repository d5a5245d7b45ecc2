"""`anabranch openings`: makes, checks and converts openings.

This reads options and prints; `anabranch.match` does the work. Ctrl-C ends a command at once; `make`
continues when it is called again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import (
    Chess960Option,
    ChessVariantOption,
    JsonOption,
    RayOption,
    WorkersOption,
    argument,
    group,
    option,
)
from anabranch.match.balanced_openings import OpeningsSpec

openings = group("Make, check and convert openings for matches.")

OpeningsArgument: TypeAlias = Annotated[Path, argument("FILE", "EPD, FEN or PGN, plain, .gz, .bz2 or .zip.")]
JudgesOption: TypeAlias = Annotated[
    list[str] | None,
    option(
        "KIND:...",
        "A player as in 'anabranch match', with a limit; may be repeated.  [default: our engine with "
        "800 evaluations, and stockfish or fairy-stockfish with 20000 nodes]",
        "--judge",
    ),
]


@openings.command()
@with_settings
def make(
    *,
    out: Annotated[Path, option("FILE", "What to write: .epd, .fen or .pgn.", "--out", "-o")],
    given: Annotated[
        dict[str, Any],
        FromSettings(
            OpeningsSpec,
            skip=("variant", "chess960", "judges"),
            short={"positions": "-n"},
            metavars={"plies": "LEAST MOST", "temperature": "T", "bound": "CP"},
        ),
    ],
    variant: ChessVariantOption = "chess",
    chess960: Chess960Option = False,
    judge: JudgesOption = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
) -> None:
    """Make balanced openings.

    Plies are drawn from the start of the game; a position is kept when all judges find it balanced, and every
    position once. The same command continues after an interruption. The result does not depend on where it is
    made, or by how many processes.

    Example: anabranch openings make --variant crazyhouse --positions 500 --out my.epd
    """
    from anabranch.cli.output import plural, show_progress
    from anabranch.jobs.executor import executor_of
    from anabranch.match.balanced_openings import make_openings, with_titles
    from anabranch.match.player import read_player

    executor = executor_of(workers, ray)
    judges = tuple(read_player(text) for text in judge or default_judges(variant))
    spec = with_titles(OpeningsSpec(variant, judges=judges, chess960=chess960, **given))
    with show_progress("openings") as on_progress:
        made, tried = make_openings(spec, out, executor, on_progress)
    typer.echo(f"{plural(len(made), 'position')} of {plural(tried, 'candidate')} in {out}")


def default_judges(variant: str) -> list[str]:
    """Our engine, and one of another family."""
    other = "stockfish" if variant == "chess" else "fairy-stockfish"
    return [
        "anabranch=preset:default,evaluations=800",
        f"{other}=uci:{other},nodes=20000,Hash=16,Threads=1",
    ]


@openings.command()
def check(
    file: OpeningsArgument,
    variant: ChessVariantOption = "chess",
    chess960: Chess960Option = False,
    bound: Annotated[int, option("CP", "The most centipawns of a judge for either side.")] = 130,
    judge: JudgesOption = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check openings: every position legal, not over, and there once; with judges also balanced.

    The exit code is 0 if all is well, and 2 if not.

    Example: anabranch openings check my.epd --judge preset:default,evaluations=800
    """
    from anabranch.cli.output import plural, print_json
    from anabranch.errors import MatchError
    from anabranch.jobs.executor import executor_of
    from anabranch.match.balanced_openings import out_of_balance
    from anabranch.match.openings import read_openings, without_repeats
    from anabranch.match.player import read_player

    found = read_openings(file, variant, chess960)
    repeated = len(found) - len(without_repeats(found))
    if repeated and not as_json:
        raise MatchError(f"{repeated} of {plural(len(found), 'position')} in {file} are there more than once")
    judges = tuple(read_player(text) for text in judge or ())
    wrong = (
        out_of_balance(found, variant, chess960, judges, bound, executor_of(workers, ray)) if judges else []
    )
    if as_json:
        print_json(
            {
                "file": str(file),
                "variant": variant,
                "positions": len(found),
                "repeated": repeated,
                "judges": [judge.name for judge in judges],
                "bound": bound,
                "out_of_balance": [
                    {"fen": opening.fen, "name": opening.name, "judge": name, "score": score}
                    for opening, name, score in wrong
                ],
            }
        )
        if repeated or wrong:
            raise typer.Exit(2)
        return
    if wrong:
        opening, name, score = wrong[0]
        raise MatchError(
            f"{len(wrong)} of {plural(len(found), 'position')} are out of balance: for {opening.fen} {name} "
            f"says {score} centipawns"
        )
    typer.echo(f"{plural(len(found), 'position')}, each once{', all balanced' if judges else ''}")


@openings.command()
def convert(
    file: OpeningsArgument,
    out: Annotated[Path, argument("OUT", "What to write: .epd, .fen or .pgn.")],
    variant: ChessVariantOption = "chess",
    chess960: Chess960Option = False,
) -> None:
    """Write openings in another format, every position once.

    Example: anabranch openings convert book.pgn book.epd
    """
    from anabranch.cli.output import plural
    from anabranch.match.openings import read_openings, without_repeats, write_openings

    found = read_openings(file, variant, chess960)
    kept = without_repeats(found)
    write_openings(out, kept, variant, chess960)
    typer.echo(f"{plural(len(kept), 'position')}, {plural(len(found) - len(kept), 'repeated one')} left out")
