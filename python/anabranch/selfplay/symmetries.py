"""The symmetries of the games on a grid: which cell and which place of the policy goes where.

A symmetry keeps the rules and the side to move. Breakthrough and Connect Four have left and right, Hex the
half turn, Othello, tic-tac-toe and Go all eight of the square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.catalogue import base_name
from anabranch.networks.grid import GridInputs

_KINDS = {
    "connect-four": ("same", "mirror"),
    "breakthrough": ("same", "mirror"),
    "hex": ("same", "turn"),
    "othello": ("same", "mirror", "flip", "turn", "transpose", "quarter", "three quarters", "other"),
}
_KINDS["tic-tac-toe"] = _KINDS["go"] = _KINDS["othello"]


class Symmetry(NamedTuple):
    """New cells are `cells[..., source]`, new policies `policy[..., places]`."""

    source: NDArray[np.int64]
    places: NDArray[np.int64]


def symmetries_of(inputs: GridInputs) -> list[Symmetry]:
    """The symmetries of a game, the identity first.

    >>> from anabranch.networks.grid import inputs_of
    >>> [len(symmetries_of(inputs_of(game))) for game in ("connect-four", "hex:size=3", "go:size=5")]
    [2, 2, 8]
    """
    kinds = _KINDS.get(base_name(inputs.game), ("same",))
    return [_symmetry(kind, inputs) for kind in kinds]


def _symmetry(kind: str, inputs: GridInputs) -> Symmetry:
    grid = np.arange(inputs.area).reshape(inputs.height, inputs.width)
    turned, flipped = grid[::-1, ::-1], grid[::-1]
    forms = {"same": grid, "mirror": grid[:, ::-1], "flip": flipped, "turn": turned}
    forms |= {"transpose": grid.T, "quarter": grid[:, ::-1].T, "three quarters": flipped.T, "other": turned.T}
    moved = forms[kind]
    source = moved.reshape(-1).copy()
    return Symmetry(source, _places(kind, source, inputs))


def _places(kind: str, source: NDArray[np.int64], inputs: GridInputs) -> NDArray[np.int64]:
    """The place of a move is that of its cell; rows of moves may be counted from the bottom."""
    name = base_name(inputs.game)
    if name == "connect-four":
        columns = np.arange(inputs.width)
        return columns[::-1].copy() if kind == "mirror" else columns
    grid = np.arange(inputs.area).reshape(inputs.height, inputs.width)
    upward = name in ("go", "breakthrough")
    if upward:  # moves count rows from the bottom, planes from the top
        to_planes = grid[::-1].reshape(-1)
        cells = to_planes[source[to_planes]]
    else:
        cells = source
    if name == "breakthrough":
        steps = np.array([2, 1, 0] if kind == "mirror" else [0, 1, 2])
        places: NDArray[np.int64] = (cells[:, None] * 3 + steps).reshape(-1)
        return places
    passes = np.arange(inputs.area, inputs.actions)
    return np.concatenate([cells, passes])
