"""The Python loop: collect, evaluate, apply, until a limit, a proof or a stop ends it; for evaluators that
live in Python.

Collections and applications come in the order of the Rust loop, so both make the same graph. Two threads
share the work. The evaluator's thread evaluates, and does the rest as well while evaluations are quick,
because handing over would cost more than it gains; when they are slow, the calling thread applies one batch
and collects the next meanwhile. The calling thread never waits for an evaluation longer than a slice of
time: on a stop, at the deadline and on Ctrl-C it ends the search, and a late evaluation is dropped.
Nothing here knows positions or networks.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import GameError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.call import Arrays, EvaluatorCall, LeafText, planes_version, takes_positions
from anabranch.limits import Limits

SLICE = 0.01
"""Longest wait in seconds between two checks of the stop flag."""
SHORT_SLICE = 0.002
"""The same where a change of the best move is reported at once."""
SLOW = 0.0005
"""An evaluation that takes longer, in seconds, is worth a second thread."""


class EvaluatorThread:
    """The thread in which an evaluator runs, one for the life of an engine, so that no evaluator is ever
    called by two threads at once.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._started = False
        weakref.finalize(self, self._jobs.put, None)

    def submit(self, job: Callable[[], None]) -> None:
        """Do this next. Never waits."""
        self._jobs.put(job)
        if not self._started:
            self._started = True  # before the start, so that an interrupt never leaves two of them
            Thread(target=_serve, args=(self._jobs,), name="anabranch-evaluator", daemon=True).start()


