"""Commands in processes of their own that are killed at their work."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from anabranch.cli import run

FORKS = multiprocessing.get_context("forkserver")
"""Processes that begin with the imports done: those take longer than the work of a test."""
FORKS.set_forkserver_preload(
    ["__main__", __name__, "anabranch.cli.match", "anabranch.cli.study", "anabranch.data.generate"]
)


def wait_for_work(is_alive: Callable[[], bool], is_at_work: Callable[[], bool]) -> None:
    """Until a process is at its work, or is done."""
    deadline = time.monotonic() + 120
    while is_alive() and not is_at_work() and time.monotonic() < deadline:
        time.sleep(0.005)


def kill_at_work(
    arguments: Sequence[str], is_at_work: Callable[[], bool], delay: float, alone: bool = False
) -> None:
    """Run `anabranch`, and kill it with its workers, or it alone, a moment after it has begun to work."""
    process = FORKS.Process(target=_run_in_a_group, args=(list(arguments),))
    process.start()
    wait_for_work(process.is_alive, is_at_work)
    time.sleep(delay)
    assert process.pid is not None
    with suppress(ProcessLookupError):  # it may have found all work done
        (os.kill if alone else os.killpg)(process.pid, signal.SIGKILL)
    process.join()


def _run_in_a_group(arguments: list[str]) -> None:
    os.setsid()
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        sys.stdout = sys.stderr = nothing
        sys.exit(run(arguments))
