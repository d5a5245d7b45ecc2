"""`anabranch verify-proof`: whether a certificate proves what it claims.

The check is that of `anabranch.verify`; this prints its verdict.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.options import JsonOption


def verify_proof(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate (JSON lines).")],
    as_json: JsonOption = False,
) -> None:
    """Check the proof of a win or loss with the rules of python-chess, without the engine.

    Exit code 0: the proof holds. 1: it does not, or the file is damaged; one sentence says where. 2: the file
    cannot be read.

    Example: anabranch verify-proof mate.jsonl
    """
    from anabranch.cli.output import output, plural, print_json
    from anabranch.errors import ProofError
    from anabranch.verify import verify_proof as verify

    try:
        verdict = verify(file)
    except ProofError as error:
        if not as_json:
            raise
        print_json({"holds": False, "error": str(error)})
        raise typer.Exit(1) from None
    if as_json:
        print_json({"holds": True, **asdict(verdict), "moves": verdict.moves})
        return
    plies = "1 ply" if verdict.plies == 1 else f"{verdict.plies:,} plies"
    output().print(
        f"The proof holds: {verdict.result} in {plural(verdict.moves, 'move')} ({plies}), "
        f"{plural(verdict.positions, 'position')}."
    )
