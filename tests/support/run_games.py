r"""Play our UCI engine against Debian's Stockfish and Fairy-Stockfish, and judge all that it says.

python -m tests.support.run_games --games 1000 --at-once 4 --out games.jsonl
python -m tests.support.run_games --games 8 --initial 60000 --increment 500 --opponent-nodes 30000 \
    --out clocks.jsonl

Chess and crazyhouse take turns, unless --variant says which. Every finished game is a line of the file; run
again to go on. A summary is printed as JSON; the exit code is 1 where our engine forfeited, crashed, made an
illegal move or broke a rule of the protocol.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.support.games import OPPONENTS, Terms, play


def terms_of(options: argparse.Namespace) -> list[Terms]:
    """All requested games."""
    variants = [options.variant] if options.variant else list(OPPONENTS)
    return [
        Terms(
            variants[number % len(variants)],
            options.first + number // len(variants),
            initial=options.initial,
            increment=options.increment,
            overhead=options.overhead,
            hash=options.hash,
            opponent_nodes=options.opponent_nodes,
        )
        for number in range(options.games)
    ]


def run(terms: Terms) -> dict[str, Any]:
    """One game, for a pool."""
    return play(terms).as_json()


def summary(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures of all games."""
    scores = [record["score"] for record in records]
    return {
        "games": len(records),
        "results": {
            name: scores.count(score) for name, score in (("wins", 1.0), ("draws", 0.5), ("losses", 0.0))
        },
        "forfeits": sum(record["forfeit"] for record in records),
        "illegal": sum(record["illegal"] for record in records),
        "crashes": sum(record["crash"] for record in records),
        "faulty": sum(bool(record["faults"]) for record in records),
        "opponent_failed": sum(record["opponent_failed"] for record in records),
        "plies": sum(record["plies"] for record in records),
        "clock_after_40_moves": middle(
            record["clocks"][39] for record in records if len(record["clocks"]) > 39
        ),
        "clock_at_the_end": middle(record["clocks"][-1] for record in records if record["clocks"]),
        "smallest_clock_ms": round(min((record["smallest_clock"] for record in records), default=0.0), 1),
    }


def middle(clocks: Iterable[int]) -> float | None:
    """The median, where there is any."""
    found = list(clocks)
    return median(found) if found else None


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="number of the first game of each variant")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--variant", choices=list(OPPONENTS))
    parser.add_argument("--initial", type=int, default=1000, help="milliseconds on the clock")
    parser.add_argument("--increment", type=int, default=10, help="milliseconds for every move")
    parser.add_argument("--overhead", type=int, default=30, help="option Move Overhead")
    parser.add_argument("--hash", type=int, default=64)
    parser.add_argument("--opponent-nodes", type=int, help="per move, instead of its clock")
    parser.add_argument("--out", type=Path, required=True, help="file of records; an old one is gone on with")
    options = parser.parse_args()
    records = []
    if options.out.exists():
        records = [json.loads(line) for line in options.out.read_text(encoding="utf-8").splitlines()]
    known = {(record["variant"], record["number"]) for record in records}
    left = [terms for terms in terms_of(options) if (terms.variant, terms.number) not in known]
    if left:
        with (
            multiprocessing.get_context("spawn").Pool(options.at_once) as pool,
            open(options.out, "a", encoding="utf-8") as file,
        ):
            for record in pool.imap_unordered(run, left):
                records.append(record)
                file.write(json.dumps(record) + "\n")
                file.flush()
    figures = summary(records)
    print(json.dumps(figures))
    return int(any(figures[name] for name in ("forfeits", "illegal", "crashes", "faulty")))


if __name__ == "__main__":
    sys.exit(main())
