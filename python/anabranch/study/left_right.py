"""LeftRight, a puzzle with a known answer: steps to the left or right, and a point for each to the left.

A position is the number of steps made and of those to the left, so that the graph is small and the tree is
not. It is a game of objects, not of rows as that of `anabranch.examples`, so that one leaf is in flight at a
time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftRightPosition:
    """A position of the puzzle."""

    steps: int
    """Steps of the whole game."""
    made: int = 0
    lefts: int = 0

    players = 1
    can_recur = False
    player = 0

    def legal_moves(self) -> tuple[str, str]:
        """Both; the better one comes last, so that it does not win by ties."""
        return ("right", "left")

    def play(self, move: str) -> LeftRightPosition:
        """The position after a step."""
        return LeftRightPosition(self.steps, self.made + 1, self.lefts + (move == "left"))

    def outcome(self) -> float | None:
        """The share of steps to the left, from -1 to 1."""
        return 2.0 * self.lefts / self.steps - 1.0 if self.made == self.steps else None

    def key(self) -> tuple[int, int]:
        """Steps made, and those to the left."""
        return self.made, self.lefts
