"""The sparse network in floats, for training: docs/networks.md with 1.0 for 128, 64 or 16,384.

Both accumulators stand in one table, columns: first halves of policy and value, then their second halves, so
that one sum and one product serve both. Two helpers share what is alike while training and are folded into
the tables at export: one row for a piece on a square whatever attacks it, and one for the target and one for
the origin of a move. Weights are rounded to what the file can hold in every forward pass, so the file gives
the numbers of the network that was trained.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.functional import embedding

from anabranch import _core
from anabranch._core import CONTEXTS, FEATURES
from anabranch.errors import TrainingError
from anabranch.networks.planes import shape_of
from anabranch.networks.sparse import open_sparse, shapes
from anabranch.train.bags import Bags, dot_rows, pair_products, sum_rows, transpose
from anabranch.train.network import NetworkOutput, RawSamples, Tensors, TrainableNetwork, tensors

PIECES = 3072
BUCKETS = 8
HIDDEN1 = 16
HIDDEN2 = 32
INPUT_ONE = 128.0
WEIGHT_ONE = 64.0
INPUT_LIMIT = 127 / INPUT_ONE
WEIGHT_LIMIT = 127 / WEIGHT_ONE
NARROWEST = 32
"""Units that an accumulator of a file has at least."""


class BucketedNetwork(TrainableNetwork):
    """A network whose value has a head for each bucket, beside a policy over two accumulators."""

    policy_half: int
    value_half: int
    inputs: nn.Parameter
    inputs_bias: nn.Parameter

    def make_head(self, value_half: int) -> None:
        """Make the layers of the value after the accumulator."""
        self.hidden1 = nn.Parameter(torch.randn(BUCKETS, HIDDEN1, value_half) * max(value_half, 1) ** -0.5)
        self.hidden1_bias = nn.Parameter(torch.full((BUCKETS, HIDDEN1), 0.4))
        self.hidden2 = nn.Parameter(torch.randn(BUCKETS, HIDDEN2, HIDDEN1) * HIDDEN1**-0.5)
        self.hidden2_bias = nn.Parameter(torch.full((BUCKETS, HIDDEN2), 0.4))
        self.output = nn.Parameter(torch.randn(BUCKETS, 3, HIDDEN2) * HIDDEN2**-0.5)
        self.output_bias = nn.Parameter(torch.zeros(BUCKETS, 3))

    def value_head(self, hidden: Tensor, bucket: Tensor) -> Tensor:
        """[B, 3] logits. All buckets are computed and one is taken: cheaper than gathering weights."""
        for weight, bias in (
            (Round.apply(self.hidden1, WEIGHT_ONE), self.hidden1_bias),
            (self.hidden2, self.hidden2_bias),
            (self.output, self.output_bias),
        ):
            units = weight.shape[1]
            every = torch.addmm(bias.view(-1), hidden, weight.view(BUCKETS * units, -1).T)
            index = bucket.view(-1, 1, 1).expand(-1, 1, units)
            hidden = every.view(-1, BUCKETS, units).gather(1, index).squeeze(1)
            if weight is not self.output:
                hidden = hidden.clamp(0.0, 1.0).square()
        return hidden

    def columns(self) -> tuple[list[int], list[int]]:
        """The columns of the accumulators that are the policy's, and the value's."""
        p, half = self.policy_half, self.policy_half + self.value_half
        return [*range(p), *range(half, half + p)], [*range(p, half), *range(half + p, 2 * half)]

    @abstractmethod
    def folded(self) -> dict[str, Tensor]:
        """The tensors of the file, in floats."""

    def reads(self, patterns: NDArray[Any] | None) -> bool:
        """Whether these are the patterns of cells that the network reads; that of chess reads none."""
        return patterns is None

    @abstractmethod
    def take_moves(self, moves: Tensor, bias: Tensor, contexts: Tensor, contexts_bias: Tensor) -> None:
        """Take the tables of the policy, in floats."""

    @torch.no_grad()
    def unfold(self, file: Mapping[str, NDArray[Any]]) -> None:
        """Take the tensors of a file, of the halves that there are; what is shared in training begins at
        zero.
        """

        def floats(name: str, one: float = 1.0) -> Tensor:
            return torch.from_numpy(file[name].astype(np.float32) / np.float32(one))

        for name, columns in zip(("policy", "value"), self.columns(), strict=True):
            if columns:
                self.inputs[:, columns] = floats(f"{name}.inputs.weight", INPUT_ONE)
                self.inputs_bias[columns] = floats(f"{name}.inputs.bias", INPUT_ONE)
        if self.policy_half:
            tables = [floats(f"policy.{name}.weight", WEIGHT_ONE) for name in ("moves", "contexts")]
            biases = [floats(f"policy.{name}.bias") for name in ("moves", "contexts")]
            self.take_moves(tables[0], biases[0], tables[1], biases[1])
        if self.value_half:
            for name, parameter in self.folded_head().items():
                parameter.copy_(floats(name, WEIGHT_ONE if name == "value.hidden1.weight" else 1.0))

    def folded_head(self) -> dict[str, Tensor]:
        """The tensors of the heads, in floats."""
        return {
            "value.hidden1.weight": self.hidden1,
            "value.hidden1.bias": self.hidden1_bias,
            "value.hidden2.weight": self.hidden2,
            "value.hidden2.bias": self.hidden2_bias,
            "value.output.weight": self.output,
            "value.output.bias": self.output_bias,
        }


class SparseNetwork(BucketedNetwork):
    """P units for policy, V for value. A half of width 0 costs nothing and answers with zeros."""

    def __init__(self, variant: str, policy_width: int, value_width: int) -> None:
        super().__init__()
        self.variant = variant
        self.moves = shape_of(variant)[1]
        self.policy_half, self.value_half = policy_width // 2, value_width // 2
        width = policy_width + value_width
        targets, origins = move_squares(variant)
        self.register_buffer("targets", torch.from_numpy(targets), persistent=False)
        self.register_buffer("origins", torch.from_numpy(origins), persistent=False)
        self.inputs = nn.Parameter(torch.randn(FEATURES, width) * 0.04)
        self.inputs_shared = nn.Parameter(torch.zeros(12, 1, 64, width))
        self.inputs_bias = nn.Parameter(torch.full((width,), 0.25))
        self.moves_weight = nn.Parameter(torch.randn(self.moves, self.policy_half) * 0.02)
        self.moves_target = nn.Parameter(torch.zeros(65, self.policy_half))
        self.moves_origin = nn.Parameter(torch.zeros(70, self.policy_half))
        self.contexts_weight = nn.Parameter(torch.zeros(CONTEXTS, self.policy_half))
        self.moves_bias = nn.Parameter(torch.zeros(self.moves))
        self.contexts_bias = nn.Parameter(torch.zeros(CONTEXTS))
        self.make_head(self.value_half)

    def encode(self, samples: RawSamples, threads: int) -> Tensors:
        """Features, rows of the policy tables and their transposes."""
        arrays = _core.encode_sparse(self.variant, *samples, threads)
        rows = np.empty((len(arrays["move_index"]), 2), np.int32)
        rows[:, 0] = arrays["move_index"]
        rows[:, 1] = arrays["move_context"] + self.moves
        features = transpose(arrays["features"], arrays["feature_offsets"], FEATURES)
        encoded = tensors({name: arrays[name] for name in ("move_offsets", "target", "bucket")})
        encoded |= {f"features.{name}": tensor for name, tensor in features._asdict().items()}
        if self.policy_half:
            policy = transpose(rows.reshape(-1), arrays["move_offsets"] * 2, self.moves + CONTEXTS)
            encoded |= {f"policy.{name}": tensor for name, tensor in policy._asdict().items()}
        return encoded

    def forward(self, batch: Tensors) -> NetworkOutput:
        """Logits of the legal moves; value and win, draw, loss."""
        bias = Round.apply(self.inputs_bias, INPUT_ONE)
        sums = sum_rows(_Fold.apply(self.inputs, self.inputs_shared), bias, _bags(batch, "features"))
        for_policy, for_value = pair_products(sums, self.policy_half)
        logits, wdl = torch.zeros_like(batch["target"]), sums.new_zeros(len(sums), 3)
        if self.policy_half:
            table = Round.apply(torch.cat([self.folded_moves(), self.contexts_weight]), WEIGHT_ONE)
            biases = torch.cat([self.moves_bias, self.contexts_bias])
            logits = dot_rows(for_policy, table, biases, _bags(batch, "policy")).view(-1, 2).sum(1)
        if self.value_half:
            wdl = self.value_head(for_value, batch["bucket"])
        probabilities = wdl.softmax(1)
        return NetworkOutput(logits, probabilities[:, 0] - probabilities[:, 2], wdl)

    def folded_inputs(self) -> Tensor:
        """[FEATURES, P + V]: the table with what the states of a piece share."""
        pieces = self.inputs[:PIECES].view(12, 4, 64, -1) + self.inputs_shared
        return torch.cat([pieces.view(PIECES, -1), self.inputs[PIECES:]])

    def folded_moves(self) -> Tensor:
        """[A, P / 2]: the table with what moves to and from a square share."""
        return self.moves_weight + self.shared_moves()

    def shared_moves(self) -> Tensor:
        """[A, P / 2]: rows of the target and of the origin of each move."""
        return embedding(self.targets, self.moves_target) + embedding(self.origins, self.moves_origin)

    @torch.no_grad()
    def take_moves(self, moves: Tensor, bias: Tensor, contexts: Tensor, contexts_bias: Tensor) -> None:
        """Take the tables of the policy, in floats."""
        for shared in (self.inputs_shared, self.moves_target, self.moves_origin):
            shared.zero_()
        self.moves_weight.copy_(moves)
        self.moves_bias.copy_(bias)
        self.contexts_weight.copy_(contexts)
        self.contexts_bias.copy_(contexts_bias)

    @torch.no_grad()
    def after_step(self) -> None:
        """Keep folded weights in the range of their integers."""
        shared = self.inputs_shared
        self.inputs[:PIECES].view(12, 4, 64, -1).clamp_(-INPUT_LIMIT - shared, INPUT_LIMIT - shared)
        self.inputs[PIECES:].clamp_(-INPUT_LIMIT, INPUT_LIMIT)
        squares = self.shared_moves()
        self.moves_weight.clamp_(-WEIGHT_LIMIT - squares, WEIGHT_LIMIT - squares)
        self.contexts_weight.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)
        self.hidden1.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)

    @torch.no_grad()
    def folded(self) -> dict[str, Tensor]:
        """The tensors of the file, in floats."""
        inputs, bias = self.folded_inputs(), self.inputs_bias
        policy, value = self.columns()
        folded = {
            "policy.inputs.weight": inputs[:, policy],
            "policy.inputs.bias": bias[policy],
            "policy.moves.weight": self.folded_moves(),
            "policy.moves.bias": self.moves_bias,
            "policy.contexts.weight": self.contexts_weight,
            "policy.contexts.bias": self.contexts_bias,
            "value.inputs.weight": inputs[:, value],
            "value.inputs.bias": bias[value],
            **self.folded_head(),
        }
        for name, width in (("policy", self.policy_half), ("value", self.value_half)):
            if not width:
                folded |= _no_half(self.variant, name)
        return folded


def _no_half(variant: str, half: str) -> dict[str, Tensor]:
    """The tensors of a half that answers with zeros, as narrow as a file allows."""
    kinds = shapes(variant, NARROWEST, NARROWEST)
    return {name: torch.zeros(shape) for name, (_, shape) in kinds.items() if name.startswith(half)}


class Round(Function):
    """Numbers as the integers of the file have them.

    Backwards it does nothing: what is rounded away adds up.
    """

    @staticmethod
    def forward(ctx: Any, weights: Tensor, one: float) -> Tensor:
        """Round to multiples of 1 / one."""
        return torch.mul(weights, one).round_().mul_(1.0 / one)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Pass the gradient on."""
        return gradient, None


