"""`anabranch perft`: count move sequences, the usual proof of a rules implementation.

The core counts; this prints.
"""

from __future__ import annotations

import time
from typing import Annotated

from anabranch.cli.options import Chess960Option, JsonOption, VariantOption, argument, option


def perft(
    depth: Annotated[int, argument("DEPTH", "Length of the sequences in plies.")],
    position: Annotated[
        str, argument("POSITION", "FEN or startpos, either with 'moves ...'.  [default: startpos]")
    ] = "startpos",
    variant: VariantOption = "chess",
    chess960: Chess960Option = False,
    divide: Annotated[bool, option(None, "Show the count of every first move.", "--divide", "-d")] = False,
    as_json: JsonOption = False,
) -> None:
    """Count the legal move sequences of a length.

    Example: anabranch perft 4 --variant crazyhouse --divide
    """
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import output, print_json
    from anabranch.engine import Engine

    engine = Engine(variant, chess960=chess960)
    engine.position = position
    begun = time.perf_counter()
    counts = interruptible(lambda: engine.perft(depth))
    seconds = time.perf_counter() - begun
    nodes = sum(counts.values())
    if as_json:
        print_json(
            {
                "position": engine.position,
                "variant": engine.variant,
                "chess960": engine.chess960,
                "depth": depth,
                "nodes": nodes,
                "moves": counts,
                "seconds": seconds,
                "nodes_per_second": nodes / seconds,
            }
        )
        return
    console = output()
    if divide:
        for move, number in sorted(counts.items()):
            console.print(f"{move}: {number}")
    console.print(f"perft {depth}: {nodes:,} nodes, {seconds:.2f} s, {nodes / seconds:,.0f} nodes/s")
