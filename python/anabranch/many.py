"""Many searches at once: positions go in, results come out in their order.

Every search starts from an empty graph and the seed of the settings, so a result is that of a new engine,
whatever runs beside it. Evaluators of the core run on threads of the core, one search on each; the searches
of other evaluators share batches. Positions are read as they are needed, some way ahead of the results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import AnabranchError, GameOverError, MoveError, PositionError, VariantError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.call import Arrays, EvaluatorCall, planes_version, takes_positions
from anabranch.limits import Limits
from anabranch.loop import SLICE, EvaluatorThread
from anabranch.positions import read_position
from anabranch.result import Result, Root, result_of

BATCH = 32
"""Evaluations in a shared batch by default."""
MOST_BATCH = 65536
IN_FLIGHT = 2
"""Shared batches under way: one is collected while the other is evaluated."""
AHEAD = 64
"""Positions that are read ahead at least: quick searches go on beside a long one."""
AHEAD_PER_THREAD = 16

OnDone: TypeAlias = Callable[[int, int | None], object]
"""Called with the number of results so far, and that of all positions where it is known."""
Found: TypeAlias = Result | AnabranchError
Outcome: TypeAlias = dict[str, Any] | Exception
"""What the core found, or why it refused."""

REFUSALS = (PositionError, MoveError, GameOverError, VariantError)
"""Errors that concern one position, and no other one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyRequest:
    """What is the same for all positions."""

    limits: Limits
    lines: int
    batch: int
    total: int | None
    progress: OnDone | None
    return_exceptions: bool

    def order(self) -> _core.Order:
        """The same for the core."""
        return _core.Order(self.lines, **self.limits.for_core())


class _Driver(Protocol):
    """Runs searches."""

    ahead: int
    """Positions that may be given to it beyond the oldest result that is missing."""

    def add(self, number: int, fen: str | None, moves: list[str], /) -> None:
        """Take a position."""

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """What has been found meanwhile, after a wait; nothing only after a stop."""

    def close(self) -> None:
        """End all searches."""


class OnThreads:
    """Searches with an evaluator of the core."""

    def __init__(self, session: _core.Session, request: ManyRequest) -> None:
        threads: int = session.settings()["threads"]
        self.ahead = max(AHEAD, AHEAD_PER_THREAD * threads)
        searches = _core.Searches(session, request.order(), threads)
        self.add, self.outcomes, self.close = searches.add, searches.outcomes, searches.close


class SharedBatches:
    """Searches whose leaves an evaluator of Python gets in shared batches, in its own thread.

    Each search has limits of its own. Searches may be added and cancelled while others go on.
    """

    def __init__(
        self, session: _core.Session, evaluator: AnyEvaluator, thread: EvaluatorThread, batch: int
    ) -> None:
        self._session = session
        self._thread = thread
        self._version = planes_version(evaluator)
        _, policy_size = session.shape(self._version)
        shape = session.plane_shape(self._version)
        self._call = EvaluatorCall(evaluator, policy_size)
        # A batch is closed when the mini-batch of another search might not fit.
        self._rows: int = batch + session.settings()["batch_size"] - 1
        self._buffers: list[NDArray[np.float32] | None] = [
            None if takes_positions(evaluator) else np.empty((self._rows, *shape), np.float32)
            for _ in range(IN_FLIGHT)
        ]
        # Every search under way has a leaf in some batch, so more would only wait.
        self.most = IN_FLIGHT * batch
        self._gather = _core.Gather(session, self.most)
        self.add, self.cancel, self.report = self._gather.add, self._gather.cancel, self._gather.report
        self._flying: deque[NDArray[np.float32] | None] = deque()
        self._answers: SimpleQueue[Arrays | BaseException] = SimpleQueue()

    def step(self) -> list[tuple[int, Outcome]]:
        """Keep batches in flight, and wait a slice of time for an answer of the evaluator; the searches that
        have ended.
        """
        while self._buffers and self._launch():
            pass
        if (found := self._gather.outcomes()) or not self._flying:
            return found
        try:
            answer = self._answers.get(timeout=SLICE)
        except Empty:
            return []
        self._buffers.append(self._flying.popleft())
        if isinstance(answer, BaseException):
            raise answer
        self._gather.apply(*answer)
        return self._gather.outcomes()

    def close(self) -> None:
        """Forget the searches. A late evaluation is dropped."""
        self._session.stop()

    def _launch(self) -> bool:
        """Collect a batch and have it evaluated; false if nothing can be collected now."""
        buffer = self._buffers[-1]
        if buffer is None:
            leaves = self._gather.collect_texts(self._rows)
            if leaves:
                self._submit(lambda: self._call.of_leaves(leaves))
            return bool(leaves)
        size = self._gather.collect(buffer, self._version)
        if size:
            self._submit(lambda: self._call.of_planes(buffer[:size]))
        return bool(size)

    def _submit(self, evaluate: Callable[[], Arrays]) -> None:
        answers = self._answers

        def job() -> None:
            try:
                answers.put(evaluate())
            except BaseException as error:
                answers.put(error)

        self._flying.append(self._buffers.pop())
        self._thread.submit(job)


