"""The dialogue of an engine in a file, for people who look for a fault."""

from __future__ import annotations

import time
from contextlib import suppress


class Log:
    """The dialogue in a file, with the time of each line."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "a", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._begun = time.monotonic()

    def write(self, direction: str, line: str) -> None:
        """Add a line. A full disk must not take the game away."""
        with suppress(OSError, ValueError):
            self._file.write(f"{time.monotonic() - self._begun:10.3f} {direction} {line}\n")
            self._file.flush()

    def close(self) -> None:
        """Write no more."""
        with suppress(OSError):
            self._file.close()
