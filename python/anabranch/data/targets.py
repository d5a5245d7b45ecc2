"""Targets: what a teacher's centipawns mean for policy and value.

The scores themselves are stored beside the targets, so that training may weigh them in another way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from anabranch.formats.scores import result_scale, value_at

POLICY_TEMPERATURE = {"chess": 40.0, "crazyhouse": 80.0}
"""Centipawns T in weight ~ exp(cp / T), by variant."""
DEFAULT_TEMPERATURE = 50.0


def weights_of(scores: Sequence[int], temperature: float) -> list[float]:
    """Weights of moves by their scores, sum 1.

    >>> weights_of([20, 20], 50.0)
    [0.5, 0.5]
    """
    top = max(scores)
    raw = [math.exp((score - top) / temperature) for score in scores]
    total = sum(raw)
    return [weight / total for weight in raw]


def set_targets(variant: str, sample: dict[str, Any]) -> None:
    """Give a sample the weights and the value that its scores mean."""
    sample["weights"] = weights_of(sample["scores"], POLICY_TEMPERATURE.get(variant, DEFAULT_TEMPERATURE))
    sample["value"] = value_at(sample["score"], result_scale(variant))
