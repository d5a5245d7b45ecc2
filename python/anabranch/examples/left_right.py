"""LeftRight, a puzzle with a known answer: so many steps to the left or to the right, and a point for each
step to the left.

Positions after as many steps with as many points are one, so the graph has about half the square of the steps
as nodes, and the tree two to their power.
"""

from __future__ import annotations

import numpy as np

from anabranch.rows import States


class LeftRight:
    """A state is the number of steps and of those to the left. The score is 1 where all go to the left.

    >>> from anabranch import Engine
    >>> Engine(game=LeftRight(steps=5)).search(simulations=100).best_move
    'left'
    """

    actions = ("left", "right")
    players = 1
    can_recur = False

    def __init__(self, steps: int = 30) -> None:
        if not 1 <= steps <= 60000:
            raise ValueError(f"steps is a number from 1 to 60000, not {steps}")
        self.steps = steps
        self.most_moves = steps + 1

    def first(self) -> States:
        """No steps."""
        return np.zeros(2, np.uint16)

    def player(self, states: States) -> States:
        """The only one."""
        return np.zeros(len(states), np.uint8)

    def play(self, states: States, actions: States) -> States:
        """A step."""
        return states + np.stack([np.ones_like(actions), actions == 0], axis=1).astype(np.uint16)

    def legal(self, states: States) -> States:
        """Both."""
        return np.ones((len(states), 2), np.bool_)

    def outcome(self, states: States) -> States:
        """The share of steps to the left, from -1 to 1."""
        steps, lefts = states.T.astype(np.int64)
        return np.where(steps < self.steps, np.nan, 2 * lefts / self.steps - 1)
