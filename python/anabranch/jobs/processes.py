"""Jobs done by processes of this machine, watched by the one that started them.

A worker that dies is replaced and its job given out again. When the watcher ends, however it ends, the
workers end too. `Processes` of `anabranch.jobs.executor` is the way in.
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
from types import FrameType
from typing import Any, NamedTuple, NoReturn, TypeVar

from anabranch.errors import AnabranchError, JobError, WorkerError

LIVES = 3
"""Attempts per job before it fails."""

Job = TypeVar("Job")
Done = TypeVar("Done")


class WorkerFailure(NamedTuple):
    """What a worker returns in place of a result when a job cannot be done."""

    message: str


def attempt(work: Callable[[Job], Done], job: Job) -> Done | WorkerFailure:
    """Do a job in a worker."""
    try:
        return work(job)
    except AnabranchError as error:
        return WorkerFailure(str(error))
    except Exception:
        return WorkerFailure(f"a worker failed: {traceback.format_exc(limit=-3)}")


def check_workers(workers: int) -> None:
    """Refuse a number of workers that there cannot be."""
    if workers < 0:
        raise JobError(f"there cannot be {workers} workers")


def run_processes(
    work: Callable[[Job], Done], jobs: Iterable[Job], workers: int, at_exit: Callable[[], object] | None
) -> Generator[Done]:
    """The results of all jobs as they come. With no workers this process does them."""
    check_workers(workers)
    if workers == 0:
        try:
            for job in jobs:
                yield work(job)
        finally:
            if at_exit is not None:
                at_exit()
        return
    yield from _Pool(work, at_exit).run(iter(jobs), workers)


class _Pool:
    """Worker processes by their pipes: each with its job, and how many workers died over that."""

    def __init__(self, work: Callable[[Any], Any], at_exit: Callable[[], object] | None) -> None:
        self._work = work
        self._at_exit = at_exit
        self._workers: dict[Connection, tuple[SpawnProcess, object, int]] = {}

    def run(self, waiting: Iterator[Any], workers: int) -> Generator[Any]:
        try:
            for first in islice(waiting, workers):
                self._start(first, 0)
            while self._workers:
                for ready in wait(list(self._workers), timeout=1.0):
                    assert isinstance(ready, Connection)
                    process, job, deaths = self._workers[ready]
                    try:
                        done = ready.recv()
                    except (EOFError, OSError):
                        self._replace(ready, process, job, deaths + 1)
                        continue
                    if isinstance(done, WorkerFailure):
                        raise WorkerError(done.message)
                    try:
                        self._give(ready, process, next(waiting))
                    except StopIteration:
                        self._release(ready, process)
                    yield done
        finally:
            self._end()

    def _start(self, job: object, deaths: int) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._work, self._at_exit, theirs), daemon=True)
        with interrupts_blocked():
            process.start()
            theirs.close()
            self._give(ours, process, job, deaths)

    def _give(self, connection: Connection, process: SpawnProcess, job: object, deaths: int = 0) -> None:
        self._workers[connection] = (process, job, deaths)
        with contextlib.suppress(OSError):  # one that has just died is noticed when its result is read
            connection.send(job)

    def _replace(self, connection: Connection, process: SpawnProcess, job: object, deaths: int) -> None:
        self._release(connection, process)
        if deaths >= LIVES:
            raise WorkerError(f"{LIVES} workers died over the same job")
        self._start(job, deaths)

    def _release(self, connection: Connection, process: SpawnProcess) -> None:
        del self._workers[connection]
        connection.close()
        process.join()

    def _end(self) -> None:
        """End all workers; they get a moment to end what they started."""
        for process, _, _ in self._workers.values():
            process.terminate()
        for connection, (process, _, _) in self._workers.items():
            process.join(5.0)
            if process.is_alive():
                process.kill()
                process.join()
            connection.close()
        self._workers.clear()


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Processes started here do not get Ctrl-C, which a terminal sends to all, before they ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # it is started with the first process, and lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        with _interrupts_deferred():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Ctrl-C takes effect at the end. The mask of one thread is not enough: the signal may reach another
    thread, and Python handles it in the main thread all the same.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _serve(work: Callable[[Any], Any], at_exit: Callable[[], object] | None, connection: Connection) -> None:
    """The main function of a worker: jobs in, results out, until one cannot be done."""
    _ignore_interrupts()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs, at_exit), daemon=True).start()
    try:
        done: object = None
        while not isinstance(done, WorkerFailure):
            done = attempt(work, jobs.get())
            connection.send(done)
    except (BrokenPipeError, SystemExit):  # the latter by SIGTERM
        pass
    except BaseException:
        if at_exit is not None:
            at_exit()
        raise
    # The runtime of a network aborts if Python ends while it evaluates.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_now(at_exit)


def _end_now(at_exit: Callable[[], object] | None) -> NoReturn:
    """End this process, whatever its threads do."""
    if at_exit is not None:
        with contextlib.suppress(Exception):
            at_exit()
    os._exit(0)


def _receive(
    connection: Connection, jobs: queue.SimpleQueue[Any], at_exit: Callable[[], object] | None
) -> None:
    """Take jobs; when the watcher is gone, end this process."""
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        _end_now(at_exit)
