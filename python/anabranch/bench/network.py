"""A network of the core: evaluations per second of the network alone, and of a search with it.

The network alone is measured on positions from searches of ordinary games, in crazyhouse on those with 35 to
80 legal moves. Its share of a search is its time on the positions of that graph; the rest is rules, graph and
selection. Times are processor times on one thread, which other work on the machine disturbs little; the best
of several runs counts.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.bench.workload import VARIANTS, Announce, Workload, positions
from anabranch.networks.sparse import random_tensors, write_sparse
from anabranch.settings import Settings

NODES = 4000
"""Positions of each graph on which the network is measured."""
MOVES = {"crazyhouse": (35, 80), "chess": (1, 500)}
"""Fewest and most legal moves of positions on which the network alone is measured."""


def measure_network(
    path: str | os.PathLike[str] | None, workload: Workload, width: int | None, announce: Announce
) -> list[dict[str, Any]]:
    """One row for a file; without one, a row per variant for a random network of a width."""
    if path is not None:
        return [_measure(_core.Network(path), str(path), workload, announce)]
    rows = []
    for variant in VARIANTS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "random.safetensors"
            metadata = {"variant": variant, "step": "0", "licence": "CC0-1.0"}
            write_sparse(
                file, random_tensors(variant, width or 256, width or 256), metadata, positions(variant, 1)
            )
            rows.append(_measure(_core.Network(file), f"random, width {width}", workload, announce))
    return rows


def _measure(network: _core.Network, name: str, workload: Workload, announce: Announce) -> dict[str, Any]:
    variant = network.variant
    least, most = MOVES[variant]
    evaluations, searching, judging = 0, 0.0, 0.0
    ordinary: list[str] = []
    number = workload.network_positions
    for count, position in enumerate(positions(variant, number), 1):
        announce(
            f"{variant}, {name}, {workload.network_evaluations:,} evaluations, position {count} of {number}"
        )
        session = _core.Session(variant, False, asdict(Settings()), False, network)
        session.set_position(position, [])
        search = partial(session.run, evaluations=workload.network_evaluations)
        seconds = []
        for _ in range(workload.repeats):
            session.forget()
            seconds.append(_processor_time(search)[0])
        made = session.report(0, "off")["statistics"]["evaluations"]
        nodes, _ = session.export(None, 1, NODES)
        fens = [node["position"] for node in nodes if node["legal"] > 0]
        ordinary += [node["position"] for node in nodes if least <= node["legal"] <= most]
        evaluations += made
        searching += min(seconds)
        judging += made * _time_of_one(network, fens, workload)
    announce(f"{variant}, {name}, {len(ordinary):,} positions of ordinary games")
    _, _, moves, features = network.measure(ordinary, 0.0)
    return {
        "network": name,
        "variant": variant,
        "policy_width": network.widths[0],
        "value_width": network.widths[1],
        "positions": len(ordinary),
        "moves": moves,
        "features": features,
        "network_evaluations_per_second": 1.0 / _time_of_one(network, ordinary, workload),
        "search_evaluations": evaluations,
        "search_evaluations_per_second": evaluations / searching,
        "network_microseconds": 1e6 * judging / evaluations,
        "rest_microseconds": 1e6 * (searching - judging) / evaluations,
        "rest_over_network": (searching - judging) / judging,
    }


def _time_of_one(network: _core.Network, fens: list[str], workload: Workload) -> float:
    """Seconds of one evaluation."""
    best = float("inf")
    for _ in range(workload.repeats):
        begun = _processor_time(lambda: network.measure(fens, 0.0))[0]  # reading the positions
        seconds, found = _processor_time(lambda: network.measure(fens, workload.network_seconds))
        best = min(best, (seconds - begun) / found[0])
    return best


def _processor_time(act: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = act()
    return time.process_time() - begun, found
