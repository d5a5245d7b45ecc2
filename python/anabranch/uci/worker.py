"""The thread that does all that takes time, in the order of the commands."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

from anabranch.errors import AnabranchError


class Worker:
    """A thread with a queue of jobs. `complain` gets the message of a job that fails."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._pending = 0
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="anabranch-uci", daemon=True)
        self._thread.start()

    @property
    def is_idle(self) -> bool:
        """Whether all jobs are done."""
        return self._pending == 0

    def submit(self, job: Callable[[], object]) -> None:
        """Append a job. Never waits."""
        with self._lock:
            self._pending += 1
        self._jobs.put(job)

    def close(self, seconds: float) -> None:
        """End after the jobs that are queued, or leave after some seconds."""
        self._jobs.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except (AnabranchError, OSError) as error:
                self._complain(str(error))
            except Exception as error:
                # A bug must not cost the game.
                self._complain(f"internal error: {type(error).__name__}: {error}")
            finally:
                with self._lock:
                    self._pending -= 1