def _serve(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # it holds a session, which may be the last reference


class _Batch:
    """A mini-batch on its way from collection to application; it is used again for later ones."""

    __slots__ = ("_is_kept", "answer", "leaves", "planes", "size")

    def __init__(self, planes: NDArray[np.float32] | None) -> None:
        self.size = 0
        self.planes = planes
        self.leaves: list[LeafText] = []
        self.answer: Arrays | None = None
        self._is_kept = False

    def keep_answer(self) -> None:
        """Copy the answer: an evaluator may use its arrays again for the next one."""
        if self.answer is not None and not self._is_kept:
            values, logits = self.answer
            self.answer, self._is_kept = (values.copy(), logits.copy()), True

    def set_answer(self, answer: Arrays | None) -> None:
        """Set the answer, or forget it."""
        self.answer, self._is_kept = answer, False


class Loop:
    """One search with a Python evaluator."""

    def __init__(self, session: _core.Session, evaluator: AnyEvaluator, limits: Limits) -> None:
        self._session = session
        self._limits = limits
        self._takes_positions = takes_positions(evaluator)
        self._version = planes_version(evaluator)
        _, policy_size = session.shape(self._version)
        self._call = EvaluatorCall(evaluator, policy_size)
        settings = session.settings()
        shape = (settings["batch_size"], *session.plane_shape(self._version))
        # One more than are ever under way; the one used last comes first, while caches still hold it.
        self._spare = [
            _Batch(None if self._takes_positions else np.empty(shape, np.float32))
            for _ in range(settings["batches_in_flight"] + 1)
        ]
        # Everything below is guarded by the lock.
        self._lock = Lock()
        self._waiting: deque[_Batch] = deque()  # collected, not yet evaluated
        self._flying: deque[_Batch] = deque()  # collected, not yet applied
        self._must_apply = False
        self._finish: str | None = None
        self._ended = False
        self._left = False
        self._error: BaseException | None = None
        # The evaluator's thread is busy for long, or the search has ended: wakes the calling thread.
        self._wake = Event()

    def run(
        self,
        thread: EvaluatorThread,
        progress: Callable[[dict[str, Any]], object] | None = None,
        interval: float = 0.5,
        lines: int = 8,
    ) -> str:
        """Search to the end; the word for why it ended. The engine's own thread calls this.

        `progress` gets a report every `interval` seconds, and as soon as another move would be chosen.
        """
        limits, session = self._limits, self._session
        begun = time.monotonic()
        session.begin(**limits.for_core())
        deadline = None if limits.time is None else begun + limits.time
        next_report = begun + interval
        slice_, best = SLICE if progress is None else SHORT_SLICE, None
        cut_short: str | None = None
        try:
            thread.submit(self._work)
            while True:
                wait = slice_ if deadline is None else max(0.0, min(slice_, deadline - time.monotonic()))
                is_woken = self._wake.wait(wait)
                self._wake.clear()
                now = time.monotonic()
                if self._ended:
                    break
                if session.is_stopped():
                    cut_short = "stopped"
                    break
                if deadline is not None and now >= deadline:
                    cut_short = "time"
                    break
                if is_woken:
                    with self._lock:
                        if not self._ended:
                            self._advance(False)
                    if self._is_over():
                        break
                if progress is None:
                    continue
                with self._lock:
                    is_changed = session.best_move() not in (best, None)
                    report = session.report(lines, "off") if is_changed or now >= next_report else None
                if report is not None:
                    next_report, best = now + interval, report["best_move"]
                    progress(report)
        finally:
            self._leave()
        if self._error is not None and (cut_short is None or isinstance(self._error, GameError)):
            raise self._error
        session.check_choice()
        if cut_short is not None:
            return cut_short
        assert self._finish is not None
        if self._finish == "solved":
            self._conclude(progress, lines)
        return self._finish

    def _conclude(self, progress: Callable[[dict[str, Any]], object] | None, lines: int) -> None:
        """Look for a shorter proof, with the setting `improve`. The proof is reported before, and again if it
        has changed.
        """
        if progress is None or not self._session.settings()["improve"]:
            self._session.conclude()
            return
        report = self._session.report(lines, "off")
        progress(report)
        self._session.conclude()
        improved = self._session.report(lines, "off")
        if improved["solved"] != report["solved"]:
            progress(improved)

    def _is_over(self) -> bool:
        """Whether the search has ended, by either thread."""
        return self._ended

    def _leave(self) -> None:
        """Take the session back. What is still being evaluated is given up."""
        if not self._ended:
            self._session.stop()  # ends a collection in the other thread
        with self._lock:
            self._left = True
            self._session.abandon()

    def _work(self) -> None:
        """Evaluate until the search has ended: what the evaluator's thread does."""
        try:
            batch, is_slow = self._next(None, None, False), False
            while batch is not None:
                begun = time.perf_counter()
                answer = self._evaluate(batch)
                is_slow = time.perf_counter() - begun > SLOW
                batch = self._next(batch, answer, is_slow)
        except BaseException as error:
            self._error = error
            self._ended = True
        finally:
            self._wake.set()

    def _next(self, done: _Batch | None, answer: Arrays | None, is_slow: bool) -> _Batch | None:
        """Take the answer for a batch; the next one to evaluate, or none when the search is over."""
        with self._lock:
            if self._left:
                return None
            if done is not None:
                done.set_answer(answer)
            if not (is_slow and self._waiting):
                try:
                    self._advance(True)
                except GameError as error:
                    # It has stopped the search, and the other thread must not take that for a stop.
                    self._error, self._ended = error, True
            if self._ended:
                return None
            for batch in self._flying:
                if batch.answer is not None:
                    batch.keep_answer()
            if is_slow:
                self._wake.set()  # the other thread goes on meanwhile
            return self._waiting.popleft()

    def _advance(self, until_waiting: bool) -> None:
        """Collect and apply in the order of the Rust loop, until an evaluation is missing; or until there is
        something to evaluate. Called with the lock.
        """
        waiting, flying = self._waiting, self._flying
        while True:
            if self._must_apply or (self._finish is not None and flying):
                batch = flying[0]
                if batch.answer is None:
                    return
                self._session.apply(*batch.answer)
                batch.set_answer(None)
                self._spare.append(flying.popleft())
                self._must_apply = False
            elif self._finish is not None:
                self._ended = True
                return
            elif until_waiting and waiting:
                return
            else:
                self._collect()

    def _collect(self) -> None:
        batch = self._spare[-1]
        size, self._must_apply, finish = self._session.collect(batch.planes, self._version)
        if finish is not None:
            self._finish = finish
            if finish in ("stopped", "time"):
                self._flying.clear()
                self._waiting.clear()
        if size:
            batch.size = size
            if self._takes_positions:
                batch.leaves = self._session.newest_leaves()
            self._waiting.append(batch)
            self._flying.append(self._spare.pop())

    def _evaluate(self, batch: _Batch) -> Arrays:
        planes = batch.planes
        if planes is None:
            return self._call.of_leaves(batch.leaves)
        return self._call.of_planes(planes if len(planes) == batch.size else planes[: batch.size])
