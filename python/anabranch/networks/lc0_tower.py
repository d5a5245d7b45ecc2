"""The weights of Lc0's residual towers, as arrays: decoded, checked, batch normalisation folded in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import NetworkError
from anabranch.networks.container import DamageError
from anabranch.networks.lc0_file import Lc0File, ProtoMessage

PLANES = 112
MOVES = 1858
POLICY_PLANES = 80
EPSILON = 1e-5
"""Added to the variances of batch normalisation."""
LINEAR = (0, 1)
"""Kinds of numbers that lie between the least and the largest of a layer."""
KINDS: dict[int, np.dtype[Any]] = {
    0: np.dtype("<u2"),
    1: np.dtype("<u2"),
    2: np.dtype("<f2"),
    4: np.dtype("<f4"),
}

Array: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution, batch normalisation folded in."""

    weights: Array
    """`[out, in, size, size]`."""
    biases: Array


@dataclass(frozen=True, slots=True)
class Dense:
    """A fully connected layer."""

    weights: Array
    """`[out, in]`."""
    biases: Array


@dataclass(frozen=True, slots=True)
class TowerBlock:
    """A residual block, with squeeze-excitation where it has two dense layers."""

    first: Conv
    second: Conv
    squeeze: tuple[Dense, Dense] | None


@dataclass(frozen=True, slots=True)
class Head:
    """Convolutions, then fully connected layers."""

    convs: tuple[Conv, ...]
    layers: tuple[Dense, ...]


@dataclass(frozen=True, slots=True)
class Tower:
    """A residual tower with its heads."""

    first: Conv
    blocks: tuple[TowerBlock, ...]
    policy: Head
    value: Head
    moves_left: Head | None
    activation: str

    @property
    def filters(self) -> int:
        """Channels of the tower."""
        return len(self.first.biases)

    @property
    def parameters(self) -> int:
        """Numbers in all layers, batch normalisation folded in."""
        layers: list[Conv | Dense] = [self.first, *self.policy.convs, *self.policy.layers]
        for block in self.blocks:
            layers += [block.first, block.second, *(block.squeeze or ())]
        for head in (self.value, self.moves_left):
            layers += () if head is None else (*head.convs, *head.layers)
        return sum(layer.weights.size + layer.biases.size for layer in layers)


def read_tower(file: Lc0File) -> Tower:
    """The weights of a residual tower, with their shapes checked."""
    try:
        return _tower(file)
    except DamageError as error:
        raise NetworkError(f"{file.path} is refused: {error}") from None


def _tower(file: Lc0File) -> Tower:
    if file.activation == "unknown":
        raise DamageError("its activation is of an unknown kind")
    weights = file.message.one(10)
    first = _conv(weights.one(1), "input", PLANES, 3)
    filters = len(first.biases)
    blocks = tuple(
        _block(block, f"block {number}", filters) for number, block in enumerate(weights.all(2), 1)
    )
    if file.policy == "convolution":
        hidden = _conv(weights.one(11), "policy", filters, 3)
        last = _conv(weights.one(3), "policy planes", len(hidden.biases), 3)
        if len(last.biases) != POLICY_PLANES:
            raise DamageError(f"its policy has {len(last.biases)} planes instead of {POLICY_PLANES}")
        policy = Head((hidden, last), ())
    else:
        hidden = _conv(weights.one(3), "policy", filters, 1)
        policy = Head((hidden,), (_dense(weights, 4, "policy", 64 * len(hidden.biases), MOVES),))
    if file.value not in ("classical", "wdl"):
        raise DamageError(f"its value head is of the kind {file.value!r}, which is not read")
    outputs = 3 if file.value == "wdl" else 1
    moves_left = _head(weights, 12, 13, "moves left", filters, 1) if file.has_moves_left else None
    value = _head(weights, 6, 7, "value", filters, outputs)
    return Tower(first, blocks, policy, value, moves_left, file.activation)


