"""Jobs done by a Ray cluster of any number of machines.

Jobs that die with a worker or a machine are given out again. Only the process that runs them writes files, so
machines share no disk.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from itertools import islice
from typing import Any

from anabranch.errors import ClusterError, WorkerError
from anabranch.jobs.processes import LIVES, Done, Job, WorkerFailure, attempt
from anabranch.optional import require

TIMEOUT = 10.0
"""Seconds until the head of a cluster answers."""
AHEAD = 2
"""Jobs that wait on a cluster beyond one for each core, so that no core waits for this process."""


@dataclass(frozen=True, slots=True)
class Ray:
    """A Ray cluster: the address of its head, `auto` for the one this machine belongs to, or `local`.

    Machines that join while it runs are used, and the jobs of those that leave are given to others. Each
    machine needs this package in the same version, and the programs that jobs start.
    """

    address: str

    def check(self) -> None:
        """Refuse an address where no program listens."""
        try:
            _check_listening(self.address)
        except OSError as error:
            raise ClusterError(f"there is no Ray cluster at {self.address}: {_reason(error)}") from error

    def run(
        self, work: Callable[[Job], Done], jobs: Iterable[Job], at_exit: Callable[[], object] | None = None
    ) -> Generator[Done]:
        """The results of all jobs as they come."""
        ray = require("ray", "cluster")
        with _connected(ray, self.address):
            yield from _RayJobs(ray, work).run(iter(jobs))


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """A connection to a cluster; one that was there before stays."""
    if ray.is_initialized():
        yield
        return
    try:
        _check_listening(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        raise ClusterError(f"there is no Ray cluster at {address}: {_reason(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_listening(address: str) -> None:
    """Raise `OSError` where no program listens: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT).close()


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _attempt(work: Callable[[Any], Any], job: Any, version: str) -> Any:
    """Do a job on a machine of the cluster."""
    own = metadata.version("anabranch")
    if own != version:
        return WorkerFailure(f"a machine of the cluster has anabranch {own}, and this one {version}")
    return attempt(work, job)


class _RayJobs:
    """Jobs on a cluster. Lost ones are given out again and counted here, so Ray does not do so itself."""

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
                        self._give_again(number, job, error)
                        continue
                    if isinstance(done, WorkerFailure):
                        raise WorkerError(done.message)
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
        self._jobs[self._task.remote(self._work, job, metadata.version("anabranch"))] = (number, job)

    def _give_again(self, number: int, job: Any, error: Exception) -> None:
        self._deaths[number] += 1
        if self._deaths[number] >= LIVES:
            raise WorkerError(f"{LIVES} workers died over the same job: {_reason(error)}") from error
        self._give(number, job)

    def _cancel(self) -> None:
        for reference in self._jobs:
            with suppress(Exception):  # the cluster may be gone
                self._ray.cancel(reference, force=True)
        self._jobs.clear()
