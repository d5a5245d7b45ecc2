"""Two threads against one, with an evaluator as costly as a network.

Both are measured in turn; the best time of each counts, because other work on the machine can only slow them
down. The graphs must be the same.
"""

from __future__ import annotations

import time
from typing import Any

from anabranch.bench.workload import VARIANTS, Announce, Workload, positions, session

COST_US = 7
"""Microseconds of an evaluation."""


def measure_threads(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row per variant."""
    rows = []
    for variant in VARIANTS:
        simulations = workload.threads_simulations
        announce(f"{variant}, {simulations:,} simulations on {workload.threads_positions} positions")
        totals = {1: 0.0, 2: 0.0}
        is_same = True
        for position in positions(variant, workload.threads_positions):
            best = {1: float("inf"), 2: float("inf")}
            nodes = set()
            for _ in range(workload.repeats):
                for threads in (1, 2):
                    seconds, number = _run(variant, position, threads, simulations)
                    best[threads] = min(best[threads], seconds)
                    nodes.add(number)
            is_same = is_same and len(nodes) == 1
            for threads, seconds in best.items():
                totals[threads] += seconds
        simulations *= workload.threads_positions
        rows.append(
            {
                "variant": variant,
                "evaluator": "hash",
                "cost_us": COST_US,
                "simulations_per_second_1": simulations / totals[1],
                "simulations_per_second_2": simulations / totals[2],
                "ratio": totals[1] / totals[2],
                "same_nodes": is_same,
            }
        )
    return rows


def _run(variant: str, position: str, threads: int, simulations: int) -> tuple[float, int]:
    measured = session(
        variant, position, "mcgs-combined", evaluator="hash", hash_cost_us=COST_US, threads=threads
    )
    begun = time.perf_counter()
    measured.run(simulations)
    seconds = time.perf_counter() - begun
    return seconds, measured.report(0)["statistics"]["nodes"]