def _block(block: ProtoMessage, name: str, filters: int) -> TowerBlock:
    first = _conv(block.one(1), f"{name}, first convolution", filters, 3, filters)
    second = _conv(block.one(2), f"{name}, second convolution", filters, 3, filters)
    if not block.has(3):
        return TowerBlock(first, second, None)
    unit = block.one(3)
    squeeze = _dense(unit, 1, f"{name}, squeeze", filters)
    excite = _dense(unit, 3, f"{name}, excitation", len(squeeze.biases), 2 * filters)
    return TowerBlock(first, second, (squeeze, excite))


def _head(weights: ProtoMessage, conv: int, layers: int, name: str, filters: int, outputs: int) -> Head:
    """A head of a convolution and two dense layers, the fields of which begin at `layers`."""
    planes = _conv(weights.one(conv), name, filters, 1)
    hidden = _dense(weights, layers, f"{name}, first layer", 64 * len(planes.biases))
    last = _dense(weights, layers + 2, f"{name}, second layer", len(hidden.biases), outputs)
    return Head((planes,), (hidden, last))


def _dense(holder: ProtoMessage, number: int, name: str, inputs: int, outputs: int | None = None) -> Dense:
    """The layer whose weights are in one field and whose biases are in the next."""
    biases = _array(holder.one(number + 1), f"{name}, biases")
    _check_size(biases, (len(biases) if outputs is None else outputs,), f"{name}, biases")
    shape = (len(biases), inputs)
    return Dense(_shaped(_array(holder.one(number), name), shape, name), biases)


def _conv(block: ProtoMessage, name: str, inputs: int, size: int, outputs: int | None = None) -> Conv:
    """A convolution with its batch normalisation folded into weights and biases."""
    weights = _array(block.one(1), name)
    count = len(weights) // (inputs * size * size) if outputs is None else outputs
    kernel = _shaped(weights, (count, inputs, size, size), name).astype(np.float64)
    biases = _optional(block, 2, count, 0.0, f"{name}, biases")
    if block.has(3):
        means = _optional(block, 3, count, 0.0, f"{name}, means")
        variances = _optional(block, 4, count, 1.0, f"{name}, variances")
        gammas = _optional(block, 5, count, 1.0, f"{name}, gammas")
        betas = _optional(block, 6, count, 0.0, f"{name}, betas")
        if (variances + EPSILON <= 0).any():
            raise DamageError(f"its layer {name!r} has a variance below zero")
        factors = gammas / np.sqrt(variances + EPSILON)
        kernel *= factors[:, None, None, None]
        biases = (biases - means) * factors + betas
    return Conv(kernel.astype(np.float32), biases.astype(np.float32))


def _optional(
    block: ProtoMessage, number: int, count: int, otherwise: float, name: str
) -> NDArray[np.float64]:
    if not block.has(number) or not block.one(number).has(3):
        return np.full(count, otherwise)
    found = _array(block.one(number), name)
    _check_size(found, (count,), name)
    return found.astype(np.float64)


def _array(layer: ProtoMessage, name: str) -> Array:
    """The numbers of a layer: 16 bits between the least and the largest, or floats."""
    params = layer.bytes(3)
    if not params:
        raise DamageError(f"its layer {name!r} is missing")
    kind = layer.integer(4, 1)
    if kind not in KINDS:
        raise DamageError(f"the numbers of its layer {name!r} are of an unknown kind, {kind}")
    if len(params) % KINDS[kind].itemsize:
        raise DamageError(f"its layer {name!r} is cut short")
    found: Array = np.frombuffer(params, KINDS[kind]).astype(np.float32)
    if kind in LINEAR:
        share = found / np.float32(0xFFFF)
        found = np.float32(layer.real(1)) * (1 - share) + np.float32(layer.real(2)) * share
    if not np.isfinite(found).all():
        raise DamageError(f"its layer {name!r} has numbers that are not finite")
    return found


def _shaped(numbers: Array, shape: Sequence[int], name: str) -> Array:
    _check_size(numbers, shape, name)
    return numbers.reshape(shape)


def _check_size(numbers: Array, shape: Sequence[int], name: str) -> None:
    wanted = int(np.prod(shape))
    if len(numbers) != wanted or wanted == 0:
        sizes = " x ".join(str(size) for size in shape)
        raise DamageError(f"its layer {name!r} has {len(numbers)} numbers, which are not {sizes}")
