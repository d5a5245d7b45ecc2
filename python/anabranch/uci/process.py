"""The engine as a process: stdin, stdout, signals, and an end in every case.

Reads lines and hands them over; writes so that a slow reader delays nothing else. The
process ends with its input, its reader, its parent or SIGTERM.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Lock, Thread
from typing import BinaryIO, NoReturn

WATCH = 0.25
"""Seconds between two checks of whether parent and reader are still there."""
CLOSE_TIMEOUT = 1.2
"""Seconds for the last lines of a search and for what is still to be written."""


class LineWriter:
    """Writes lines: at once where the reader has room for them, else in a thread of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._counting = Lock()
        self._backlog = 0
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)
        self._thread = Thread(target=self._write, name="anabranch-writer", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        """Write a line. Never waits."""
        content = f"{line}\n".encode()
        with self._counting:
            if self._backlog == 0 and self._has_room_for(content):
                self._put(content)
                return
            self._backlog += 1
        self._lines.put(line)

    def close(self, seconds: float) -> None:
        """Write what is left, and end."""
        self._lines.put(None)
        self._thread.join(seconds)

    def _has_room_for(self, content: bytes) -> bool:
        """Whether a write of so much would not wait."""
        if self._poll is None or len(content) > select.PIPE_BUF:
            return False
        return any(event & select.POLLOUT for _, event in self._poll.poll(0))

    def _put(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._descriptor, content) :]
        except OSError:
            os._exit(0)  # the output is closed

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            self._put(f"{line}\n".encode())
            with self._counting:
                self._backlog -= 1


def main() -> NoReturn:
    """Run as a UCI engine until `quit` or the end of the input."""
    sys.setswitchinterval(0.0005)  # threads hand over to each other within a move of a few milliseconds
    writer = LineWriter(sys.stdout.fileno())
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: os._exit(0))
    _watch_over(sys.stdout.fileno())

    from anabranch.uci.session import UciSession

    session = UciSession(writer)
    for line in _lines(sys.stdin.buffer):
        if not session.handle(line):
            break
    end = time.monotonic() + CLOSE_TIMEOUT
    session.close(CLOSE_TIMEOUT)
    writer.close(max(0.1, end - time.monotonic()))
    os._exit(0)  # a thread of the core may still be at work


def _lines(source: BinaryIO) -> Iterator[str]:
    """The lines of the input; a line ends in LF, CR or both."""
    while raw := source.readline():
        for line in raw.decode("utf-8", "replace").replace("\0", " ").split("\r"):
            if line.strip():
                yield line


def _watch_over(output: int) -> None:
    """End the process when its parent has died or its output is closed."""
    parent = os.getppid()

    def watch() -> None:
        poll = select.poll() if hasattr(select, "poll") else None
        if poll is not None:
            poll.register(output, 0)
        while True:
            time.sleep(WATCH)
            broken = poll is not None and any(event & select.POLLERR for _, event in poll.poll(0))
            if broken or os.getppid() != parent:
                os._exit(0)

    Thread(target=watch, name="anabranch-watch", daemon=True).start()


if __name__ == "__main__":
    main()