class InBatches:
    """Searches with an evaluator of Python, all with the same limits."""

    def __init__(
        self, session: _core.Session, request: ManyRequest, evaluator: AnyEvaluator, thread: EvaluatorThread
    ) -> None:
        self._session = session
        self._order = request.order()
        self._batches = SharedBatches(session, evaluator, thread, request.batch)
        self.ahead = max(AHEAD, 2 * self._batches.most)
        self.close = self._batches.close

    def add(self, number: int, fen: str | None, moves: list[str], /) -> None:
        """Take a position."""
        self._batches.add(number, fen, moves, self._order)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """What some searches found that have ended."""
        while not self._session.is_stopped():
            if found := self._batches.step():
                return found
        return []


def run_many(
    session: _core.Session, driver: _Driver, positions: Iterator[object], request: ManyRequest
) -> Generator[Found]:
    """Search positions by a driver. An error of the iterator comes in its place, after the results before
    it.
    """
    variant, chess960 = session.variant()
    found: dict[int, Outcome] = {}
    read = done = 0
    end: Exception | None = None
    try:
        while True:
            while end is None and read - done < driver.ahead:
                try:
                    position = next(positions)
                except Exception as error:
                    end = error
                    break
                try:
                    driver.add(read, *read_position(position, variant, chess960))
                except AnabranchError as error:
                    found[read] = error
                read += 1
            if done == read:
                break
            while done not in found:
                if session.is_stopped():
                    session.raise_fault()
                    return
                found.update(driver.outcomes())
                session.raise_fault()
            outcome = _read_outcome(found.pop(done), done, variant, chess960, request)
            done += 1
            if request.progress is not None:
                request.progress(done, request.total)
            yield outcome
    finally:
        driver.close()
        # Searches that ended later may have met the same fault of a game: it is not one of the next search.
        with suppress(AnabranchError):
            session.raise_fault()
    if end is not None and not isinstance(end, StopIteration):
        raise end


def _read_outcome(outcome: Outcome, number: int, variant: str, chess960: bool, request: ManyRequest) -> Found:
    if isinstance(outcome, REFUSALS):
        if request.return_exceptions:
            return outcome
        raise type(outcome)(f"positions[{number}]: {outcome}") from outcome
    if isinstance(outcome, Exception):
        raise outcome
    return read_result(outcome, variant, chess960, request.lines)


def read_result(outcome: dict[str, Any], variant: str, chess960: bool, lines: int) -> Result:
    """The result of a search that has ended, from what the core found."""
    root = Root(outcome["fen"], variant, chess960, outcome["raw"], outcome["player"])
    return result_of(outcome["report"], root, outcome["elapsed"], lines, outcome["finish"])
