"""Targets: what a teacher's centipawns mean for policy and value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

VALUE_SCALE = {"chess": 270.0, "crazyhouse": 700.0}
"""Centipawns s in value = tanh(cp / (2 s)), by variant: what `anabranch data stats` fits to results of games
of Stockfish and Fairy-Stockfish at 400 nodes."""
POLICY_TEMPERATURE = {"chess": 40.0, "crazyhouse": 80.0}
"""Centipawns T in weight ~ exp(cp / T), by variant."""
DEFAULT_SCALE = 400.0
DEFAULT_TEMPERATURE = 50.0


def value_of(score: int, scale: float) -> float:
    """The value in [-1, 1] of a score.

    >>> value_of(0, 200.0)
    0.0
    """
    return math.tanh(score / (2.0 * scale))


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
    sample["value"] = value_of(sample["score"], VALUE_SCALE.get(variant, DEFAULT_SCALE))
