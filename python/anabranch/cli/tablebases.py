"""`anabranch tablebases`: fetch the small tables, check tables, probe a position.

`anabranch.formats.tablebases` and the core do the work; this file prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.options import ChessVariantOption, JsonOption, argument, group, option

tablebases = group("Syzygy tablebases: fetch the small ones, check them, probe a position.")
WORDS = {2: "win", 1: "cursed win", 0: "draw", -1: "blessed loss", -2: "loss"}


@tablebases.command()
def fetch(
    to: Annotated[
        Path | None, option("DIR", "Target directory.  [default: your data directory]", "--to")
    ] = None,
    archive: Annotated[
        Path | None, option("FILE", "The source package, if you have it already.", "--archive")
    ] = None,
) -> None:
    """Download the tables of three and four men (4 MB), from the source package of 'chess' on PyPI.

    Sound files are kept; an interrupted fetch can be repeated.

    Example: anabranch tablebases fetch --to ~/syzygy
    """
    from anabranch.cli.output import output, plural
    from anabranch.formats.tablebases import default_directory
    from anabranch.formats.tablebases import fetch as fetch_tables

    directory = default_directory() if to is None else to
    count = fetch_tables(directory, archive)
    done = f"{plural(count, 'file')} fetched" if count else "all tables of three and four men are there"
    output().print(f"{directory}: {done}", soft_wrap=True)


@tablebases.command()
def check(
    directories: Annotated[list[Path], argument("DIR...", "Directories of tables.")],
    as_json: JsonOption = False,
) -> None:
    """Check every byte of the tables in directories.

    The exit code is 0 if there are tables and all are sound, and 2 if not.

    Example: anabranch tablebases check ~/syzygy
    """
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import output, plural, print_json
    from anabranch.formats.tablebases import open_tablebases

    tables = interruptible(lambda: open_tablebases(directories, whole=True))
    men = {variant: tables.men_of(variant) for variant in ("chess", "atomic", "antichess")}
    men = {variant: number for variant, number in men.items() if number}
    if as_json:
        print_json({"men": men, "files": tables.files, "problems": tables.problems})
    else:
        show = output()
        for variant, number in men.items():
            show.print(f"{variant}: up to {number} men")
        show.print(plural(len(tables.files), "sound file"))
        for problem in tables.problems:
            show.print(problem, soft_wrap=True)
    if tables.problems or not tables.files:
        raise typer.Exit(2)


@tablebases.command()
def probe(
    fen: Annotated[str, argument("FEN", "The position, in quotes.")],
    path: Annotated[
        list[str] | None, option("DIR", "Directories of tables.  [default: your data directory]", "--path")
    ] = None,
    variant: ChessVariantOption = "chess",
    as_json: JsonOption = False,
) -> None:
    """Print the result of a position by the tables, as if its clock stood at 0.

    Example: anabranch tablebases probe "8/8/8/8/8/4k3/8/R3K3 w - - 0 1" --path ~/syzygy
    """
    from anabranch.cli.output import notices, output, print_json
    from anabranch.errors import TablebaseError
    from anabranch.formats.tablebases import default_directory, open_tablebases, read_paths

    directories = [part for given in path or [str(default_directory())] for part in read_paths(given)]
    tables = open_tablebases(directories)
    if not tables.files:
        other = "" if path else ", and --path names another directory"
        raise TablebaseError(
            f"there are no sound tables in {', '.join(directories)}; 'anabranch tablebases fetch' gets the "
            f"small ones{other}"
        )
    wdl, dtz = tables.probe_wdl(fen, variant), tables.probe_dtz(fen, variant)
    if as_json:
        print_json({"fen": fen, "wdl": wdl, "dtz": dtz, "problems": tables.problems})
        return
    for problem in tables.problems:
        notices().print(problem, soft_wrap=True)
    if wdl is None:
        raise TablebaseError(f"the tables do not know {fen!r}")
    distance = "" if not dtz else f", {abs(dtz)} plies to the next capture, pawn move or mate"
    output().print(f"{WORDS[wdl]}{distance}", soft_wrap=True)
