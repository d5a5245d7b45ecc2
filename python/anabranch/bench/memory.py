"""Graph against tree: nodes and bytes at equal simulations and at equal evaluations.

The presets `mcgs` and `alphazero` differ in nothing but the graph, so the ratio is what sharing saves. These
are exact counts.
"""

from __future__ import annotations

from typing import Any

from anabranch.bench.workload import VARIANTS, Announce, Workload, positions, session

COUNTED = ("simulations", "evaluations", "nodes", "bytes")


def measure_memory(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row for each variant and each quantity held equal."""
    rows = []
    for variant in VARIANTS:
        for equal in ("simulations", "evaluations"):
            announce(
                f"{variant}, {workload.memory_simulations:,} {equal} on {workload.memory_positions} positions"
            )
            graph = _count(variant, "mcgs", equal, workload)
            tree = _count(variant, "alphazero", equal, workload)
            rows.append(
                {
                    "variant": variant,
                    "equal": equal,
                    "graph": graph,
                    "tree": tree,
                    "nodes_ratio": graph["nodes"] / tree["nodes"],
                    "bytes_ratio": graph["bytes"] / tree["bytes"],
                    "simulations_ratio": graph["simulations"] / tree["simulations"],
                    "evaluations_ratio": graph["evaluations"] / tree["evaluations"],
                }
            )
    return rows


def _count(variant: str, preset: str, equal: str, workload: Workload) -> dict[str, int]:
    sums = dict.fromkeys(COUNTED, 0)
    for position in positions(variant, workload.memory_positions):
        measured = session(variant, position, preset)
        if equal == "simulations":
            measured.run(workload.memory_simulations)
        else:
            # Stops at transpositions cost no evaluation; the cap ends a search that would only stop.
            measured.run(8 * workload.memory_simulations, workload.memory_simulations)
        statistics = measured.report(0)["statistics"]
        for name in COUNTED:
            sums[name] += statistics[name]
    return sums
