"""`anabranch solve`: a forced win or loss of one position, with its line and a certificate.

The work is that of `Engine.solve`; this file is limits in, verdict out. Ctrl-C ends the work, not the
command.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.options import Chess960Option, JsonOption, VariantOption, position_text
from anabranch.engine import Engine
from anabranch.errors import PositionError

if TYPE_CHECKING:
    from anabranch.solution import Solution

SECONDS = 10.0
"""The limit where none is given."""


def solve(
    position: Annotated[
        str | None,
        typer.Argument(
            metavar="POSITION",
            help="FEN or startpos, either with 'moves ...'; needed without --moves.",
            show_default=False,
        ),
    ] = None,
    moves: Annotated[
        str | None, typer.Option(metavar="MOVES", help="Moves played from POSITION, UCI or SAN: 'e2e4 e5'.")
    ] = None,
    variant: VariantOption = "chess",
    chess960: Chess960Option = False,
    time: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help=f"Limit: time.  [default: {SECONDS:g}, without --positions]"),
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option("--positions", "-n", metavar="N", help="Limit: positions of the proof search."),
    ] = None,
    shortest: Annotated[
        bool, typer.Option("--shortest", help="Go on for the shortest line, within the same limits.")
    ] = False,
    checks_only: Annotated[
        bool, typer.Option("--checks-only", help="The attacker gives check with every move.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the proof, for 'anabranch verify-proof'."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Prove a forced win or loss of the side to move, by the rules alone.

    Exit code 0 means that the command ran, not that anything is proven. Ctrl-C ends it and shows what is
    known.

    Example: anabranch solve "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1" --certificate mate.jsonl
    """
    from anabranch.cli.output import output, print_json

    # First, because what else is missing depends on the game. The evaluator plays no part, and the cheapest
    # one is loaded fastest.
    engine = Engine(variant, chess960=chess960, evaluator="uniform")
    if position is None and moves is None:
        raise PositionError("solve needs a position (startpos is one), or --moves from the start of a game")
    if certificate is not None and not certificate.absolute().parent.is_dir():
        raise OSError(f"there is no directory {certificate.absolute().parent} to write the certificate in")
    if certificate is not None and certificate.is_dir():
        raise OSError(f"{certificate} is a directory")
    if time is positions is None:
        time = SECONDS
    engine.position = position_text(position, moves)
    solution, is_interrupted = _solve(
        engine, time=time, positions=positions, shortest=shortest, checks_only=checks_only
    )
    is_written = False
    if certificate is not None and solution.certificate is not None:
        solution.save_certificate(certificate)
        is_written = True
    if as_json:
        document = {**solution.to_dict(), "interrupted": is_interrupted}
        document["positions_per_second"] = solution.positions / max(solution.time, 1e-9)
        document["certificate_file"] = str(certificate) if is_written else None
        if is_written:
            del document["certificate"]  # it may be long
        print_json(document)
        return
    console = output()
    for line in _lines(solution, shortest, is_interrupted):
        console.print(line, soft_wrap=True)
    if certificate is not None:
        console.print(
            f"The certificate is in {certificate}." if is_written else "There is no certificate to write.",
            soft_wrap=True,
        )


def _solve(engine: Engine, **how: Any) -> tuple[Solution, bool]:
    """Solve to a limit or to Ctrl-C, and whether that came. A thread works: what it found is not lost."""
    with ThreadPoolExecutor(1, "anabranch-solve") as pool:
        work = pool.submit(engine.solve, **how)
        try:
            return work.result(), False
        except KeyboardInterrupt:
            while not work.done():
                engine.stop()  # again and again, because it may not have begun
                wait([work], 0.02)
            return work.result(), True


def _lines(solution: Solution, shortest: bool, is_interrupted: bool) -> list[str]:
    """What was found, for people."""
    from anabranch.cli.output import plural

    rate = f"{solution.positions / max(solution.time, 1e-9):,.0f} positions/s"
    if shortest and solution.result is not None:
        rate = "the shortest line included"
    effort = f"{plural(solution.positions, 'position')} in {solution.time:.2f} s ({rate})"
    lines = [f"{solution.root.variant}: {solution.position}"]
    if solution.result is None or solution.line is None:
        ended = "interrupted" if is_interrupted else "open"
        lines.append(f"{ended} after {plural(solution.positions, 'position')}: no win or loss is proven")
        if solution.no_win:
            lines.append("no forced win by checks" if solution.checks_only else "no forced win")
        return [*lines, effort]
    if solution.mate is None:
        proven = f"{solution.result}, proven; after this line the rest is certain"
    else:
        plies = "1 ply" if solution.plies == 1 else f"{solution.plies} plies"
        length = "no shorter line exists" if solution.is_shortest else "a shorter line may exist"
        proven = f"{solution.result} in {plural(abs(solution.mate), 'move')} ({plies}), proven; {length}"
    return [
        *lines,
        proven,
        solution.line.san,
        f"{effort}, {plural(solution.proof_positions, 'position')} in the proof",
    ]
