"""Clocks and budgets: how long to think about a move, and when to stop earlier or go on longer.

Pure arithmetic on seconds and on what a search reports; it reads no clock. Two numbers rule a
move: the optimum, which is spent when nothing happens, and the maximum, which is never exceeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAME_LENGTH = 45
"""Own moves of an ordinary game of chess, and of a variant of which nothing else is known."""
GAME_LENGTHS = {"crazyhouse": 32}
FURTHEST = 60.0
"""The most moves that the clock is spread over."""
LARGEST_SHARE = 0.4
"""Share of the clock that one move may take at most."""
LAST_MOVE_SHARE = 0.85
"""The same for the last move before the clock is set again."""
LONGEST_STRETCH = 5.0
"""Maximum over the fair share of a move."""
INCREMENT_SHARE = 0.95
"""Share of the increment that a move spends."""
LARGEST_DELAY = 0.5
"""Seconds that a single delay counts for at most."""
RESERVE = 0.15
"""Seconds that are kept on a clock that has more than twice as many: machines are late now and then."""
LARGEST_RESERVE = 1.0
DELAYS_IN_RESERVE = 10.0
"""How often the longest recent delay fits into the reserve, where that is more."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Time for one move, in seconds."""

    optimum: float
    maximum: float


def available(left: float, reserve: float = RESERVE) -> float:
    """What may be planned with: the clock less the reserve, and less and less of it near the end.

    >>> [round(available(left), 3) for left in (10.0, 0.15, 0.05, 0.0)]
    [9.85, 0.037, 0.004, 0.0]
    """
    left = max(0.0, left)
    return left - reserve if left > 2 * reserve else left * left / (4 * reserve)


def horizon(played: int, variant: str = "chess") -> float:
    """Over how many moves the clock is spread after so many own moves.

    It shrinks until an ordinary game ends, so that a tenth of the clock is left there, and grows after that:
    a game that has lasted long may last as long again. It is shorter than what is left of the game, so the
    first moves get more time than the last ones.

    >>> [round(horizon(played)) for played in (0, 20, 40, 60, 120)]
    [29, 22, 20, 30, 60]
    """
    length = GAME_LENGTHS.get(variant, GAME_LENGTH)
    return min(FURTHEST, max(0.64 * length - 0.35 * played, 0.5 * played))


def allocate(
    left: float,
    increment: float = 0.0,
    moves_to_go: int | None = None,
    *,
    played: int = 0,
    variant: str = "chess",
    overhead: float = 0.0,
    lost: float | None = None,
    reserve: float = RESERVE,
    use: float = 1.0,
) -> Allocation:
    """Time for one move from what is left on the clock.

    The fair share of the move is the clock over the moves to come, and the increment, less what a move loses
    to delays on average: `lost`, or the overhead unless it is given. `overhead` is kept for this move. `use`
    is the share of the optimum that moves take on average: the optimum is as much above the fair share, so
    that what early stops save is spent.

    >>> allocate(60.0, 1.0)
    Allocation(optimum=3.0..., maximum=15.1...)
    >>> allocate(60.0, 1.0, use=0.5).optimum / allocate(60.0, 1.0).optimum
    2.0
    >>> allocate(0.0)
    Allocation(optimum=0.0, maximum=0.0)
    """
    left = max(0.0, left - overhead)
    lost = overhead if lost is None else lost
    gain = INCREMENT_SHARE * max(0.0, increment) * min(1.0, left / (2 * reserve))
    left = available(left, reserve)
    moves = horizon(max(0, played), variant)
    share = LARGEST_SHARE
    if moves_to_go is not None:
        to_go = max(1, moves_to_go)
        moves = min(moves, to_go + min(to_go / 2, 3.0))
        share = LAST_MOVE_SHARE if to_go == 1 else 0.6 if to_go == 2 else LARGEST_SHARE
    fair = max(0.25 * left / moves, left / moves + gain - lost)
    maximum = min(share * left, LONGEST_STRETCH * fair)
    return Allocation(min(fair / use, maximum), maximum)


