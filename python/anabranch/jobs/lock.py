"""A folder at work: two jobs never write to the same files.

The lock is the system's and goes with the process, however that ends. Nothing else is known here.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from anabranch.errors import FolderBusyError

try:
    import fcntl
except ImportError:  # Windows, where two jobs in one folder are not noticed
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(path: Path, patience: float = 0.0) -> Iterator[IO[str]]:
    """A file open for appending that no other process holds."""
    with path.open("a", encoding="utf-8") as file:
        deadline = time.monotonic() + patience
        while fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise FolderBusyError(f"another process is at work in {path.parent}") from None
                time.sleep(0.1)
        yield file
