"""Morpion Solitaire, 5D: from a cross of 36 points, each move draws a line through five points of which one
is new. Lines of one direction have no point in common.

The score is the number of lines. No game has more than 121 (Kawamura and others 2013), which is the score 1.
"""

from __future__ import annotations

import numpy as np

from anabranch.rows import States

SIZE = 32
"""Rows and columns: the cross has eleven free ones on every side, and no known game leaves it by more."""
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
MOST_LINES = 121
POINTS = 36


def _cross() -> States:
    """The 36 points: the outline of a cross whose arms are four points wide and three deep."""
    corners = [(3, 0), (6, 0), (6, 3), (9, 3), (9, 6), (6, 6), (6, 9), (3, 9), (3, 6), (0, 6), (0, 3), (3, 3)]
    points = np.zeros((SIZE, SIZE), np.uint8)
    begin = (SIZE - 10) // 2
    for (x, y), (to_x, to_y) in zip(corners, corners[1:] + corners[:1], strict=True):
        steps = max(abs(to_x - x), abs(to_y - y))
        for step in range(steps):
            across, down = x + (to_x - x) * step // steps, y + (to_y - y) * step // steps
            points[begin + down, begin + across] = 1
    return points


class Morpion:
    """A state is five boards of bits: the points, and for each direction those that a line has used. An
    action is a line: its direction, and its first point from the top.

    >>> from anabranch import Engine
    >>> len(Engine(game=Morpion(), evaluator="uniform").legal_moves)
    28
    """

    players = 1
    can_recur = False
    actions = tuple(f"{name}{y}.{x}" for name in "hvdu" for y in range(SIZE) for x in range(SIZE))

    def first(self) -> States:
        """The cross."""
        boards = np.zeros((5, SIZE, SIZE), np.uint8)
        boards[0] = _cross()
        return np.packbits(boards, axis=2)

    def player(self, states: States) -> States:
        """The only one."""
        return np.zeros(len(states), np.uint8)

    def play(self, states: States, actions: States) -> States:
        """A line is drawn."""
        boards = np.unpackbits(states, axis=3)
        direction, start = np.divmod(actions, SIZE * SIZE)
        y, x = np.divmod(start, SIZE)
        down, across = np.array(DIRECTIONS).T
        rows = np.arange(len(states))
        for step in range(5):
            there = (y + step * down[direction], x + step * across[direction])
            boards[rows, 0, there[0], there[1]] = 1
            boards[rows, 1 + direction, there[0], there[1]] = 1
        return np.packbits(boards, axis=3)

    def legal(self, states: States) -> States:
        """Lines with four points and a free place, none used in their direction."""
        boards = np.unpackbits(states, axis=3)
        legal = np.zeros((len(states), 4, SIZE, SIZE), np.bool_)
        for number, (down, across) in enumerate(DIRECTIONS):
            height, width = SIZE - 4 * down, SIZE - 4 * abs(across)
            left = 4 if across < 0 else 0
            points, used = (
                sum(
                    board[:, step * down : step * down + height, left + step * across :][:, :, :width]
                    for step in range(5)
                )
                for board in (boards[:, 0], boards[:, 1 + number])
            )
            legal[:, number, :height, left : left + width] = (points == 4) & (used == 0)
        return legal.reshape(len(states), -1)

    def outcome(self, states: States) -> States:
        """The lines, where there is no other; 121 would be 1, none -1."""
        return np.where(self.legal(states).any(axis=1), np.nan, 2 * self.lines(states) / MOST_LINES - 1)

    def lines(self, states: States) -> States:
        """How many lines were drawn."""
        lines: States = np.bitwise_count(states[:, 0]).sum(axis=(1, 2), dtype=np.int64) - POINTS
        return lines

    def text(self, state: States) -> str:
        """The points, as far as there are any."""
        points = np.unpackbits(state, axis=2)[0]
        rows, columns = np.flatnonzero(points.any(axis=1)), np.flatnonzero(points.any(axis=0))
        part = points[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return "\n".join(" ".join(".o"[point] for point in row) for row in part)
