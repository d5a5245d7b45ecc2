"""When a search has to end: by `movetime`, by the clock, or soon after a proof. Arithmetic on times of
`time.monotonic`; threads and locks are in `search`.
"""

from __future__ import annotations

from anabranch.clock import SearchState, TimeManager
from anabranch.result import Progress
from anabranch.uci.commands import Go
from anabranch.uci.terms import ENDLESS, Terms

BRIEF = 0.04
"""Seconds of a search that ends by itself: a thread that keeps the time would cost more than it gains."""
SHORTENING = 0.1
"""Seconds for the search for a shorter mate once there is one."""


class Deadline:
    """The time at which one search ends; it moves with what the search finds."""

    def __init__(self, go: Go, now: float) -> None:
        self.at: float | None = None
        """The deadline; `None` while there is none."""
        self.is_pondering = go.ponder
        self.begun = now
        self.clock_from = now
        """When our clock began to run."""
        self._is_endless = go.is_endless
        self._due: float | None = None
        self._movetime: float | None = None
        self._stops_when_solved = False
        self._is_solved = False
        self._manager: TimeManager | None = None

    def start(self, terms: Terms) -> None:
        """The terms of the search are known."""
        self._movetime = terms.movetime
        self._stops_when_solved = not self._is_endless and terms.limits.mate is None
        if terms.allocation is not None:
            self._manager = TimeManager(terms.allocation, terms.last_value)
        self._set()

    def ponderhit(self, now: float) -> None:
        """The expected move was played: our clock runs from now on."""
        self.is_pondering = False
        self.clock_from = now
        self._set()

    def longest(self, now: float) -> float:
        """Seconds after which the search ends by itself, without a thread that wakes up for it."""
        if self.is_pondering or self._is_endless:
            return ENDLESS
        ends = [] if self._movetime is None else [self._movetime]
        if self._manager is not None:
            given = self._manager.allocation
            ends.append(given.optimum if given.maximum < BRIEF else given.maximum)
        return max(1e-4, self.clock_from + min(ends) - now) if ends else ENDLESS

    @property
    def report_interval(self) -> float:
        """Seconds between two reports of the search."""
        if self._manager is None:
            return 0.1
        return min(0.1, max(0.002, self._manager.allocation.optimum / 8))

    def update(self, progress: Progress, now: float) -> bool:
        """Move the deadline by what the search reports; whether it has moved."""
        if self.is_pondering:
            return False
        before = self.at
        if self._manager is not None:
            self._follow(self._manager, progress, now)
        if progress.solved is not None and self._stops_when_solved and not self._is_solved:
            # The proof is enough to play; a shorter one is worth a moment.
            end = now + SHORTENING
            if self.at is None or end < self.at:
                self._is_solved = True
                self.at = self._due = end
        return self.at != before

    def lateness(self, now: float) -> float:
        """Seconds since the deadline."""
        return max(0.0, now - self._due) if self._due is not None else 0.0

    def _set(self) -> None:
        if self.is_pondering:
            self.at = None
            return
        ends = []
        if self._movetime is not None:
            ends.append(self.clock_from + self._movetime)
        if self._manager is not None:
            # Thinking on the opponent's time counts: the optimum runs from the start, and only the maximum
            # from the moment when our clock did.
            given = self._manager.allocation
            soonest = max(self.begun + given.optimum, self.clock_from)
            ends.append(min(soonest, self.clock_from + given.maximum))
        self.at = self._due = min(ends, default=None)

    def _follow(self, manager: TimeManager, progress: Progress, now: float) -> None:
        """Move the deadline to where the time manager has it."""
        state = SearchState(
            now - self.begun,
            progress.statistics.simulations,
            progress.best_move,
            progress.value,
            [(row.move, row.visits) for row in progress.moves],
        )
        latest = self.clock_from + manager.allocation.maximum
        end = min(self.begun + manager.stop_time(state), latest)
        if self._is_solved and self.at is not None:
            end = min(end, self.at)
        if self._movetime is not None:
            end = min(end, self.clock_from + self._movetime)
        if end != self.at:
            self.at = end
            self._due = max(end, min(now, latest))  # a deadline in the past was due when it was set
