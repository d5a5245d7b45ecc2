"""Clocks and budgets: how long to think about a move, and when to stop earlier or go on longer.

Pure arithmetic on seconds and on what a search reports; the clock itself is somebody else's. Two numbers rule
a move: the optimum, which is spent when nothing happens, and the maximum, which is never exceeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SUDDEN_DEATH_MOVES = 26
"""Moves that the clock must still serve when nobody says how many: about what is left of a game on average,
counted short, because the graph of the next move begins with what this move learned."""
MOST_MOVES_TO_GO = 40
LARGEST_SHARE = 0.4
"""Share of the clock that one move may take at most."""
LAST_MOVE_SHARE = 0.85
"""The same for the last move before the clock is set again."""
LONGEST_STRETCH = 4.0
"""Maximum over optimum."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Time for one move, in seconds."""

    optimum: float
    maximum: float


RESERVE = 0.3
"""Seconds that are kept on a clock that has more than twice as many: machines are late now and then."""


def available(left: float) -> float:
    """What may be planned with: the clock less the reserve, and less and less of it near the end.

    >>> [round(available(left), 3) for left in (10.0, 0.3, 0.1, 0.0)]
    [9.7, 0.075, 0.008, 0.0]
    """
    left = max(0.0, left)
    return left - RESERVE if left > 2 * RESERVE else left * left / (4 * RESERVE)


def allocate(left: float, increment: float = 0.0, moves_to_go: int | None = None) -> Allocation:
    """Time for one move from what is left on the clock, less what is lost on the way to the board.

    >>> allocate(60.0, 1.0)
    Allocation(optimum=3.1..., maximum=12.5...)
    >>> allocate(0.0)
    Allocation(optimum=0.0, maximum=0.0)
    """
    share_left = min(1.0, max(0.0, left) / (2 * RESERVE))
    left, increment = available(left), max(0.0, increment) * share_left
    if moves_to_go is None:
        optimum = left / SUDDEN_DEATH_MOVES + 0.85 * increment
        share = LARGEST_SHARE
    else:
        moves = min(max(1, moves_to_go), MOST_MOVES_TO_GO)
        optimum = 0.95 * left / moves + 0.85 * increment
        share = LAST_MOVE_SHARE if moves == 1 else LARGEST_SHARE if moves > 2 else 0.6
    maximum = min(share * left, LONGEST_STRETCH * optimum)
    return Allocation(min(optimum, maximum), maximum)


@dataclass(frozen=True, slots=True)
class Look:
    """What a search says when somebody looks at it."""

    elapsed: float
    """Seconds since the clock began to run."""
    simulations: int
    best_move: str
    value: float
    """Value of the position for the side to move."""
    visits: Sequence[tuple[str, int]]
    """Moves with their visits."""


class Pace:
    """The course of one move: told what the search finds, it says until when to go on.

    More time when the best move wavers, when the move to play is not the most visited one, or when the value
    has dropped since the last move; no more when nothing can catch up with the best move any longer.
    """

    def __init__(self, allocation: Allocation, last_value: float | None = None) -> None:
        self.allocation = allocation
        self._last_value = last_value
        self._best: str | None = None
        self._changes = 0.0
        self._seen = 0.0

    def until(self, look: Look) -> float:
        """The second at which to stop; one that has passed means now."""
        if self._best is not None:
            # A change counts half once twice the time has passed since.
            faded = self._seen / look.elapsed if look.elapsed > self._seen else 1.0
            self._changes = self._changes * faded + (look.best_move != self._best)
        self._best, self._seen = look.best_move, max(self._seen, look.elapsed)
        target = min(self.allocation.maximum, self.allocation.optimum * self._stretch(look))
        return 0.0 if self._is_settled(look, target) else target

    def _stretch(self, look: Look) -> float:
        stretch = 0.85 + 0.6 * min(2.0, self._changes)
        most = max(look.visits, key=lambda row: row[1], default=(look.best_move, 0))[0]
        if most != look.best_move:
            stretch *= 1.3
        if self._last_value is not None:
            stretch *= 1.0 + min(1.0, 4.0 * max(0.0, self._last_value - look.value))
        return stretch

    def _is_settled(self, look: Look, target: float) -> bool:
        """Whether the most visited move is the one to play and cannot lose its place until the end."""
        if look.elapsed <= 0.0 or look.simulations <= 0 or not look.visits:
            return False
        ordered = sorted((visits for _, visits in look.visits), reverse=True)
        leads = dict(look.visits).get(look.best_move, 0) == ordered[0]
        rest = ordered[1] if len(ordered) > 1 else 0
        to_come = look.simulations / look.elapsed * max(0.0, target - look.elapsed)
        return leads and ordered[0] - rest > to_come
