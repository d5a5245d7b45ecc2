"""Where jobs are done: by processes of this machine, or by a Ray cluster of any number of machines.

A job is a picklable description, work an importable function of it; results come in any order, and only the
one who asked writes files. So a worker or a machine that dies loses nothing but its jobs in flight, and they
are given out again. What a job is about is not known here.
"""

from __future__ import annotations

import os
import socket
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from anabranch.errors import AnabranchError, ClusterError
from anabranch.jobs.processes import LIVES, check_workers, results_of
from anabranch.optional import require

Job = TypeVar("Job")
Done = TypeVar("Done")

PATIENCE = 10.0
"""Seconds until the head of a cluster answers."""
AHEAD = 2
"""Jobs that wait on a cluster beyond one for each core, so that no core waits for this process."""


class Executor(Protocol):
    """Somewhere to do jobs."""

    def run(
        self, work: Callable[[Job], Done], jobs: Iterable[Job], leave: Callable[[], object] | None = None
    ) -> Generator[Done]:
        """The results of all jobs as they come; closing it ends the jobs in flight.

        `leave` is called in a worker of this machine before it ends; those of a cluster end with everything
        that they started.
        """


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def executor_of(workers: int | None = None, ray: str | None = None) -> Executor:
    """What two options ask for: so many processes here, or the cluster at an address.

    >>> executor_of(2)
    Processes(workers=2)
    >>> executor_of(ray="head:6379")
    Ray(address='head:6379')
    """
    if ray is None:
        check_workers(workers or 0)
        return Processes(cores() if workers is None else workers)
    if workers is not None:
        raise ClusterError("workers are counted on this machine; a cluster knows its own")
    return Ray(ray)


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes of this machine; with none, this one."""

    workers: int

    def run(
        self, work: Callable[[Job], Done], jobs: Iterable[Job], leave: Callable[[], object] | None = None
    ) -> Generator[Done]:
        """The results of all jobs as they come."""
        return results_of(work, jobs, self.workers, leave)


@dataclass(frozen=True, slots=True)
class Ray:
    """A Ray cluster: the address of its head, `auto` for the one this machine belongs to, or `local`.

    Machines that join while it runs are used, and those that leave are missed by nobody. Each needs this
    package in the same version, and the programs that jobs start.
    """

    address: str

    def run(
        self,
        work: Callable[[Job], Done],
        jobs: Iterable[Job],
        leave: Callable[[], object] | None = None,
    ) -> Generator[Done]:
        """The results of all jobs as they come."""
        ray = require("ray", "cluster")
        with _connected(ray, self.address):
            yield from _Flight(ray, work).run(iter(jobs))


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """A connection to a cluster; one that was there before stays."""
    if ray.is_initialized():
        yield
        return
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        reason = str(error).strip().splitlines()[:1] or ["it said nothing"]
        raise ClusterError(f"there is no Ray cluster at {address}: {reason[0]}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """See that somebody listens there: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


class _Failure(NamedTuple):
    """What a worker says when a job cannot be done."""

    message: str


def _attempt(work: Callable[[Any], Any], job: Any, version: str) -> Any:
    """Do a job on a machine of the cluster."""
    from anabranch import __version__

    if __version__ != version:
        return _Failure(f"a machine of the cluster has anabranch {__version__}, and this one {version}")
    try:
        return work(job)
    except AnabranchError as error:
        return _Failure(str(error))
    except Exception:
        return _Failure(f"a worker failed: {traceback.format_exc(limit=-3)}")


class _Flight:
    """Jobs on a cluster. What is lost is given out again here, and counted, so Ray does not do so itself."""

    def __init__(self, ray: Any, work: Callable[[Any], Any]) -> None:
        self._ray = ray
        self._task = ray.remote(num_cpus=1, max_retries=0)(_attempt)
        self._work = work
        self._jobs: dict[Any, tuple[int, Any]] = {}
        self._deaths: Counter[int] = Counter()

    def run(self, waiting: Iterator[Any]) -> Generator[Any]:
        numbered = enumerate(waiting)
        try:
            self._fill(numbered)
            while self._jobs:
                ready, _ = self._ray.wait(list(self._jobs), num_returns=1, timeout=10.0)
                for reference in ready:
                    number, job = self._jobs.pop(reference)
                    try:
                        done = self._ray.get(reference)
                    except self._ray.exceptions.RayError as error:
                        self._again(number, job, error)
                        continue
                    if isinstance(done, _Failure):
                        raise ClusterError(done.message)
                    self._deaths.pop(number, None)
                    self._fill(numbered)
                    yield done
                self._fill(numbered)
        finally:
            self._cancel()

    def _fill(self, waiting: Iterator[tuple[int, Any]]) -> None:
        """Give out as many jobs as the cluster has cores now, and some more."""
        room = int(self._ray.cluster_resources().get("CPU", 1)) + AHEAD - len(self._jobs)
        for number, job in islice(waiting, max(0, room)):
            self._give(number, job)

    def _give(self, number: int, job: Any) -> None:
        from anabranch import __version__

        self._jobs[self._task.remote(self._work, job, __version__)] = (number, job)

    def _again(self, number: int, job: Any, error: Exception) -> None:
        self._deaths[number] += 1
        if self._deaths[number] >= LIVES:
            reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
            raise ClusterError(f"{LIVES} workers died over the same job: {reason[0]}") from error
        self._give(number, job)

    def _cancel(self) -> None:
        for reference in self._jobs:
            with suppress(Exception):  # the cluster may be gone
                self._ray.cancel(reference, force=True)
        self._jobs.clear()
