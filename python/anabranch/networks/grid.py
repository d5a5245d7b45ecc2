"""Networks of the sparse family for games on a grid: their inputs, and the writer of their files.

The inputs are patterns, short lists of cells whose joint state is one feature (docs/networks.md). The
patterns of a game are chosen here and stored in the file, so that the core needs no list of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.catalogue import base_name, is_grid
from anabranch.errors import VariantError
from anabranch.networks.sparse import tensor_shapes, write_sparse

MOST_FEATURES = 65_000
CELL_PLANES = 2
"""Planes of cells; the others are the same on all of them."""
BUCKETS = 8
FALLING = ("connect-four",)
"""Games in which an empty cell where a piece would come to rest is a state of its own."""
_STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True, slots=True)
class GridInputs:
    """The board of a game, and the patterns that a network reads."""

    game: str
    planes: int
    height: int
    width: int
    actions: int
    """Size of the policy."""
    falls: bool
    patterns: NDArray[np.int16]
    """[T, K]: cells, row by row from the top; -1 after the last."""

    @property
    def area(self) -> int:
        """Number of cells."""
        return self.height * self.width

    @property
    def constants(self) -> int:
        """Planes that are the same on all cells."""
        return self.planes - CELL_PLANES

    @property
    def states(self) -> int:
        """States of a cell."""
        return 4 if self.falls else 3

    @property
    def first(self) -> NDArray[np.int64]:
        """[T + 1]: the first feature of each pattern, and of the constant planes."""
        lengths = (self.patterns >= 0).sum(1)
        return np.concatenate([[0], np.cumsum(self.states**lengths)])

    @property
    def features(self) -> int:
        """Number of features."""
        return int(self.first[-1]) + self.constants

    def encode(self, cells: NDArray[np.uint8], constants: NDArray[np.uint8]) -> tuple[Any, Any, Any]:
        """Active features [N], where those of each position begin [B + 1], and the buckets [B].

        `cells` [B, area] are 0 empty, 1 own, 2 enemy; `constants` [B, planes - 2].
        """
        states = cells.astype(np.int32)
        if self.falls:
            grid = states.reshape(-1, self.height, self.width)
            below = np.ones_like(grid, bool)
            below[:, :-1] = grid[:, 1:] > 0
            grid[(grid == 0) & below] = 3
        places = np.maximum(self.patterns, 0)
        powers = np.where(self.patterns >= 0, self.states ** np.arange(self.patterns.shape[1]), 0)
        active = self.first[:-1].astype(np.int32) + np.zeros((len(cells), 1), np.int32)
        for column in range(self.patterns.shape[1]):
            active += states[:, places[:, column]] * powers[:, column].astype(np.int32)
        rows, counts = active, np.full(len(cells), active.shape[1], np.int64)
        if self.constants:
            last = int(self.first[-1]) + np.arange(self.constants, dtype=np.int32)
            rows = np.concatenate([active, np.where(constants > 0, last, -1)], axis=1)
            counts = counts + (constants > 0).sum(1)
            rows = rows[rows >= 0]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        bucket = np.minimum((cells > 0).sum(1) * BUCKETS // (self.area + 1), BUCKETS - 1)
        return rows.reshape(-1).astype(np.int32), offsets, bucket.astype(np.int64)


@lru_cache(maxsize=8)
def inputs_of(game: str) -> GridInputs:
    """The inputs of a game on a grid: its cells, rows of four in all directions, squares of two by two.

    >>> inputs_of("connect-four").patterns.shape, inputs_of("connect-four").features
    ((111, 4), 17833)
    """
    if not is_grid(game):
        raise VariantError(f"{game} is not a game on a grid")
    session = _core.Session(game, False, {"evaluator": "uniform"}, False)
    name, _ = session.variant()
    planes, height, width = session.plane_shape()
    falls = base_name(name) in FALLING
    for length in (4, 3, 2):
        patterns = list(_patterns(height, width, length, squares=not falls))
        table = np.full((len(patterns), max(4, length)), -1, np.int16)
        for row, cells in zip(table, patterns, strict=True):
            row[: len(cells)] = cells
        found = GridInputs(name, planes, height, width, session.shape()[1], falls, table)
        if found.features <= MOST_FEATURES:
            break
    return found


def _patterns(height: int, width: int, length: int, squares: bool) -> Iterator[list[int]]:
    for cell in range(height * width):
        yield [cell]
    for down, right in _STEPS:
        for y in range(height):
            for x in range(width):
                line = [(y + down * i, x + right * i) for i in range(length)]
                if all(0 <= a < height and 0 <= b < width for a, b in line):
                    yield [a * width + b for a, b in line]
    if squares:
        for y in range(height - 1):
            for x in range(width - 1):
                yield [y * width + x, y * width + x + 1, (y + 1) * width + x, (y + 1) * width + x + 1]


def write_grid(
    path: str | os.PathLike[str],
    inputs: GridInputs,
    tensors: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
    canaries: Sequence[str],
) -> None:
    """Write a network for a game on a grid as `write_sparse` does. `canaries` are texts of positions."""
    texts = {"variant": inputs.game, "inputs": "grid-1", "policy": "actions-1"}
    texts["cells"] = "falling" if inputs.falls else "plain"
    write_sparse(path, {**tensors, "inputs.patterns": inputs.patterns}, {**metadata, **texts}, canaries)


def grid_shapes(inputs: GridInputs, policy: int, value: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of every tensor but the patterns, as `anabranch.networks.sparse.shapes` for chess."""
    return tensor_shapes(inputs.features, 1, inputs.actions, policy, value)
