"""How the cost of a simulation grows with the graph, against how its depth grows.

A longer trajectory costs more; beyond that a larger graph should cost nothing but cache misses. Small
searches are repeated until they take about as long as large ones.
"""

from __future__ import annotations

import time
from typing import Any

from anabranch.bench.workload import VARIANTS, Announce, Workload, positions, session

PRESET = "mcgs-combined"


def measure_growth(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row per variant: cost and depth at each size, and their growth from the first to the last."""
    rows = []
    for variant in VARIANTS:
        sizes = []
        for simulations in workload.growth_simulations:
            announce(f"{variant}, {simulations:,} simulations on {workload.growth_positions} positions")
            repeats = max(1, workload.growth_simulations[-1] // (4 * simulations))
            sizes.append(_measure(variant, simulations, workload.growth_positions, repeats))
        cost = sizes[-1]["microseconds"] / sizes[0]["microseconds"]
        depth = sizes[-1]["mean_depth"] / sizes[0]["mean_depth"]
        rows.append(
            {
                "variant": variant,
                "preset": PRESET,
                "sizes": sizes,
                "cost_growth": cost,
                "depth_growth": depth,
                "cost_over_depth": cost / depth,
            }
        )
    return rows


def _measure(variant: str, simulations: int, number: int, repeats: int) -> dict[str, Any]:
    seconds = depth = 0.0
    done = 0
    for position in positions(variant, number):
        for _ in range(repeats):
            measured = session(variant, position, PRESET)
            begun = time.perf_counter()
            measured.run(simulations)
            seconds += time.perf_counter() - begun
            statistics = measured.report(0, "off")["statistics"]
            done += statistics["simulations"]
            depth += statistics["simulations"] * statistics["mean_depth"]
    return {
        "simulations": simulations,
        "repeats": repeats,
        "microseconds": 1e6 * seconds / done,
        "mean_depth": depth / done,
    }
