"""A pool: processes that do jobs, watched by the one that started them.

A job is a picklable description, work a function of it that can be pickled too. A worker that dies is
replaced and its job given out again; when the watcher ends, however it ends, the workers end too. Results
come in any order. What a job is about is not known here.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple, TypeVar

from anabranch.errors import AnabranchError, MatchError

LIVES = 3
"""Workers that may die over a job."""

Job = TypeVar("Job")
Done = TypeVar("Done")


class _Failure(NamedTuple):
    """What a worker says when it cannot go on."""

    message: str


def run_jobs(
    work: Callable[[Job], Done],
    jobs: Iterable[Job],
    workers: int,
    take: Callable[[Done], bool],
    leave: Callable[[], object] | None = None,
) -> None:
    """Do all jobs, or until `take`, which is given every result, says that it has enough."""
    with contextlib.closing(results_of(work, jobs, workers, leave)) as results:
        for done in results:
            if not take(done):
                break


def check_workers(workers: int) -> None:
    """Refuse a number of workers that there cannot be."""
    if workers < 0:
        raise MatchError(f"there cannot be {workers} workers")


def results_of(
    work: Callable[[Job], Done],
    jobs: Iterable[Job],
    workers: int,
    leave: Callable[[], object] | None = None,
) -> Generator[Done]:
    """The results of all jobs as they come. Who has enough closes it, which ends the workers.

    With no workers this process does them. `leave` is called in a worker, or here, before it ends.
    """
    check_workers(workers)
    if workers == 0:
        try:
            for job in jobs:
                yield work(job)
        finally:
            if leave is not None:
                leave()
        return
    yield from _Pool(work, leave).run(iter(jobs), workers)


class _Pool:
    def __init__(self, work: Callable[[Job], Done], leave: Callable[[], object] | None) -> None:
        self._work = work
        self._leave = leave
        self._crew: dict[Connection, tuple[SpawnProcess, object, int]] = {}

    def run(self, waiting: Iterator[Job], workers: int) -> Generator[Any]:
        try:
            for first in islice(waiting, workers):
                self._hire(first, 0)
            while self._crew:
                for ready in wait(list(self._crew), timeout=1.0):
                    assert isinstance(ready, Connection)
                    process, job, deaths = self._crew[ready]
                    try:
                        done = ready.recv()
                    except (EOFError, OSError):
                        self._replace(ready, process, job, deaths + 1)
                        continue
                    if isinstance(done, _Failure):
                        raise MatchError(done.message)
                    try:
                        self._give(ready, process, next(waiting))
                    except StopIteration:
                        self._release(ready, process)
                    yield done
        finally:
            self._dismiss()

    def _hire(self, job: object, deaths: int) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._work, self._leave, theirs), daemon=True)
        with unheard():
            process.start()
        theirs.close()
        self._give(ours, process, job, deaths)

    def _give(self, connection: Connection, process: SpawnProcess, job: object, deaths: int = 0) -> None:
        self._crew[connection] = (process, job, deaths)
        with contextlib.suppress(OSError):  # one that has just died is noticed when it is listened to
            connection.send(job)

    def _replace(self, connection: Connection, process: SpawnProcess, job: object, deaths: int) -> None:
        self._release(connection, process)
        if deaths >= LIVES:
            raise MatchError(f"{LIVES} workers died over the same job")
        self._hire(job, deaths)

    def _release(self, connection: Connection, process: SpawnProcess) -> None:
        del self._crew[connection]
        connection.close()
        process.join()

    def _dismiss(self) -> None:
        """End all workers; they get a moment to end what they started."""
        for process, _, _ in self._crew.values():
            process.terminate()
        for connection, (process, _, _) in self._crew.items():
            process.join(5.0)
            if process.is_alive():
                process.kill()
                process.join()
            connection.close()
        self._crew.clear()


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C, which a terminal sends to all, before they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it is started with the first process, and lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _serve(work: Callable[[Job], Done], leave: Callable[[], object] | None, connection: Connection) -> None:
    """The life of a worker: jobs in, results out, or the reason why there are none."""
    ignore_interrupts()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, jobs, leave), daemon=True).start()
    try:
        while True:
            connection.send(work(jobs.get()))
    except BrokenPipeError:
        pass
    except AnabranchError as error:
        connection.send(_Failure(str(error)))
    except Exception:
        connection.send(_Failure(f"a worker failed: {traceback.format_exc(limit=-3)}"))
    finally:
        if leave is not None:
            leave()


def _listen(connection: Connection, jobs: queue.SimpleQueue[Job], leave: Callable[[], object] | None) -> None:
    """Take jobs; when the watcher is gone, so are we."""
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        if leave is not None:
            with contextlib.suppress(Exception):
                leave()
        os._exit(0)
