"""Networks for games of rows, for training: over the features that the game computes, `[B, C, H, W]`.

Two kinds, as for games on a grid: a convolutional one, and a shallow one that reads all features at once.
Both become ONNX files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from anabranch.named_games import full_name
from anabranch.rows import RowsAdapter
from anabranch.train.grid import GridConv


@dataclass(frozen=True, slots=True)
class RowsInputs:
    """What a network of a game of rows reads and answers."""

    game: str
    planes: int
    height: int
    width: int
    actions: int

    @property
    def area(self) -> int:
        """Number of cells."""
        return self.height * self.width


def inputs_of_rows(adapter: RowsAdapter) -> RowsInputs:
    """The inputs of a game."""
    return RowsInputs(full_name(adapter), *adapter.plane_shape, len(adapter.texts))


class RowsSparse(nn.Module):
    """The shallow network: P units for policy, V for value over all features, multiplied in pairs."""

    def __init__(self, inputs: RowsInputs, policy_width: int, value_width: int) -> None:
        super().__init__()
        self.variant = inputs.game
        self.inputs_of_game = inputs
        self.halves = [policy_width // 2, value_width // 2]
        features = inputs.planes * inputs.area
        self.scale = nn.BatchNorm1d(features, affine=False)
        self.accumulators = nn.Linear(features, policy_width + value_width)
        self.policy = nn.Linear(self.halves[0], inputs.actions)
        self.value = nn.Sequential(nn.Linear(self.halves[1], 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, 3] of win, draw and loss, and [B, A] of the policy."""
        units = self.accumulators(self.scale(planes.flatten(1))).clamp(0.0, 1.0)
        first, second = units.chunk(2, 1)
        for_policy, for_value = (first * second).split(self.halves, 1)
        return self.value(for_value), self.policy(for_policy)

    def after_step(self) -> None:
        """Nothing to do."""


def build_rows(inputs: RowsInputs, kind: str, seed: int, **sizes: Any) -> RowsSparse | GridConv:
    """A network with weights drawn from a seed."""
    torch.manual_seed(seed)
    if kind == "sparse":
        return RowsSparse(inputs, sizes["policy_width"], sizes["value_width"])
    return GridConv(inputs, sizes["channels"], sizes["blocks"])
