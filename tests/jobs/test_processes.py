"""Processes: every job done once, whoever dies."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from multiprocessing import active_children
from pathlib import Path

import pytest
from tests.support import jobs

from anabranch.errors import JobError, WorkerError
from anabranch.jobs.executor import Processes
from anabranch.jobs.processes import interrupts_blocked


@pytest.mark.parametrize("workers", [0, 2])
def test_all_jobs_are_done(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "left"))
    results = Processes(workers).run(jobs.square, range(9), jobs.leave_a_mark)
    assert sorted(results) == [number * number for number in range(9)]
    assert (tmp_path / "left").exists()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_endless_list_can_be_left(workers: int) -> None:
    with closing(Processes(workers).run(jobs.square, count())) as results:
        assert len(list(islice(results, 5))) == 5


def test_a_job_whose_worker_dies_is_given_out_again(tmp_path: Path) -> None:
    todo = [(str(tmp_path), number) for number in range(6)]
    assert sorted(Processes(2).run(jobs.die_once, todo)) == list(range(6))
    assert (tmp_path / "died").exists()


def test_a_job_that_kills_every_worker_ends_it() -> None:
    with pytest.raises(WorkerError, match="3 workers died over the same job"):
        list(Processes(1).run(jobs.die, [1]))


def test_a_worker_that_evaluates_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """Python that ends while a thread is in the runtime of a network aborts the process."""
    with closing(Processes(1).run(jobs.evaluate_without_end, [0, 1])) as results:
        assert next(results) == 0
        time.sleep(0.3)
    assert capfd.readouterr().err == ""


def test_failures_of_workers_are_raised() -> None:
    with pytest.raises(WorkerError, match="number 7 is refused"):
        list(Processes(1).run(jobs.refuse, [7]))
    with pytest.raises(WorkerError, match=r"(?s)a worker failed: .*ZeroDivisionError"):
        list(Processes(1).run(jobs.fail, [7]))
    with pytest.raises(JobError, match="-1 workers"):
        list(Processes(-1).run(jobs.square, [7]))


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
    assert sorted(Processes(2).run(jobs.square, slowly())) == [1, 4]
    assert all(seen)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_ctrl_c_that_another_thread_receives_waits_until_a_worker_has_started() -> None:
    """A process that is interrupted between the start of a worker and its first message leaves a worker that
    fails with a traceback.
    """
    is_over = threading.Event()
    other = threading.Thread(target=is_over.wait, daemon=True)
    other.start()
    steps = []

    def start() -> None:
        with interrupts_blocked():
            assert other.ident is not None
            signal.pthread_kill(other.ident, signal.SIGINT)
            for _ in range(100):
                time.sleep(0.001)
            steps.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    is_over.set()
    assert steps == ["started"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
