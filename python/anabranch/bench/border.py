"""The cost of the border between Rust and Python: the Python loop with an evaluator that returns zeros,
against the Rust loop that fills the same planes.

Both make the same graph. They are measured in turn, and the best time of each counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.bench.workload import VARIANTS, Announce, Workload, positions, session
from anabranch.engine import Engine
from anabranch.evaluators import Planes

BATCH = 16
PRESET = "alphazero"
SETTINGS: dict[str, int | str] = {"batch_size": BATCH, "urgency": "reduction"}
"""With values of zero everywhere, other settings run into repetitions or stop at transpositions and leave
batches empty. With these, every simulation needs an evaluation."""
ROUNDS = 3
"""Times the repeats of the workload: runs are short, and the border is a small difference."""


class ZeroEvaluator:
    """Returns zeros for every batch."""

    def __init__(self, policy_size: int) -> None:
        self.values = np.zeros(BATCH, np.float32)
        self.logits = np.zeros((BATCH, policy_size), np.float32)

    def evaluate(self, planes: Planes) -> tuple[Planes, Planes]:
        """Zeros for a batch."""
        size = len(planes)
        return (self.values, self.logits) if size == BATCH else (self.values[:size], self.logits[:size])


def measure_border(workload: Workload, announce: Announce) -> list[dict[str, Any]]:
    """One row per variant."""
    rows = []
    for variant in VARIANTS:
        announce(
            f"{variant}, {workload.border_simulations:,} simulations on {workload.border_positions} positions"
        )
        python = rust = 0.0
        is_same = True
        for position in positions(variant, workload.border_positions):
            ours, theirs, same = _measure(variant, position, workload)
            python, rust, is_same = python + ours, rust + theirs, is_same and same
        simulations = workload.border_simulations * workload.border_positions
        rows.append(
            {
                "variant": variant,
                "preset": PRESET,
                **SETTINGS,
                "simulations_per_second_python": simulations / python,
                "simulations_per_second_rust": simulations / rust,
                "ratio": python / rust,
                "same_nodes": is_same,
            }
        )
    return rows


def _measure(variant: str, position: str, workload: Workload) -> tuple[float, float, bool]:
    """Best time of the Python loop and of the Rust loop in seconds, and whether the graphs agree."""
    in_rust = session(variant, position, PRESET, external=True, **SETTINGS)
    _, policy_size = in_rust.shape()
    engine = Engine(variant, PRESET, False, evaluator=ZeroEvaluator(policy_size), tablebases=None, **SETTINGS)
    engine.position = position
    python = rust = float("inf")
    nodes = set()
    for _ in range(ROUNDS * workload.repeats):
        engine.forget()
        result = engine.search(simulations=workload.border_simulations, lines=0)
        python = min(python, result.elapsed)
        rust = min(rust, in_rust.bench_planes(workload.border_simulations)["seconds"])
        nodes |= {result.statistics.nodes, in_rust.report(0)["statistics"]["nodes"]}
    return python, rust, len(nodes) == 1
