"""One thread and two, with the networks of the package: evaluations per second, where the time goes, and what
more cores would give.

Both are measured in turn; the best time of each counts, because other work on the machine can only slow them
down. The graphs must be the same. The phases are those of the search's own thread. What only it can do is the
serial share. The speed-up of more cores is computed from the phases, not measured, in two ways: as if all
cores waited for serial work (Amdahl), and with the other batch in flight evaluated meanwhile, as it is. In
the second case a search takes at least its serial work and its part of the twigs, and its part of everything.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from anabranch import _core
from anabranch.bench.workload import VARIANTS, Announce, Workload, positions
from anabranch.defaults import resolve
from anabranch.networks.shipped import bundled_network

THREADS = (1, 2)
CORES = (4, 8, 16, 64)
SHARED = ("twigs", "evaluate")
"""Phases that all threads share."""


def measure_threads(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row per variant and number of threads."""
    rows = []
    for variant in VARIANTS:
        evaluations, number = workload.threads_evaluations, workload.threads_positions
        announce(f"{variant}, {evaluations:,} evaluations on {number} positions")
        sums: dict[int, dict[str, float]] = {threads: {} for threads in THREADS}
        is_same = True
        for position in positions(variant, number):
            best, nodes = _measure(variant, position, workload)
            is_same = is_same and len(nodes) == 1
            for threads, phases in best.items():
                for name, seconds in phases.items():
                    sums[threads][name] = sums[threads].get(name, 0.0) + seconds
        rows += [_row(variant, threads, sums, evaluations * number, is_same) for threads in THREADS]
    return rows


def _measure(variant: str, position: str, workload: Workload) -> tuple[dict[int, dict[str, float]], set[int]]:
    """The phases of the best run with each number of threads, and the numbers of nodes that were found."""
    best: dict[int, dict[str, float]] = {}
    nodes = set()
    for _ in range(workload.repeats):
        for threads in THREADS:
            settings = resolve("default", variant, None, {"threads": threads})
            measured = _core.Session(variant, False, asdict(settings), False, bundled_network(variant))
            measured.set_position(position, [])
            phases = measured.bench_phases(workload.threads_evaluations)
            nodes.add(measured.report(0)["statistics"]["nodes"])
            if threads not in best or phases["seconds"] < best[threads]["seconds"]:
                best[threads] = phases
    return best, nodes


def _row(
    variant: str, threads: int, sums: dict[int, dict[str, float]], evaluations: int, is_same: bool
) -> dict[str, Any]:
    phases = sums[threads]
    seconds = phases["seconds"]
    alone = phases["collect"] - phases["trunk"] - phases["twigs"] - phases["commit"]
    known = {name: phases[name] for name in ("trunk", "twigs", "commit", "evaluate", "apply")}
    shares = {f"share_{name}": part / seconds for name, part in {**known, "one_by_one": alone}.items()}
    serial = 1.0 - sum(phases[name] for name in SHARED) / seconds
    twigs = phases["twigs"] / seconds
    waiting = {f"{cores} cores": 1.0 / (serial + (1.0 - serial) / cores) for cores in CORES}
    overlapping = {f"{cores} cores": 1.0 / max(1.0 / cores, serial + twigs / cores) for cores in CORES}
    return {
        "variant": variant,
        "threads": threads,
        "evaluations_per_second": evaluations / seconds,
        "against_one_thread": sums[1]["seconds"] / seconds,
        **shares,
        "serial_share": serial if threads == 1 else None,
        "computed_speedup": waiting if threads == 1 else None,
        "computed_speedup_overlapping": overlapping if threads == 1 else None,
        "same_nodes": is_same,
    }
