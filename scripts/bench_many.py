"""Measure `Engine.search_many`: the networks of the package on one core and on two, and an ONNX network
against its runtime alone.

One core and two are measured by turns, and the ratio is the median of those of neighbours: on a shared
machine the speed drifts. For ONNX the runtime has one thread; its own throughput is the best over several
sizes of batches, and the searches have 100 evaluations a position.

    python -m scripts.bench_many --repeat 5 --onnx crazyhouse-rise --onnx maia-1500
"""

from __future__ import annotations

import argparse
import os
import time
from statistics import median

import numpy as np

from anabranch import Engine
from anabranch.bench.positions import POSITIONS
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.evaluators.open import open_network
from anabranch.evaluators.resolve import network_file
from anabranch.match.openings import default_openings
from anabranch.networks.planes import encode

BATCHES = (16, 32, 64, 128, 256)


def seconds(engine: Engine, fens: list[str], evaluations: int, cores: int, batch: int = 64) -> float:
    """The time of all searches on some cores."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:cores])
    try:
        begun = time.perf_counter()
        for _ in engine.search_many(fens, evaluations=evaluations, lines=1, batch=batch):
            pass
        return time.perf_counter() - begun
    finally:
        os.sched_setaffinity(0, every)


def measure_bundled(variant: str, positions: int, evaluations: int, repeat: int) -> None:
    """One core against two, with the network of the package."""
    fens = [opening.fen for opening in default_openings(variant)][:positions]
    ratios, rates = [], []
    for _ in range(repeat):
        one = seconds(Engine(variant, threads=1), fens, evaluations, 1)
        two = seconds(Engine(variant, threads=2), fens, evaluations, 2)
        ratios.append(one / two)
        rates.append(len(fens) * evaluations / two)
    print(
        f"{variant}, {len(fens)} x {evaluations}: two cores {median(rates):,.0f} evaluations/s, "
        f"{median(ratios):.2f} times one ({min(ratios):.2f} to {max(ratios):.2f})"
    )


def measure_onnx(name: str, positions: int, repeat: int) -> None:
    """The runtime alone against searches that share its batches."""
    path = network_file(name)
    network = open_network(path, threads=1) if path is not None else None
    if not isinstance(network, OnnxNetwork):
        raise SystemExit(f"{name} is not an ONNX network")
    texts = POSITIONS.get(network.variant, ("startpos",))
    planes = encode(texts, network.variant, network.file.metadata.inputs).planes
    fens = [opening.fen for opening in default_openings(network.variant)][:positions]
    engine = Engine(network.variant, evaluator=network)
    ratios, best = [], 0
    for _ in range(repeat):
        alone = {}
        for size in BATCHES:
            batch = np.ascontiguousarray(np.resize(planes, (size, *planes.shape[1:])))
            network.evaluate(batch)
            begun = time.perf_counter()
            rounds = max(1, 2048 // size)
            for _ in range(rounds):
                network.evaluate(batch)
            alone[size] = rounds * size / (time.perf_counter() - begun)
        best = max(alone, key=alone.__getitem__)
        many = len(fens) * 100 / seconds(engine, fens, 100, len(os.sched_getaffinity(0)), best)
        ratios.append(many / alone[best])
        print(f"{name}: alone {alone[best]:,.0f} evaluations/s in batches of {best}, searches {many:,.0f}")
    print(f"{name}: {median(ratios):.2f} of the runtime's own throughput")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--evaluations", type=int, default=800)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--onnx", action="append", default=[])
    given = parser.parse_args()
    for variant in ("chess", "crazyhouse"):
        measure_bundled(variant, given.positions, given.evaluations, given.repeat)
    for name in given.onnx:
        measure_onnx(name, given.positions, given.repeat)


if __name__ == "__main__":
    main()
