"""A crew: processes that make the shards of a job, watched by the one that started them.

A worker that dies is replaced and its shard goes on from its journal; when the watcher ends, however it ends,
the workers end too, and their teachers with them. What a shard is made of is not known here.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import traceback
from collections import Counter, deque
from collections.abc import Iterable
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from anabranch.errors import AnabranchError, DataError
from anabranch.jobs.journal import Advance, Failures
from anabranch.jobs.processes import ignore_interrupts, unheard

LIVES = 3
"""Workers that may die over a shard without finishing a single unit of it."""


class Work(Protocol):
    """Something to be done in shards. It can be pickled, and shards can be made anywhere in any order."""

    def make(self, shard: int, advance: Advance, failures: Failures) -> None:
        """Make a shard, going on where an earlier attempt was interrupted."""


def run_crew(work: Work, shards: Iterable[int], workers: int, advance: Advance) -> None:
    """Make shards with some processes. `advance` hears of every unit."""
    if workers < 1:
        raise DataError("at least one worker is needed")
    waiting = deque(shards)
    deaths: Counter[int] = Counter()
    crew: dict[Connection, tuple[SpawnProcess, int]] = {}

    def send_for(shard: int) -> None:
        connection, process = _hire(work)
        crew[connection] = (process, shard)
        with contextlib.suppress(OSError):
            connection.send(shard)

    try:
        while waiting and len(crew) < workers:
            send_for(waiting.popleft())
        while crew:
            for connection in wait(list(crew), timeout=1.0):
                assert isinstance(connection, Connection)
                process, shard = crew[connection]
                try:
                    message = connection.recv()
                except (EOFError, OSError):
                    del crew[connection]
                    connection.close()
                    process.join()
                    deaths[shard] += 1
                    if deaths[shard] >= LIVES:
                        raise DataError(f"{LIVES} workers died over shard {shard}") from None
                    send_for(shard)
                    continue
                if isinstance(message, str):
                    raise DataError(message)
                if message is not None:
                    deaths[shard] = 0
                    advance(*message)
                elif waiting:
                    crew[connection] = (process, waiting.popleft())
                    with contextlib.suppress(OSError):
                        connection.send(crew[connection][1])
                else:
                    del crew[connection]
                    connection.close()
                    process.join()
    finally:
        _dismiss(crew)


def _hire(work: Work) -> tuple[Connection, SpawnProcess]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(work, theirs), daemon=True)
    with unheard():
        process.start()
    theirs.close()
    return ours, process


def _dismiss(crew: dict[Connection, tuple[SpawnProcess, int]]) -> None:
    """End all workers; they get a moment to end their teachers."""
    for process, _ in crew.values():
        process.terminate()
    for connection, (process, _) in crew.items():
        process.join(2.0)
        if process.is_alive():
            process.kill()
            process.join()
        connection.close()
    crew.clear()


def _serve(work: Work, connection: Connection) -> None:
    """The life of a worker: shard numbers in; out a pair per unit, None per shard, text for a failure."""
    ignore_interrupts()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    shards: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, shards), daemon=True).start()
    failures = Failures()
    try:
        while True:
            work.make(shards.get(), lambda samples, failed: connection.send((samples, failed)), failures)
            connection.send(None)
    except BrokenPipeError:
        pass
    except AnabranchError as error:
        connection.send(str(error))
    except Exception:
        connection.send(f"a worker failed: {traceback.format_exc(limit=-3)}")


def _listen(connection: Connection, shards: queue.SimpleQueue[int]) -> None:
    """Take shard numbers; when the watcher is gone, so are we."""
    try:
        while True:
            shards.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)