class ClockHistory:
    """How the clock of a game has been used so far, for the next allocation."""

    def __init__(self) -> None:
        self._use = 0.8
        self._lost: float | None = None
        self._expected: float | None = None
        self._late = 0.0
        self._delay = 0.0

    @property
    def use(self) -> float:
        """The share of their optimum that moves take, over the last ten or so.

        Within reason: a row of short searches must not make the next one take the whole clock.
        """
        return min(1.25, max(0.35, self._use))

    def lost(self, overhead: float) -> float:
        """Seconds that a move loses to delays, inside the engine and outside: the overhead until known."""
        return overhead if self._lost is None else self._lost

    @property
    def reserve(self) -> float:
        """Seconds to keep on the clock: more where moves have been late recently."""
        return min(LARGEST_RESERVE, max(RESERVE, DELAYS_IN_RESERVE * self._delay))

    def begin(self, left: float) -> None:
        """A move begins with so much on the clock."""
        if self._expected is None:
            return
        outside = self._expected - left
        self._expected = None
        if not -0.01 <= outside <= 10.0:
            return  # the clock was set anew
        delay = min(LARGEST_DELAY, self._late + max(0.0, outside))
        self._lost = delay if self._lost is None else self._lost + 0.25 * (delay - self._lost)
        self._delay = max(0.9 * self._delay, delay)

    def end(self, optimum: float, spent: float, left: float, late: float = 0.0) -> None:
        """A move has been made.

        It took so long, where the optimum was so long, and came so much later than it was meant to. So much
        should be on the clock when the next one begins.
        """
        if optimum > 0.0:
            self._use += 0.1 * (min(LONGEST_STRETCH, max(0.0, spent - late) / optimum) - self._use)
        self._expected, self._late = left, max(0.0, late)


@dataclass(frozen=True, slots=True)
class SearchState:
    """What is known of a search while it goes on."""

    elapsed: float
    """Seconds since the clock began to run."""
    simulations: int
    best_move: str
    value: float
    """Value of the position for the side to move."""
    visits: Sequence[tuple[str, int]]
    """Moves with their visits."""


EARLIEST = 0.15
"""Share of the optimum before which no search ends because it is settled: its speed is not known yet, and
searches begin slowly."""


class TimeManager:
    """Decides when the search for one move ends, from what the search reports.

    More time when the best move wavers, when the move to play is not the most visited one, or when the value
    has dropped since the last move; no more when nothing can catch up with the best move any longer.
    """

    def __init__(self, allocation: Allocation, last_value: float | None = None) -> None:
        self.allocation = allocation
        self._last_value = last_value
        self._best: str | None = None
        self._changes = 0.0
        self._seen = 0.0
        self._first: SearchState | None = None

    def stop_time(self, state: SearchState) -> float:
        """The second at which to stop; one that has passed means now."""
        self._first = self._first or state
        if self._best is not None:
            # A change counts half once twice the time has passed since.
            faded = self._seen / state.elapsed if state.elapsed > self._seen else 1.0
            self._changes = self._changes * faded + (state.best_move != self._best)
        self._best, self._seen = state.best_move, max(self._seen, state.elapsed)
        target = min(self.allocation.maximum, self.allocation.optimum * self._stretch(state))
        return 0.0 if self._is_settled(state, target) else target

    def _stretch(self, state: SearchState) -> float:
        stretch = 0.85 + 0.6 * min(2.0, self._changes)
        most = max(state.visits, key=lambda row: row[1], default=(state.best_move, 0))[0]
        if most != state.best_move:
            stretch *= 1.3
        if self._last_value is not None:
            stretch *= 1.0 + min(1.0, 4.0 * max(0.0, self._last_value - state.value))
        return stretch

    def _is_settled(self, state: SearchState, target: float) -> bool:
        """Whether the most visited move is the one to play and cannot lose its place until the end."""
        early = state.elapsed < min(target, EARLIEST * self.allocation.optimum)
        if early or state.elapsed <= 0.0 or state.simulations <= 0 or not state.visits:
            return False
        ordered = sorted((visits for _, visits in state.visits), reverse=True)
        leads = dict(state.visits).get(state.best_move, 0) == ordered[0]
        rest = ordered[1] if len(ordered) > 1 else 0
        to_come = self._speed(state) * max(0.0, target - state.elapsed)
        return leads and ordered[0] - rest > to_come

    def _speed(self, state: SearchState) -> float:
        """Simulations in a second: since the first report if that is more, to leave out a slow start."""
        speed = state.simulations / state.elapsed
        if self._first is not None and state.elapsed > self._first.elapsed:
            since = state.elapsed - self._first.elapsed
            speed = max(speed, (state.simulations - self._first.simulations) / since)
        return speed
