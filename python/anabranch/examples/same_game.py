"""SameGame: connected cells of one colour vanish, at least two at a time; the rest falls down and then to the
left.

A group of n cells scores (n - 2) squared; an empty board 1000 more, and at the end the cells that are left
cost (n - 2) squared for each colour of n cells.
"""

from __future__ import annotations

import numpy as np

from anabranch.rows import States

BONUS = 1000


class SameGame:
    """A state is the board, row by row from the top with 0 for an empty cell, and the points so far. An
    action is a cell; the first cell of a group in this order stands for all of it.

    >>> from anabranch import Engine
    >>> engine = Engine(game=SameGame(np.array([[1, 2, 2], [1, 1, 2]])))
    >>> len(engine.legal_moves), engine.search(simulations=20).solved is not None
    (2, True)
    """

    players = 1
    can_recur = False

    def __init__(self, board: States) -> None:
        cells = np.asarray(board)
        if cells.ndim != 2 or cells.size == 0 or cells.dtype.kind not in "iu" or (cells < 0).any():
            raise ValueError("a board of SameGame is a table of colours, whole numbers from 1; 0 is empty")
        if cells.size > 1024 or cells.max() > 255:
            raise ValueError("a board of SameGame has at most 1024 cells and 255 colours")
        self.height, self.width = cells.shape
        self._board = cells.astype(np.uint8)
        self._state = np.dtype([("cells", "u1", cells.shape), ("points", "<i4")])
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        self.actions = [
            f"{letters[x] if self.width <= 26 else f'c{x + 1}r'}{y + 1}"
            for y in range(self.height)
            for x in range(self.width)
        ]
        counts = np.bincount(self._board.ravel(), minlength=256)[1:].astype(np.int64)
        squares = int((np.maximum(counts - 2, 0) ** 2).sum())
        self.most = squares + BONUS
        """No game scores more: each colour in one group, and nothing left."""
        self.least = -squares
        """No game scores less."""

    @classmethod
    def random(cls, height: int = 15, width: int = 15, colours: int = 5, seed: int = 0) -> SameGame:
        """A board of random colours."""
        return cls(np.random.default_rng(seed).integers(1, colours + 1, (height, width)))

    def first(self) -> States:
        """The whole board."""
        state = np.zeros((), self._state)
        state["cells"] = _settled(self._board[None])[0]
        return state

    def player(self, states: States) -> States:
        """The only one."""
        return np.zeros(len(states), np.uint8)

    def play(self, states: States, actions: States) -> States:
        """A group vanishes."""
        cells = states["cells"]
        labels = _labels(cells)
        gone = labels == actions[:, None, None]
        sizes = gone.sum(axis=(1, 2))
        after = np.zeros_like(states)
        after["cells"] = _settled(np.where(gone, 0, cells).astype(np.uint8))
        after["points"] = states["points"] + (sizes - 2) ** 2 + BONUS * (after["cells"] == 0).all(axis=(1, 2))
        return after

    def legal(self, states: States) -> States:
        """The first cells of groups."""
        cells = states["cells"]
        labels = _labels(cells).reshape(len(cells), -1)
        own = np.arange(labels.shape[1])
        is_first = (labels == own) & (cells.reshape(labels.shape) > 0)
        legal: States = is_first & self._has_company(cells).reshape(labels.shape)
        return legal

    def outcome(self, states: States) -> States:
        """The points, from -1 for the least that is possible to 1 for the most."""
        cells = states["cells"]
        goes_on = self._has_company(cells).any(axis=(1, 2))
        points = states["points"].astype(np.int64)
        for colour in np.unique(self._board[self._board > 0]):
            left = (cells == colour).sum(axis=(1, 2))
            points = points - np.where(goes_on, 0, np.maximum(left - 2, 0) ** 2)
        score = 2 * (points - self.least) / (self.most - self.least) - 1
        return np.where(goes_on, np.nan, np.clip(score, -1, 1))

    def points(self, outcome: float) -> int:
        """The points of an outcome."""
        return round(self.least + (outcome + 1) / 2 * (self.most - self.least))

    def text(self, state: States) -> str:
        """The rows and the points."""
        rows = "\n".join(" ".join(str(cell) if cell else "." for cell in row) for row in state["cells"])
        return f"{rows}\n{state['points']} points"

    def _has_company(self, cells: States) -> States:
        """Whether a cell has a neighbour of its colour."""
        found = np.zeros(cells.shape, np.bool_)
        across = (cells[:, :, 1:] == cells[:, :, :-1]) & (cells[:, :, 1:] > 0)
        down = (cells[:, 1:] == cells[:, :-1]) & (cells[:, 1:] > 0)
        found[:, :, 1:] |= across
        found[:, :, :-1] |= across
        found[:, 1:] |= down
        found[:, :-1] |= down
        return found


def _labels(cells: States) -> States:
    """The number of the first cell of the group of each cell."""
    _, height, width = cells.shape
    labels = np.broadcast_to(np.arange(height * width, dtype=np.int32).reshape(height, width), cells.shape)
    labels = labels.copy()
    across, down = cells[:, :, 1:] == cells[:, :, :-1], cells[:, 1:] == cells[:, :-1]
    while True:
        before = labels.copy()
        for here, there, same in (
            (labels[:, :, 1:], labels[:, :, :-1], across),
            (labels[:, 1:], labels[:, :-1], down),
        ):
            np.minimum(here, there, out=here, where=same)
            np.minimum(there, here, out=there, where=same)
        if np.array_equal(before, labels):
            return labels


def _settled(cells: States) -> States:
    """Cells fall down, and columns close up to the left."""
    order = np.argsort(cells > 0, axis=1, kind="stable")
    fallen = np.take_along_axis(cells, order, axis=1)
    order = np.argsort((fallen == 0).all(axis=1), axis=1, kind="stable")
    return np.take_along_axis(fallen, order[:, None, :], axis=2)
