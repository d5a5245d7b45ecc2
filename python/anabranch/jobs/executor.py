"""Where jobs are done: by processes of this machine, or by a Ray cluster.

A job is a picklable description, work an importable function of it. Results come in any order. Only the
process that runs the executor writes files, so a worker that dies loses only its job, which is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Protocol

from anabranch import _core
from anabranch.errors import JobError
from anabranch.jobs.processes import Done, Job, check_workers, run_processes
from anabranch.jobs.ray import Ray
from anabranch.optional import require


class Executor(Protocol):
    """Does jobs."""

    def run(
        self, work: Callable[[Job], Done], jobs: Iterable[Job], at_exit: Callable[[], object] | None = None
    ) -> Generator[Done]:
        """The results of all jobs as they come; closing it ends the jobs in flight.

        A job that fails raises `WorkerError`. `at_exit` is called in a worker of this machine before it ends;
        the workers of a cluster end with everything that they started.
        """


def cores() -> int:
    """Cores that this process may use, by its affinity and by the quota of its control group."""
    return _core.cores()


def check_cluster(ray: str | None) -> None:
    """Refuse an address of a cluster where Ray is not installed, or where no cluster answers."""
    if ray is not None:
        require("ray", "cluster")
        Ray(ray).check()


def executor_of(workers: int | None = None, ray: str | None = None) -> Executor:
    """The executor of the options `--workers` and `--ray`; with neither, a process for every core.

    >>> executor_of(2)
    Processes(workers=2)
    >>> executor_of(ray="head:6379")
    Ray(address='head:6379')
    """
    if ray is None:
        check_workers(workers or 0)
        return Processes(cores() if workers is None else workers)
    if workers is not None:
        raise JobError("--workers counts processes of this machine; with --ray the cluster decides")
    return Ray(ray)


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes of this machine; with 0, this one does the jobs."""

    workers: int

    def run(
        self, work: Callable[[Job], Done], jobs: Iterable[Job], at_exit: Callable[[], object] | None = None
    ) -> Generator[Done]:
        """The results of all jobs as they come."""
        return run_processes(work, jobs, self.workers, at_exit)


__all__ = ["Executor", "Processes", "Ray", "check_cluster", "cores", "executor_of"]
