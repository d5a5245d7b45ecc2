"""What learning knows of a network and its data: which positions make a step, and the loss on them.

`learn` uses a `Learner` and does not know the game; `learn_grid`, `learn_rows` and `learn_chess`
have one each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anabranch.selfplay.records import PlaySamples

CANARIES = 8
"""Positions whose answers are stored in a network file."""


class StepLoss(NamedTuple):
    """The losses of a step."""

    policy: Tensor
    """Cross-entropy over legal moves, a mean over positions with a policy."""
    value: Tensor
    """Cross-entropy of win, draw and loss."""
    entropy: float
    """Of the policy targets."""


class Learner(ABC):
    """A network in training, with its optimiser."""

    network: Any
    optimiser: torch.optim.AdamW

    @abstractmethod
    def load_initial(self, path: Path) -> None:
        """Take the weights of a network file."""

    @abstractmethod
    def merged(self, window: PlaySamples) -> PlaySamples:
        """The window with equal positions merged, if the plan has them merged."""

    @abstractmethod
    def losses(self, data: PlaySamples, steps: int, source: np.random.Generator) -> Generator[StepLoss]:
        """The losses of each step, on positions drawn from a source of chance."""

    @abstractmethod
    def write(self, path: Path, about: dict[str, str], data: PlaySamples) -> None:
        """Write the network to a file, with some positions as canaries."""


def drawn_rows(
    weights: NDArray[Any], batch: int, steps: int, source: np.random.Generator
) -> NDArray[np.int64]:
    """[steps, batch]: rows drawn by weight, every row as often as its weight says, up to one more or less.

    >>> rows = drawn_rows(np.array([1.0, 3.0]), 4, 2, np.random.default_rng(1))
    >>> np.bincount(rows.reshape(-1)).tolist()
    [2, 6]
    """
    total = weights.astype(np.float64).sum()
    ends = np.cumsum(weights, dtype=np.float64) / total
    drawn = (np.arange(steps * batch) + source.random()) / (steps * batch)
    rows = np.minimum(np.searchsorted(ends, drawn, side="right"), len(weights) - 1)
    shuffled: NDArray[np.int64] = source.permutation(rows).reshape(steps, batch)
    return shuffled
