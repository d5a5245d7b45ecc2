"""What the training loop knows of a network: how a batch is encoded for it, what it answers, what follows a
step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anabranch.train.recipe import Recipe

CONTEXTS = 1584
POLICY_PLANES = {"chess": 76, "crazyhouse": 81}
INPUT_PLANES = {"chess": 52, "crazyhouse": 64}


@dataclass(frozen=True, slots=True)
class Answer:
    """For a batch of B positions with M legal moves in all."""

    logits: Tensor
    """[M], of the legal moves, one position after the other."""
    value: Tensor
    """[B], in [-1, 1] for the side to move."""
    wdl: Tensor | None
    """[B, 3] logits of win, draw, loss, from networks that have them."""


Encoded = dict[str, Tensor]
"""Tensors by name; always with move_offsets [B + 1] and target [M]."""


class Network(nn.Module, ABC):
    """A network in training."""

    variant: str

    @abstractmethod
    def encode(
        self,
        fens: list[str],
        moves: list[list[str]],
        weights: list[list[float]],
        mirror: NDArray[np.bool_] | None,
        threads: int,
    ) -> Encoded:
        """What the network reads of positions, and their policy targets."""

    @abstractmethod
    def forward(self, batch: Encoded) -> Answer:
        """Answer an encoded batch."""

    def after_step(self) -> None:
        """What must hold after the optimiser changed the weights."""


def build_network(recipe: Recipe) -> Network:
    """The network of a recipe, with weights drawn from its seed."""
    torch.manual_seed(recipe.seed)
    if recipe.network == "sparse":
        from anabranch.train.sparse import SparseNetwork

        return SparseNetwork(recipe.variant, recipe.policy_width, recipe.value_width)
    if recipe.network == "rise":
        from anabranch.train.rise import Rise

        return Rise(recipe.variant, recipe.channels, recipe.blocks)
    from anabranch.train.resnet import ResNet

    return ResNet(recipe.variant, recipe.channels, recipe.blocks)


def tensors(arrays: dict[str, Any]) -> Encoded:
    """Arrays of the core as tensors that share their memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
