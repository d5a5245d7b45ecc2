"""The threads that search: one search on each with evaluators of the core, and a thread more than searches
are to run at once, if that is more than one; one thread for all searches that share batches.

They take what waits when its turn comes, and report what they found. They know no messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread, Timer

from anabranch.result import Progress, Result
from anabranch.serve.answers import Findings
from anabranch.serve.batches import search_together
from anabranch.serve.engines import EngineKind
from anabranch.serve.signals import Signals
from anabranch.serve.waiting import Analysis, Waiting

STOP_AGAIN = 0.02
"""Seconds after which a search is stopped again: a stop just before it begins is lost."""


class Workers:
    """Threads for the analyses of a service."""

    def __init__(
        self,
        waiting: Waiting,
        signals: Signals,
        on_found: Callable[[Analysis, Findings | None], None],
        threads: int,
        batch: int,
    ) -> None:
        self._waiting = waiting
        self._signals = signals
        self._on_found = on_found
        self._at_once = threads
        self._sizes = (threads + (threads > 1), 1)
        self._batch = batch
        self._closing = False
        self._started = [False, False]
        self._threads: list[Thread] = []
        self._begun = [0, 0]
        self._timed = 0

    @property
    def running(self) -> int:
        """Searches that have begun."""
        return sum(self._begun)

    def start(self, *, outside: bool) -> None:
        """Start the threads for evaluators of the core, or for outside ones, if they are not there yet."""
        if self._started[outside]:
            return
        self._started[outside] = True
        for _ in range(self._sizes[outside]):
            work = self._run_batches if outside else self._run_seat
            thread = Thread(target=work, name="anabranch-serve", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self, analysis: Analysis) -> None:
        """Stop the search of an analysis. One in shared batches ends by itself when it is cancelled."""
        with self._signals.lock:
            if analysis.engine is None:
                return
            analysis.engine.stop()
        timer = Timer(STOP_AGAIN, self.stop, [analysis])
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        """End the threads. All analyses are cancelled already."""
        with self._signals.lock:
            self._closing = True
            self._signals.work.notify_all()
        for thread in self._threads:
            thread.join()

    def _take(self, outside: bool) -> Analysis | None:
        """The next analysis, when there is one; none when all is to end."""
        with self._signals.lock:
            while not self._closing:
                if (analysis := self._next(outside)) is not None:
                    return analysis
                self._signals.work.wait()
        return None

    def _next(self, outside: bool, kind: EngineKind | None = None) -> Analysis | None:
        """The next analysis if one may begin. A search more than there are threads begins only if no search
        has a limit on time: it keeps the cores busy while the result of another is written. Called with the
        lock.
        """
        is_full = not outside and self._begun[outside] >= self._at_once
        if is_full and self._timed:
            return None
        analysis = self._waiting.next(outside, kind, untimed=is_full)
        if analysis is not None:
            self._begun[outside] += 1
            self._timed += analysis.is_timed
            self._signals.room.notify_all()
        return analysis

    def _take_same(self, first: Analysis) -> Analysis | None:
        """Another analysis for the same batches, if its turn has come."""
        with self._signals.lock:
            return None if self._closing else self._next(True, first.kind)

    def _report(self, analysis: Analysis, found: Findings | None) -> None:
        if isinstance(found, Result) or not isinstance(found, Progress):
            with self._signals.lock:
                self._begun[analysis.kind.is_outside] -= 1
                self._timed -= analysis.is_timed
                self._signals.work.notify_all()
        self._on_found(analysis, found)

    def _run_seat(self) -> None:
        while (analysis := self._take(outside=False)) is not None:
            found: Findings
            try:
                found = self._search(analysis)
            except Exception as error:  # an answer too, and the thread goes on
                found = error
            self._report(analysis, found)

    def _search(self, analysis: Analysis) -> Result:
        query, engine = analysis.query, analysis.kind.take()
        progress, interval = None, 0.5
        if query.progress is not None:
            progress, interval = _AtIntervals(query.progress, analysis, self._report), query.progress / 4
        try:
            engine.reset(analysis.position)
            with self._signals.lock:
                analysis.engine = engine
                if analysis.is_cancelled:
                    self.stop(analysis)
            return engine.search(
                limits=query.limits, lines=query.lines, progress=progress, progress_interval=interval
            )
        finally:
            with self._signals.lock:
                analysis.engine = None
            analysis.kind.give_back(engine)

    def _run_batches(self) -> None:
        while (analysis := self._take(outside=True)) is not None:
            try:
                self._search_together(analysis)
            except Exception as error:  # its engine cannot be made, and the thread goes on
                self._report(analysis, error)

    def _search_together(self, first: Analysis) -> None:
        engine = first.kind.take()
        batches = engine._shared_batches(self._batch)
        try:
            search_together(
                first, batches, lambda: self._take_same(first), self._report, lambda: self._closing
            )
        finally:
            batches.close()
            first.kind.give_back(engine)


class _AtIntervals:
    """Passes reports of an engine on, one in each interval."""

    def __init__(
        self, interval: float, analysis: Analysis, report: Callable[[Analysis, Findings | None], None]
    ) -> None:
        self._interval = interval
        self._analysis = analysis
        self._report = report
        self._next = time.monotonic() + interval

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self._interval
            self._report(self._analysis, progress)
