"""What the training loop knows of a network: how a batch is encoded for it, what it answers, what follows a
step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """For a batch of B positions with M legal moves in all."""

    logits: Tensor
    """[M], of the legal moves, one position after the other."""
    value: Tensor
    """[B], in [-1, 1] for the side to move."""
    wdl: Tensor | None
    """[B, 3] logits of win, draw, loss, from networks that have them."""


Tensors = dict[str, Tensor]
"""Tensors by name; always with move_offsets [B + 1] and target [M]."""


class RawSamples(NamedTuple):
    """Positions with their policy targets, as the core takes them."""

    fens: list[str]
    moves: list[list[str]]
    weights: list[list[float]]
    mirror: NDArray[np.bool_] | None = None
    """Which are flipped left to right."""


class TrainableNetwork(nn.Module, ABC):
    """A network in training."""

    variant: str

    @abstractmethod
    def encode(self, samples: RawSamples, threads: int) -> Tensors:
        """What the network reads of positions, and their policy targets."""

    @abstractmethod
    def forward(self, batch: Tensors) -> NetworkOutput:
        """Answer an encoded batch."""

    def after_step(self) -> None:
        """What must hold after the optimiser changed the weights."""


def tensors(arrays: dict[str, Any]) -> Tensors:
    """Arrays of the core as tensors that share their memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
