"""Journals: files of JSON lines to which finished work is appended, so that no end of a process loses it.

A record is in the file whole or not at all: a last line that was cut short does not count and is removed when
the journal is opened again. A bad line before the last is an error. Every record has a key, and the first
record of a key counts. What records mean is known to their `JournalFormat` alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from anabranch.errors import AnabranchError, JobError

Key = TypeVar("Key")
Record = TypeVar("Record")


@dataclass(frozen=True)
class JournalFormat(Generic[Key, Record]):
    """The records of one kind of journal.

    >>> squares = JournalFormat("a square", lambda line: (line[0], line[1]), lambda *line: line)
    >>> squares.read(Path("no/such/journal"))
    {}
    """

    what: str
    """A record in words, for the error about a bad line."""
    parse: Callable[[Any], tuple[Key, Record]]
    """Key and record of a JSON value; raises `ValueError`, `TypeError` or `LookupError` where it is none."""
    format: Callable[[Key, Record], Any]
    """The JSON value of a record."""
    error: type[AnabranchError] = JobError

    def read(self, path: Path) -> dict[Key, Record]:
        """The records of a journal in the order in which they were added; none where there is no file."""
        return self._sound_part(path)[0]

    @contextmanager
    def open(self, path: Path) -> Iterator[Journal[Key, Record]]:
        """A journal, new or to be continued. Only for the one process that works there.

        A new file is made with its first record.
        """
        records, size = self._sound_part(path)
        if path.exists() and path.stat().st_size > size:
            os.truncate(path, size)
        journal = Journal(self, path, records)
        try:
            yield journal
        finally:
            journal.close()

    def _sound_part(self, path: Path) -> tuple[dict[Key, Record], int]:
        """The records, and the bytes of the lines that hold them."""
        records: dict[Key, Record] = {}
        size = 0
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                key, record = self.parse(json.loads(line))
                if not line.endswith(b"\n"):
                    break
            except (ValueError, TypeError, LookupError):
                if number == len(lines):
                    break
                raise self.error(f"line {number} of {path} is not {self.what}") from None
            records.setdefault(key, record)
            size += len(line)
        return records, size


class Journal(Generic[Key, Record]):
    """A journal open for more records."""

    def __init__(self, form: JournalFormat[Key, Record], path: Path, records: dict[Key, Record]) -> None:
        self._format = form.format
        self._path = path
        self._file: IO[str] | None = None
        self.records = records

    def add(self, key: Key, record: Record) -> bool:
        """Write a record to the disk; returns False if its key is there already."""
        return self.add_all({key: record})

    def add_all(self, records: Mapping[Key, Record]) -> bool:
        """Write the records of new keys to the disk; returns False if there is none."""
        new = {key: record for key, record in records.items() if key not in self.records}
        if new:
            lines = (json.dumps(self._format(*one), separators=(",", ":")) + "\n" for one in new.items())
            self._file = self._file or self._path.open("a", encoding="utf-8")
            self._file.writelines(lines)
            self._file.flush()
            os.fsync(self._file.fileno())
            self.records |= new
        return bool(new)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def has_records(path: Path) -> bool:
    """Whether a file has a line that is whole."""
    return path.is_file() and b"\n" in path.read_bytes()
