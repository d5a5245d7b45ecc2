"""How fast a network is: in its runtime alone, and inside a search, measured in turn in one run.

Both get the same size of batch. The runtime is asked again and again with one full batch of planes from
middlegames; the search goes on with the first of them. Many short rounds, so that whatever else the machine
does meets both. The ratio says what the search takes away.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.bench.positions import POSITIONS
from anabranch.engine import Engine
from anabranch.errors import LimitError
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.planes import encode

ROUNDS = (5, 100)
"""Times that both are measured: least and most."""
BATCHES = 40
"""Batches in one measurement."""


def measure_network(network: OnnxNetwork, batch_size: int = 16, seconds: float = 10.0) -> dict[str, Any]:
    """Evaluations per second of the runtime alone and in a search, and the ratio.

    Rates are medians over the rounds; the ratio is the median of the ratios of each round.
    """
    if not 1 <= batch_size <= 4096:
        raise LimitError(f"a batch has 1 to 4096 positions, not {batch_size}")
    if not 0.0 < seconds < 1e6:
        raise LimitError(f"seconds must be above 0, not {seconds}")
    positions = POSITIONS.get(network.variant, ("startpos",))
    planes = encode(positions, network.variant, network.planes).planes
    batch = np.ascontiguousarray(np.resize(planes, (batch_size, *planes.shape[1:])))
    counted = _Counted(network)
    engine = Engine(network.variant, evaluator=counted, batch_size=batch_size)
    engine.position = positions[0]
    engine.search(evaluations=BATCHES * batch_size, lines=0)  # the first batches of a graph are not full
    counted.batches = 0
    rounds = round(seconds / (2 * BATCHES * batch_size * _alone(network, batch)))
    alone, searching = [], []
    evaluations = 0
    for _ in range(min(max(rounds, ROUNDS[0]), ROUNDS[1])):
        alone.append(1.0 / _alone(network, batch))
        begun = time.perf_counter()
        result = engine.search(evaluations=BATCHES * batch_size, lines=0)
        searching.append(result.statistics.evaluations / (time.perf_counter() - begun))
        evaluations += result.statistics.evaluations
    return {
        "batch_size": batch_size,
        "threads": network.threads,
        "provider": network.provider,
        "evaluations_per_second_alone": median(alone),
        "evaluations_per_second_in_search": median(searching),
        "ratio": median(ours / theirs for ours, theirs in zip(searching, alone, strict=True)),
        "batches_full": evaluations / (counted.batches * batch_size),
        "rounds": len(alone),
        "evaluations_per_round": BATCHES * batch_size,
    }


class _Counted:
    """A network that counts its batches."""

    def __init__(self, network: OnnxNetwork) -> None:
        self.planes = network.planes
        self.batches = 0
        self._evaluate = network.evaluate

    def evaluate(self, planes: NDArray[np.float32]) -> Any:
        self.batches += 1
        return self._evaluate(planes)


def _alone(network: OnnxNetwork, batch: NDArray[np.float32]) -> float:
    """Seconds per evaluation."""
    begun = time.perf_counter()
    for _ in range(BATCHES):
        network.evaluate(batch)
    return (time.perf_counter() - begun) / (BATCHES * len(batch))
