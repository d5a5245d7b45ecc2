"""One simulation: where its walk stands, the trajectory that it leaves, and the draws of its path.

Repetition and the move count depend on the way to a position. They are tested here, for one path, and never
become the value or the proof of a shared node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

import chess

from anabranch.reference.graph import Edge, Node


class End(Enum):
    """How a trajectory ended."""

    LEAF = "leaf"
    COLLISION = "collision"
    STOP = "stop"
    EXACT = "exact"
    PATH_DRAW = "path_draw"


@dataclass(eq=False)
class Stem:
    """An edge on the way of visits that came the same way, and what comes up through it."""

    above: Stem | None
    node: Node
    edge: Edge
    number: int  # in the order in which the wave found its stems
    draws: int = 0  # visits that ended here as a draw of the path
    others: int = 0  # all other visits
    at_child: int = 0  # those that ended at the child, with its value
    total: float = 0.0  # of the values of the rest, for the side to move at the child

    @property
    def level(self) -> int:
        """The number of moves from the root to the child."""
        level, stem = 1, self.above
        while stem is not None:
            level, stem = level + 1, stem.above
        return level

    @property
    def path(self) -> list[tuple[Node, Edge]]:
        """The nodes and edges from the root to the child."""
        stem: Stem | None = self
        path = []
        while stem is not None:
            path.append((stem.node, stem.edge))
            stem = stem.above
        return path[::-1]


@dataclass
class Trajectory:
    """The (node, edge) pairs of one simulation, from the root or from the branch node of an exploration."""

    path: list[tuple[Node, Edge]]
    last: Node
    end: End
    board: chess.Board
    is_exploration: bool = False
    stem: Stem | None = None  # of the wave that it is part of
    wave: int = 0  # its number in its batch

    def mark(self, k: int) -> None:
        """Add k in-flight visits to every edge of the trajectory, and to the nodes above them."""
        for node, edge in self.path:
            node.in_flight += k
            edge.in_flight += k


@dataclass
class Walk:
    """Where a simulation stands: its node and board, the positions it passed, and the game before."""

    node: Node
    board: chess.Board
    occurred: set[str]  # since the root, the root included
    history: Counter[str]  # before the root
    limit: int | None  # the clock at which the game is drawn

    def copy(self) -> Walk:
        """The same place, to go on from without changing this walk."""
        return Walk(self.node, self.board.copy(stack=False), set(self.occurred), self.history, self.limit)

    def step(self, child: Node) -> None:
        """Stand at the child; its move is on the board already."""
        self.occurred.add(child.position)
        self.node = child

    def is_path_draw(self, child: Node) -> bool:
        """Whether the game is drawn by repetition or move count at the child that the board stands at."""
        if child.position in self.occurred or self.history[child.position] >= 2:
            return True
        return self.limit is not None and self.board.halfmove_clock >= self.limit and not child.is_terminal
