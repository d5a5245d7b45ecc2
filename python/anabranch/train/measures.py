"""How good a network is on positions it was not trained on."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from anabranch.data.scale import UNDECIDED
from anabranch.train.batches import make_batch
from anabranch.train.loss import policy_loss, value_loss
from anabranch.train.network import TrainableNetwork
from anabranch.train.positions import Positions

_BATCH = 2048


@torch.no_grad()
def measure(
    network: TrainableNetwork, positions: Positions, value_scale: float, threads: int = 1
) -> dict[str, float]:
    """Metrics by name.

    `top1` and `top3`: how often the best move of the target is among the first of the network's; `value_mse`
    and `value_correlation` against the teacher's value, `undecided_*` where its score is within 600
    centipawns; `calibration` is the mean gap between expected and real score of games over ten bins (ECE).
    """
    was_training = network.training
    network.eval()
    sums = {"policy_loss": 0.0, "value_loss": 0.0, "top1": 0.0, "top3": 0.0}
    values = []
    for begin in range(0, len(positions), _BATCH):
        part = positions.take(np.arange(begin, min(begin + _BATCH, len(positions))))
        batch = make_batch(network, part, threads=threads)
        answer = network(batch.encoded)
        offsets, target = batch.encoded["move_offsets"], batch.encoded["target"]
        sums["policy_loss"] += float(policy_loss(answer.logits, target, offsets).sum())
        sums["value_loss"] += float(value_loss(answer, batch.wdl).sum())
        places = _places(answer.logits.numpy(), target.numpy(), offsets.numpy())
        sums["top1"] += int((places < 1).sum())
        sums["top3"] += int((places < 3).sum())
        values.append(answer.value.numpy().astype(np.float64))
    network.train(was_training)
    metrics = {name: total / len(positions) for name, total in sums.items()}
    return metrics | value_metrics(np.concatenate(values), positions.scores, positions.results, value_scale)


def value_metrics(
    values: NDArray[np.float64], scores: NDArray[np.float32], results: NDArray[np.float32], scale: float
) -> dict[str, float]:
    """Those of the value alone."""
    metrics = {}
    teacher = np.tanh(scores.astype(np.float64) / (2.0 * scale))
    for prefix, chosen in (("", ~np.isnan(scores)), ("undecided_", np.abs(scores) < UNDECIDED)):
        if chosen.sum() < 2:
            continue
        metrics[f"{prefix}value_mse"] = float(np.square(values[chosen] - teacher[chosen]).mean())
        if values[chosen].std() > 0.0 and teacher[chosen].std() > 0.0:
            metrics[f"{prefix}value_correlation"] = float(np.corrcoef(values[chosen], teacher[chosen])[0, 1])
    known = ~np.isnan(results)
    if known.any():
        expected, real = (values[known] + 1.0) / 2.0, (results[known] + 1.0) / 2.0
        bins = np.minimum((expected * 10).astype(int), 9)
        gaps = [abs(expected[bins == i].sum() - real[bins == i].sum()) for i in range(10)]
        metrics["calibration"] = float(sum(gaps) / known.sum())
    return metrics


def _places(
    logits: NDArray[np.float32], target: NDArray[np.float32], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each position how many moves have a higher logit than the best move of its target."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    best = np.lexsort((-target, owners))[offsets[:-1]]
    places: NDArray[np.int64] = np.add.reduceat(
        (logits > logits[best][owners]).astype(np.int64), offsets[:-1]
    )
    return places
