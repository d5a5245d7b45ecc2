"""Networks for games on a grid, for training: a sparse one that the core evaluates, and a convolutional one.

Both take the same arrays and answer with logits of all places of the policy and of win, draw and loss.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anabranch.errors import TrainingError
from anabranch.networks.grid import GridInputs
from anabranch.train.bags import pair_products, sum_rows, transpose
from anabranch.train.network import NetworkOutput, RawSamples, Tensors
from anabranch.train.resnet import Block
from anabranch.train.sparse import (
    INPUT_LIMIT,
    INPUT_ONE,
    WEIGHT_LIMIT,
    WEIGHT_ONE,
    BucketedNetwork,
    Round,
    load_sparse,
)


class PlaneInputs(Protocol):
    """What a convolutional network reads and answers."""

    @property
    def game(self) -> str:
        """The game that it is for."""

    @property
    def planes(self) -> int:
        """Number of planes."""

    @property
    def height(self) -> int:
        """Rows of a plane."""

    @property
    def width(self) -> int:
        """Columns of a plane."""

    @property
    def area(self) -> int:
        """Number of cells."""

    @property
    def actions(self) -> int:
        """Size of the policy."""


class GridSparse(BucketedNetwork):
    """The sparse network: P units for policy, V for value, over the patterns of a game."""

    def __init__(self, inputs: GridInputs, policy_width: int, value_width: int) -> None:
        super().__init__()
        self.variant = inputs.game
        self.inputs_of_game = inputs
        self.policy_half, self.value_half = policy_width // 2, value_width // 2
        width = policy_width + value_width
        self.inputs = nn.Parameter(torch.randn(inputs.features, width) * 0.03)
        self.inputs_bias = nn.Parameter(torch.full((width,), 0.25))
        self.moves_weight = nn.Parameter(torch.randn(inputs.actions, self.policy_half) * 0.05)
        self.moves_bias = nn.Parameter(torch.zeros(inputs.actions))
        self.make_head(self.value_half)

    def encode(self, samples: RawSamples, threads: int) -> Tensors:
        """Not for positions of chess."""
        raise TypeError("a network of a game on a grid takes its cells, not samples of chess")

    def forward(self, batch: Tensors) -> NetworkOutput:
        """Not for positions of chess."""
        raise TypeError("a network of a game on a grid takes its cells, not samples of chess")

    def answer(self, cells: NDArray[np.uint8], constants: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Logits [B, A] of the policy and [B, 3] of win, draw and loss."""
        rows, offsets, bucket = self.inputs_of_game.encode(cells, constants)
        bags = transpose(rows, offsets, self.inputs_of_game.features)
        bias = Round.apply(self.inputs_bias, INPUT_ONE)
        sums = sum_rows(Round.apply(self.inputs, INPUT_ONE), bias, bags)
        for_policy, for_value = pair_products(sums, self.policy_half)
        logits = torch.addmm(self.moves_bias, for_policy, Round.apply(self.moves_weight, WEIGHT_ONE).T)
        return logits, self.value_head(for_value, torch.from_numpy(bucket))

    @torch.no_grad()
    def after_step(self) -> None:
        """Keep weights in the range of their integers."""
        self.inputs.clamp_(-INPUT_LIMIT, INPUT_LIMIT)
        self.moves_weight.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)
        self.hidden1.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)

    @torch.no_grad()
    def folded(self) -> dict[str, Tensor]:
        """The tensors of the file, in floats."""
        policy, value = self.columns()
        return {
            "policy.inputs.weight": self.inputs[:, policy],
            "policy.inputs.bias": self.inputs_bias[policy],
            "policy.moves.weight": self.moves_weight,
            "policy.moves.bias": self.moves_bias,
            "policy.contexts.weight": torch.zeros(1, self.policy_half),
            "policy.contexts.bias": torch.zeros(1),
            "value.inputs.weight": self.inputs[:, value],
            "value.inputs.bias": self.inputs_bias[value],
            **self.folded_head(),
        }

    @torch.no_grad()
    def take_moves(self, moves: Tensor, bias: Tensor, contexts: Tensor, contexts_bias: Tensor) -> None:
        """Take the tables of the policy, in floats; there is one context."""
        self.moves_weight.copy_(moves + contexts)
        self.moves_bias.copy_(bias + contexts_bias)

    def reads(self, patterns: NDArray[Any] | None) -> bool:
        """Whether these are the patterns that the network reads."""
        return patterns is not None and np.array_equal(patterns, self.inputs_of_game.patterns)


class GridConv(nn.Module):
    """The convolutional network: residual blocks, a policy over cells or over all places, and a value."""

    def __init__(self, inputs: PlaneInputs, channels: int, blocks: int) -> None:
        super().__init__()
        self.variant = inputs.game
        self.inputs_of_game = inputs
        self.stem = nn.Sequential(
            nn.Conv2d(inputs.planes, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()
        )
        self.trunk = nn.Sequential(*(Block(channels) for _ in range(blocks)))
        self.policy = nn.Sequential(nn.Conv2d(channels, 4, 1), nn.ReLU(), nn.Flatten())
        self.policy_out = nn.Linear(4 * inputs.area, inputs.actions)
        self.value = nn.Sequential(
            nn.Conv2d(channels, 4, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * inputs.area, 64), nn.ReLU()
        )
        self.value_out = nn.Linear(64, 3)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, 3] of win, draw and loss, and [B, A] of the policy, of planes [B, C, H, W]."""
        hidden = self.trunk(self.stem(planes))
        return self.value_out(self.value(hidden)), self.policy_out(self.policy(hidden))

    def answer(self, cells: NDArray[np.uint8], constants: NDArray[np.uint8]) -> tuple[Tensor, Tensor]:
        """Logits [B, A] of the policy and [B, 3] of win, draw and loss."""
        wdl, logits = self(torch.from_numpy(planes_of(self.inputs_of_game, cells, constants)))
        return logits, wdl

    def after_step(self) -> None:
        """Nothing to do."""


def planes_of(
    inputs: PlaneInputs, cells: NDArray[np.uint8], constants: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """The planes [B, C, H, W] of positions."""
    planes = np.empty((len(cells), inputs.planes, inputs.area), np.float32)
    planes[:, 0] = cells == 1
    planes[:, 1] = cells == 2
    planes[:, 2:] = constants[:, :, None]
    return planes.reshape(len(cells), inputs.planes, inputs.height, inputs.width)


GridNetwork = GridSparse | GridConv


def load_grid(network: GridNetwork, path: Path) -> None:
    """Take the weights of a network file of the sparse family."""
    if not isinstance(network, GridSparse):
        raise TrainingError("learning can begin from a .safetensors file, with a sparse network")
    load_sparse(network, path)


def build_grid(inputs: GridInputs, kind: str, seed: int, **sizes: Any) -> GridNetwork:
    """A network with weights drawn from a seed."""
    torch.manual_seed(seed)
    if kind == "sparse":
        return GridSparse(inputs, sizes["policy_width"], sizes["value_width"])
    return GridConv(inputs, sizes["channels"], sizes["blocks"])
