"""Files of lines in the order of their work, which the next run of a command continues.

A line is in the file whole or not at all: one that was cut short does not count and is removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

BLOCK = 1 << 16


def last_line(path: Path) -> str | None:
    """The last whole line; `None` where there is none."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        end = _end_of_lines(file)
        if end == 0:
            return None
        begin = _line_break_before(file, end - 1)
        file.seek(begin)
        return file.read(end - 1 - begin).decode("utf-8", "replace")


@contextmanager
def appending(path: Path) -> Iterator[TextIO]:
    """A file open for more lines, after its last whole one."""
    if path.exists():
        with path.open("rb") as file:
            end = _end_of_lines(file)
        if path.stat().st_size > end:
            os.truncate(path, end)
    with path.open("a", encoding="utf-8") as file:
        yield file


def _end_of_lines(file: BinaryIO) -> int:
    """Bytes up to the end of the last whole line."""
    return _line_break_before(file, file.seek(0, os.SEEK_END))


def _line_break_before(file: BinaryIO, end: int) -> int:
    """Where the line begins that `end` is part of."""
    while end > 0:
        begin = max(0, end - BLOCK)
        file.seek(begin)
        place = file.read(end - begin).rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return 0
