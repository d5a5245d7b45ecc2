"""Connect Four as rows: the example of docs/games.md."""

from __future__ import annotations

import numpy as np

from anabranch.rows import States

U64 = np.uint64
COLUMNS = U64(7) * np.arange(7, dtype=U64)  # a column has seven bits, the highest stays empty
BOTTOMS = U64(1) << COLUMNS
TOPS = BOTTOMS << U64(5)
SHIFTS = (U64(1), U64(6), U64(7), U64(8))


class ConnectFour:
    """A state is two numbers: the pieces of the side to move, and all pieces.

    >>> from anabranch import Engine
    >>> Engine(game=ConnectFour()).search("4 3 4 3 4 3", simulations=200).best_move
    '4'
    """

    actions = ("1", "2", "3", "4", "5", "6", "7")
    can_recur = False

    def first(self) -> States:
        """No pieces."""
        return np.zeros(2, U64)

    def player(self, states: States) -> States:
        """Who is to move."""
        return np.bitwise_count(states[:, 1]) & 1

    def play(self, states: States, actions: States) -> States:
        """A piece falls."""
        own, pieces = states.T
        return np.stack([own ^ pieces, pieces | (pieces + BOTTOMS[actions])], axis=1)

    def legal(self, states: States) -> States:
        """Columns that are not full."""
        legal: States = (states[:, 1:] & TOPS) == 0
        return legal

    def outcome(self, states: States) -> States:
        """Who has four in a row."""
        own, pieces = states.T
        last, fours = own ^ pieces, U64(0)
        for shift in SHIFTS:
            pairs = last & (last >> shift)
            fours = fours | (pairs & (pairs >> (shift + shift)))
        winner = np.where(self.player(states) == 0, -1.0, 1.0)  # who has just moved
        is_full = np.bitwise_count(pieces) == 42
        return np.where(fours != 0, winner, np.where(is_full, 0.0, np.nan))

    def features(self, states: States) -> States:
        """Pieces of the side to move, of the other side, and whether the first player moves."""
        bits = COLUMNS + np.arange(5, -1, -1, dtype=U64)[:, None]
        own, pieces = ((states[:, column, None, None] >> bits) & U64(1) for column in (0, 1))
        first = np.broadcast_to(self.player(states)[:, None, None] == 0, own.shape)
        return np.stack([own, pieces - own, first], axis=1).astype(np.float32)

    def text(self, state: States) -> str:
        """The rows from the top, and the side to move."""
        own, other, first = self.features(state[None])[0]
        marks = np.where(own + other == 0, ".", np.where((own > 0) == (first > 0), "x", "o"))
        return "/".join("".join(row) for row in marks) + (" x" if first.any() else " o")

    def parse(self, text: str) -> States:
        """The same, read."""
        board, side = text.split()
        cells = np.array([list(row) for row in board.split("/")])
        bits = U64(1) << (COLUMNS + np.arange(5, -1, -1, dtype=U64)[:, None])
        return np.array([bits[cells == side].sum(), bits[cells != "."].sum()], U64)

    def symmetries(self, states: States) -> list[tuple[States, States]]:
        """Left and right exchanged."""
        mirrored = np.zeros_like(states)
        for column in range(7):
            bits = (states >> COLUMNS[column]) & U64(127)
            mirrored |= bits << COLUMNS[6 - column]
        return [(mirrored, np.arange(6, -1, -1))]
