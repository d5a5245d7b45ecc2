"""The speed of an ONNX network: in its runtime alone, and inside a search, measured in turn in one run.

Both use the same batch size. The runtime evaluates one full batch of planes from middlegames again and again;
the search starts at the first of them. There are many short rounds, and the best of each counts, because
other work on the machine can only slow them down. The ratio is the share of the speed that a search leaves.
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
from anabranch.networks.planes import encode

ROUNDS = (5, 100)
"""Times that both are measured: least and most."""
BATCHES = 40
"""Batches in one measurement."""


def measure_network(network: OnnxNetwork, batch_size: int = 16, seconds: float = 10.0) -> dict[str, Any]:
    """Evaluations per second of the runtime alone and in a search, and the ratio."""
    if not 1 <= batch_size <= 4096:
        raise LimitError(f"a batch has 1 to 4096 positions, not {batch_size}")
    if not 0.0 < seconds < 1e6:
        raise LimitError(f"seconds must be above 0, not {seconds}")
    positions = POSITIONS.get(network.variant, ("startpos",))
    planes = encode(positions, network.variant, network.file.metadata.inputs).planes
    batch = np.ascontiguousarray(np.resize(planes, (batch_size, *planes.shape[1:])))
    watched = _TimedNetwork(network)
    engine = Engine(network.variant, evaluator=watched, batch_size=batch_size)
    engine.position = positions[0]
    size = BATCHES * batch_size
    engine.search(evaluations=size, lines=0)  # the first batches of a graph are not full
    watched.forget()
    rounds = round(seconds / (2 * _time_alone(network, batch)))
    alone, searching = [], []
    evaluations = 0
    for _ in range(min(max(rounds, ROUNDS[0]), ROUNDS[1])):
        alone.append(size / _time_alone(network, batch))
        watched.end = None
        result = engine.search(evaluations=size, lines=0)
        searching.append(result.statistics.evaluations / result.elapsed)
        evaluations += result.statistics.evaluations
    return {
        "batch_size": batch_size,
        "threads": network.threads,
        "provider": network.provider,
        "evaluations_per_second_alone": max(alone),
        "evaluations_per_second_in_search": max(searching),
        "ratio": max(searching) / max(alone),
        "median_alone": median(alone),
        "median_in_search": median(searching),
        "gap_microseconds": 1e6 * median(watched.gaps) if watched.gaps else None,
        "batches_full": evaluations / (watched.batches * batch_size),
        "rounds": len(alone),
        "evaluations_per_round": size,
    }


class _TimedNetwork:
    """A network that counts its batches, and the idle seconds between them."""

    def __init__(self, network: OnnxNetwork) -> None:
        self.planes = network.planes
        self._evaluate = network.evaluate
        self.forget()

    def forget(self) -> None:
        self.batches = 0
        self.gaps: list[float] = []
        self.end: float | None = None

    def evaluate(self, planes: NDArray[np.float32]) -> Any:
        if self.end is not None:
            self.gaps.append(time.perf_counter() - self.end)
        self.batches += 1
        answer = self._evaluate(planes)
        self.end = time.perf_counter()
        return answer


def _time_alone(network: OnnxNetwork, batch: NDArray[np.float32]) -> float:
    """Seconds for a round."""
    begun = time.perf_counter()
    for _ in range(BATCHES):
        network.evaluate(batch)
    return time.perf_counter() - begun
