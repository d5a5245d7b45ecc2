"""`go mate`: how long the solver works before the search begins, and what it proved in the form of a search.

Nothing here searches or prints.
"""

from __future__ import annotations

from dataclasses import replace

from anabranch.limits import Limits
from anabranch.result import Result, Solved
from anabranch.solution import Solution
from anabranch.uci.deadline import SHORTENING

LONGEST = 10.0
"""Seconds of the solver, before the search has its turn."""
SHARE = 0.5
"""Part of the time for the move that the solver may take."""


def solver_time(left: float) -> float:
    """Seconds of the solver where so many are left for the move."""
    return min(LONGEST, max(left * SHARE, 1e-4))


def solver_positions(limits: Limits, depth: int | None) -> int | None:
    """Positions of the solver, where `nodes` or `depth` limit the search."""
    known = [limits.simulations, None if depth is None else 32 << min(depth, 40)]
    return min((number for number in known if number is not None), default=None)


def shortening_time(solution: Solution, left: float, *, is_limited: bool) -> float:
    """Seconds of the search for a shorter mate than `go mate` may have: all that are left, but for a moment
    where the side to move loses anyway and where something else than time limits the search.
    """
    return min(left, SHORTENING) if is_limited or solution.result == "loss" else left


def is_enough(solution: Solution, moves: int) -> bool:
    """Whether no more is to be found out: the mate is short enough, or there is no shorter one."""
    return solution.is_shortest or (solution.mate is not None and 0 < solution.mate <= moves)


def progress_of_solution(solution: Solution, first: Result) -> Result:
    """A proof as the result of a search; `first` is what a short search of the position found."""
    line, plies = solution.line, solution.plies
    assert solution.result is not None
    assert line is not None
    assert plies is not None
    others = [other for other in first.lines if other.moves[0] != line.moves[0]]
    return replace(
        first,
        best_move=line.moves[0],
        value=line.value,
        lines=(line, *others) if solution.result == "win" else (line,),
        solved=Solved(solution.result, plies, solution.is_shortest),
        statistics=replace(
            first.statistics, simulations=solution.positions, mean_depth=float(plies), max_depth=plies
        ),
        elapsed=solution.time,
        finish="solved",
    )
