"""The lines that the engine writes, and the log of both sides."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TextIO

Sink = Callable[[str], None]


class Output:
    """Writes lines to a sink, and where one is open, to a log file. Any thread may use it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._lock = Lock()
        self._log: TextIO | None = None
        self._opened = 0.0

    def write(self, lines: list[str]) -> None:
        """Write lines, with no others between them."""
        with self._lock:
            for line in lines:
                self._note("<<", line)
                self._sink(line)

    def complain(self, sentence: str) -> None:
        """Write a sentence as `info string`."""
        self.write([f"info string {' '.join(sentence.split())}"])

    def note_input(self, line: str) -> None:
        """Note a line of the other side in the log."""
        self._note(">>", line)

    def open_log(self, path: str) -> None:
        """Close the log, and open another unless the path is empty."""
        self.close()
        if path:
            self._log = open(path, "a", encoding="utf-8", errors="replace")  # noqa: SIM115
            self._opened = time.monotonic()

    def close(self) -> None:
        """Close the log."""
        log, self._log = self._log, None
        if log is not None:
            with suppress(OSError):
                log.close()

    def _note(self, direction: str, line: str) -> None:
        if (log := self._log) is not None:
            with suppress(OSError, ValueError):  # a full disk must not cost the game
                log.write(f"{time.monotonic() - self._opened:10.3f} {direction} {line}\n")
                log.flush()
