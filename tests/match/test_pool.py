"""The pool: every job done once, whoever dies."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from itertools import count
from multiprocessing import active_children
from pathlib import Path

import pytest
from tests.support import jobs

from anabranch.errors import MatchError
from anabranch.jobs.processes import results_of, run_jobs


def take_all(results: list[int]) -> object:
    def take(result: int) -> bool:
        results.append(result)
        return True

    return take


@pytest.mark.parametrize("workers", [0, 2])
def test_all_jobs_are_done(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "left"))
    results: list[int] = []
    run_jobs(jobs.square, range(9), workers, take_all(results), jobs.leave_a_mark)  # type: ignore[arg-type]
    assert sorted(results) == [number * number for number in range(9)]
    assert (tmp_path / "left").exists()


@pytest.mark.parametrize("workers", [0, 2])
def test_who_has_enough_can_stop_an_endless_list(workers: int) -> None:
    results: list[int] = []

    def take(result: int) -> bool:
        results.append(result)
        return len(results) < 5

    run_jobs(jobs.square, count(), workers, take)
    assert len(results) == 5


def test_a_job_whose_worker_dies_is_given_out_again(tmp_path: Path) -> None:
    results: list[int] = []
    run_jobs(jobs.die_once, [(str(tmp_path), n) for n in range(6)], 2, take_all(results))  # type: ignore[arg-type]
    assert sorted(results) == list(range(6))
    assert (tmp_path / "died").exists()


def test_a_job_that_kills_every_worker_ends_it() -> None:
    with pytest.raises(MatchError, match="3 workers died over the same job"):
        run_jobs(jobs.die, [1], 1, lambda result: True)


def test_what_a_worker_refuses_is_told() -> None:
    with pytest.raises(MatchError, match="number 7 is refused"):
        run_jobs(jobs.refuse, [7], 1, lambda result: True)
    with pytest.raises(MatchError, match=r"(?s)a worker failed: .*ZeroDivisionError"):
        run_jobs(jobs.fail, [7], 1, lambda result: True)
    with pytest.raises(MatchError, match="-1 workers"):
        run_jobs(jobs.square, [7], -1, lambda result: True)


def test_workers_never_hear_ctrl_c_not_even_while_they_start() -> None:
    def deaf() -> bool:
        """Whether all workers block or ignore the signal."""
        fields = {"SigBlk": 0, "SigIgn": 0}
        for worker in active_children():
            for line in Path(f"/proc/{worker.pid}/status").read_text().splitlines():
                name, _, number = line.partition(":")
                if name in fields:
                    fields[name] = int(number, 16)
            if not (fields["SigBlk"] | fields["SigIgn"]) >> (signal.SIGINT - 1) & 1:
                return False
        return True

    seen: list[bool] = []

    def slowly() -> Iterator[int]:
        """The second job is asked for when the first worker has just been started."""
        yield 1
        for _ in range(40):
            assert active_children()
            seen.append(deaf())
            time.sleep(0.01)
        yield 2

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert sorted(results_of(jobs.square, slowly(), 2)) == [1, 4]
    assert all(seen)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
