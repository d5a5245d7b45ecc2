"""Measure the analysis server: the openings of the package in one go, with one thread and with more.

Prints queries per second, and processor time per query, which a busy machine changes less. The speedup that
the processor time allows is the number of threads, divided by how much more time a query takes with them.

    python -m scripts.bench_serve --positions 1000 --evaluations 800 --threads 2
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

from anabranch.match.openings import default_openings


def measure(lines: bytes, threads: int) -> tuple[float, float, list[str]]:
    """Seconds on the clock, seconds of processor time, and the moves that were found, by id."""
    command = [sys.executable, "-m", "anabranch", "serve", "--stdio", "--threads", str(threads)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True)
    elapsed = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    answers = sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda one: int(one["id"]))
    return elapsed, used, [answer["best_move"] for answer in answers]


def main() -> None:
    """Measure one thread and several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--evaluations", type=int, default=800)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    limits = {"evaluations": given.evaluations}
    games = [(variant, one) for variant in ("chess", "crazyhouse") for one in default_openings(variant)]
    lines = "".join(
        json.dumps(
            {
                "id": str(number),
                "variant": variant,
                "position": opening.fen,
                "limits": limits,
            }
        )
        + "\n"
        for number, (variant, opening) in enumerate(games[: given.positions])
    ).encode()
    used: dict[int, float] = {}
    found = []
    for threads in (1, given.threads):
        elapsed, used[threads], moves = measure(lines, threads)
        found.append(moves)
        print(
            f"{threads} threads: {len(moves) / elapsed:.1f} queries/s, "
            f"{1000 * used[threads] / len(moves):.2f} ms of processor time per query"
        )
    print(f"same moves: {found[0] == found[1]}")
    print(f"speedup by processor time: {given.threads * used[1] / used[given.threads]:.2f}")


if __name__ == "__main__":
    main()
