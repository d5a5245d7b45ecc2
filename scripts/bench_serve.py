"""Measure the analysis server: the openings of the package in one go, on one core and on several.

A server with one thread is held to one core, all of it: the searches, and reading and writing JSON. A server
with N threads is held to N cores. The time is that from the first query to the last answer; the start of the
program is not in it. Processor time per query is printed too, because a busy machine changes it less.

    python -m scripts.bench_serve --positions 1000 --evaluations 800 --threads 2
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from statistics import median
from threading import Thread
from typing import IO

from anabranch.match.openings import default_openings


def measure(queries: list[bytes], threads: int) -> tuple[float, float, list[str]]:
    """Seconds on the clock, seconds of processor time, and the moves that were found, by id."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:threads])  # the server inherits it
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [sys.executable, "-m", "anabranch", "serve", "--stdio", "--threads", str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        os.sched_setaffinity(0, cores)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"action": "status"}\n')
        process.stdin.flush()
        process.stdout.readline()  # it has started
        begun = time.monotonic()
        sender = Thread(target=_send, args=(queries, process.stdin))
        sender.start()
        answers = [process.stdout.readline() for _ in queries]
        elapsed = time.monotonic() - begun
        sender.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = sorted((json.loads(line) for line in answers), key=lambda one: int(one["id"]))
    return elapsed, used, [answer["best_move"] for answer in found]


def _send(queries: list[bytes], target: IO[bytes]) -> None:
    target.writelines(queries)
    target.close()


def main() -> None:
    """Measure one core and several."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--evaluations", type=int, default=800)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs of each, by turns; the median of the ratios counts"
    )
    given = parser.parse_args()
    limits = {"evaluations": given.evaluations}
    games = [(variant, one) for variant in ("chess", "crazyhouse") for one in default_openings(variant)]
    queries = [
        json.dumps({"id": str(number), "variant": variant, "position": opening.fen, "limits": limits})
        for number, (variant, opening) in enumerate(games[: given.positions])
    ]
    lines = [f"{query}\n".encode() for query in queries]
    ratios: list[float] = []
    moves: list[list[str]] = []
    for _ in range(given.repeat):
        times = []
        for threads in (1, given.threads):
            elapsed, used, found = measure(lines, threads)
            times.append(elapsed)
            moves.append(found)
            print(
                f"threads and cores {threads}: {elapsed:.2f} s, {len(found) / elapsed:.1f} queries/s, "
                f"{1000 * used / len(found):.2f} ms of processor time per query"
            )
        ratios.append(times[0] / times[1])
    print(f"same moves: {all(found == moves[0] for found in moves)}")
    print(f"speedup: {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
