"""The lock of a service, and what its threads wait for. Each wait has a condition of its own, so that an
answer wakes only the threads that it concerns.
"""

from __future__ import annotations

from threading import Condition, RLock


class Signals:
    """One lock with three conditions."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.work = Condition(self.lock)
        """An analysis may begin, or all is to end: for the threads that search."""
        self.room = Condition(self.lock)
        """A client may send another message."""
        self.drained = Condition(self.lock)
        """All queries of a client are answered."""

    def notify_all(self) -> None:
        """Wake everybody. Called with the lock."""
        for condition in (self.work, self.room, self.drained):
            condition.notify_all()
