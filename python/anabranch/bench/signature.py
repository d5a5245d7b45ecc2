"""The signature: one number that depends on every decision of the search and on nothing else.

Searches of fixed size on fixed positions are counted, and their roots and most visited edges mixed in. It is
the same on every build, machine and number of threads; a change of it is a change of the search.
"""

from __future__ import annotations

import hashlib
from typing import Any

from anabranch.bench.workload import PRESETS, VARIANTS, Announce, Workload, positions, session

SIMULATIONS = 20_000
POSITIONS = 3
SEARCHES = (*PRESETS, "default")
"""The presets that are searched: those of the measurements, and the one that users get."""
NODES = 300
"""Nodes of each graph whose edges are mixed in."""
COUNTED = (
    "simulations",
    "evaluations",
    "nodes",
    "edges",
    "transposition_links",
    "corrections",
    "stops",
    "explorations",
    "solved_nodes",
)


def measure_signature(workload: Workload, announce: Announce) -> dict[str, Any]:
    """The signature with one thread and with two, the same in every workload."""
    made = {}
    for threads in (1, 2):
        announce(f"{threads} {'thread' if threads == 1 else 'threads'}")
        made[threads] = signature(threads)
    return {
        "signature": made[1],
        "signature_2_threads": made[2],
        "equal": made[1] == made[2],
        "simulations": SIMULATIONS,
        "positions": POSITIONS,
    }


def signature(threads: int = 1, **changes: int | float | str) -> int:
    """The number itself; with changed settings, another."""
    digest = hashlib.blake2b(digest_size=4)
    for variant in VARIANTS:
        for preset in SEARCHES:
            for position in positions(variant, POSITIONS):
                searched = session(variant, position, preset, external=False, threads=threads, **changes)
                searched.run(SIMULATIONS)
                report = searched.report(1)
                words = [report["best_move"], *(str(report["statistics"][name]) for name in COUNTED)]
                words += [f"{row['move']} {row['visits']}" for row in report["moves"]]
                _, edges = searched.export(None, 1, NODES)
                words += [f"{edge['source']} {edge['move']} {edge['visits']}" for edge in edges]
                digest.update("\n".join(words).encode())
    return int.from_bytes(digest.digest())
