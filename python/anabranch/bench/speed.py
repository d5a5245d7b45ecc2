"""Speed of the search, and how far it is from its limit: the same trajectories with rules alone.

Search, replay by rules and replay by the evaluator are measured in turn on each position, so that a noisy
machine disturbs all of them alike, and more than once, so that the best time of each can count. Times are
sums over positions.
"""

from __future__ import annotations

from typing import Any

from anabranch.bench.workload import PRESETS, VARIANTS, Announce, Workload, positions, session

TIMED = ("search", "rules", "evaluator")
MEASURED = (*TIMED, "simulations", "evaluations", "edges")
COUNTED = ("nodes", "bytes", "reserved_bytes")


def measure_speed(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row for each variant, preset and number of simulations: one thread, evaluator `material`."""
    rows = []
    for simulations, number in workload.speed:
        for variant in VARIANTS:
            for preset in PRESETS:
                announce(f"{variant}, {preset}, {simulations:,} simulations on {number} positions")
                rows.append(_measure(variant, preset, simulations, number, workload.speed_repeats))
    return rows


def _measure(variant: str, preset: str, simulations: int, number: int, repeats: int) -> dict[str, Any]:
    sums = dict.fromkeys((*MEASURED, *COUNTED), 0.0)
    for position in positions(variant, number):
        measured = session(variant, position, preset)
        runs = [measured.bench_measure(simulations) for _ in range(repeats)]
        values = {**runs[0], **{name: min(run[name] for run in runs) for name in TIMED}}
        statistics = measured.report(0)["statistics"]
        for name in MEASURED:
            sums[name] += values[name]
        for name in COUNTED:
            sums[name] += statistics[name]
    seconds = sums["search"]
    return {
        "variant": variant,
        "preset": preset,
        "simulations": simulations,
        "positions": number,
        "seconds": seconds,
        "simulations_per_second": sums["simulations"] / seconds,
        "evaluations_per_second": sums["evaluations"] / seconds,
        "edges_per_second": sums["edges"] / seconds,
        "mean_depth": sums["edges"] / sums["simulations"],
        "bytes_per_node": sums["bytes"] / sums["nodes"],
        "reserved_bytes_per_node": sums["reserved_bytes"] / sums["nodes"],
        "share_walking": 1.0 - (sums["rules"] + sums["evaluator"]) / seconds,
        "share_rules": sums["rules"] / seconds,
        "share_evaluator": sums["evaluator"] / seconds,
        "search_over_rules": seconds / sums["rules"],
    }