class _Fold(Function):
    """Fold and round the inputs in one go, without the copies of PyTorch's own way back."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, shared: Tensor) -> Tensor:
        folded = torch.mul(table, INPUT_ONE)
        folded[:PIECES].view(12, 4, 64, -1).add_(shared, alpha=INPUT_ONE)
        return folded.round_().mul_(1.0 / INPUT_ONE)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient[:PIECES].view(12, 4, 64, -1).sum(1, keepdim=True)


def load_sparse(network: BucketedNetwork, path: Path) -> None:
    """Take the weights of a network file of the sparse family; only one half, where the network has one.

    A file may be narrower than the network. The units that it lacks begin at random and without influence, so
    the network computes what the file does.
    """
    if open_sparse(path).variant != network.variant:
        raise TrainingError(f"{path} is not a network for {network.variant}")
    file = load_file(path)
    patterns = file.pop("inputs.patterns", None)
    halves = zip(("policy.", "value."), network.columns(), strict=True)
    absent = tuple(name for name, columns in halves if not columns)
    fresh = {
        name: tensor.detach().numpy()
        for name, tensor in network.folded().items()
        if not name.startswith(absent)
    }
    found = {name: tensor for name, tensor in file.items() if not name.startswith(absent)}
    if not network.reads(patterns) or not all(_fits(tensor, fresh[name]) for name, tensor in found.items()):
        raise TrainingError(f"{path} is wider than the network to be trained, or reads other patterns")
    for half in {name.partition(".")[0] for name in found}:
        if not found[f"{half}.inputs.weight"].any():
            raise TrainingError(f"{path} has no {half}")
    network.unfold({name: _widened(name, tensor, fresh[name]) for name, tensor in found.items()})


def _fits(tensor: NDArray[Any], fresh: NDArray[Any]) -> bool:
    """Whether a tensor of a file is that of the network, or a narrower one."""
    return tensor.shape[:-1] == fresh.shape[:-1] and tensor.shape[-1] <= fresh.shape[-1]


def _widened(name: str, tensor: NDArray[Any], fresh: NDArray[Any]) -> NDArray[Any]:
    """A tensor of a file in the width of the network; units are multiplied in pairs, one of each half."""
    if tensor.shape == fresh.shape:
        return tensor
    if name.endswith((".inputs.weight", ".inputs.bias")):
        wide = np.round(fresh * INPUT_ONE)
        for kept, given in zip(np.split(wide, 2, -1), np.split(tensor, 2, -1), strict=True):
            kept[..., : given.shape[-1]] = given
        return wide
    wide = np.zeros(fresh.shape, tensor.dtype)
    wide[..., : tensor.shape[-1]] = tensor
    return wide


def move_squares(variant: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each policy index the target square (64: off the board) and the origin (64: unused, 65..69: a drop
    of P..Q).
    """
    steps = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]  # N NE E SE S SW W NW
    planes = [(row * n, column * n) for row, column in steps for n in range(1, 8)]
    planes += [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
    planes += [(1, column) for _ in "NBRQ" for column in (-1, 0, 1)]
    moves = shape_of(variant)[1]
    targets, origins = np.full(moves, 64, np.int64), np.full(moves, 64, np.int64)
    for plane in range(moves // 64):
        for square in range(64):
            index = plane * 64 + square
            if plane >= len(planes):
                targets[index], origins[index] = square, 65 + plane - len(planes)
                continue
            row, column = square // 8 + planes[plane][0], square % 8 + planes[plane][1]
            if 0 <= row < 8 and 0 <= column < 8:
                targets[index], origins[index] = row * 8 + column, square
    return targets, origins


def _bags(batch: Tensors, name: str) -> Bags:
    return Bags(*(batch[f"{name}.{field}"] for field in Bags._fields))
