"""What changes from generation to generation: budgets, the learning rate, the size of the window."""

from __future__ import annotations

import math

from anabranch.selfplay.plan import LoopPlan


def evaluations_at(plan: LoopPlan, generation: int) -> int:
    """Evaluations of a full search: they grow by equal factors.

    >>> plan = LoopPlan("hex", evaluations=64, last_evaluations=256, growth=4)
    >>> [evaluations_at(plan, generation) for generation in (0, 2, 4, 9)]
    [64, 128, 256, 256]
    """
    if plan.growth == 0:
        return plan.last_evaluations
    done = min(generation / plan.growth, 1.0)
    factor: float = (plan.last_evaluations / plan.evaluations) ** done
    return round(plan.evaluations * factor)


def cheap_evaluations_at(plan: LoopPlan, generation: int) -> int:
    """Evaluations of a cheap search."""
    return max(2, round(plan.cheap_share * evaluations_at(plan, generation)))


def rate_at(plan: LoopPlan, generation: int) -> float:
    """The learning rate: half a cosine over `anneal` generations, then constant.

    >>> plan = LoopPlan("hex", rate=1.0, last_rate=0.1, anneal=10)
    >>> [round(rate_at(plan, generation), 3) for generation in (0, 5, 10, 20)]
    [1.0, 0.55, 0.1, 0.1]
    """
    done = min(generation / plan.anneal, 1.0) if plan.anneal else 1.0
    return plan.rate * (plan.last_rate + (1.0 - plan.last_rate) * (1.0 + math.cos(math.pi * done)) / 2.0)


def window_at(plan: LoopPlan, positions: int) -> int:
    """Positions of the window when there are so many in all: a power law that begins at `window`.

    >>> plan = LoopPlan("hex", window=100, window_power=0.5)
    >>> [window_at(plan, positions) for positions in (50, 100, 400, 900)]
    [50, 100, 200, 300]
    """
    if positions <= plan.window:
        return positions
    factor: float = (positions / plan.window) ** plan.window_power
    return round(plan.window * factor)
