"""Journals: a shard in the making, unit by unit, so that whatever ends a process, no finished unit is lost.

A unit is a game or a position with its number. Its samples are appended as one line at once; when all units
of a shard are there, the shard is written and its journal goes. A teacher that fails costs the unit, is
replaced, and after some failures in a row given up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.data.teacher import Teacher, TeacherError
from anabranch.errors import DataError
from anabranch.jobs.lock import locked

Samples: TypeAlias = list[dict[str, Any]]
Advance: TypeAlias = Callable[[int, int], object]
"""Hears of every unit: its samples, and 1 if it was dropped because the teacher failed."""

FAILED_STARTS = 3
"""Starts of a teacher that may fail in a row."""
FAILED_UNITS = 10
"""Units in a row that may be lost to a failing teacher."""


def journal_path(folder: Path, shard: int) -> Path:
    """Where the journal of a shard is."""
    return folder / f".{shard:06d}.journal"


def read_journal(path: Path) -> dict[int, Samples]:
    """The units of a journal; a last line that was cut short does not count."""
    done, _ = sound_part(path)
    return done


def sound_part(path: Path) -> tuple[dict[int, Samples], int]:
    """The units of a journal, and the bytes of the lines that hold them."""
    done: dict[int, Samples] = {}
    good = 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                try:
                    number, samples = json.loads(line)
                except (ValueError, TypeError):
                    break
                if not line.endswith(b"\n"):
                    break
                done[number] = samples
                good += len(line)
    return done, good


class Failures:
    """Counts failures in a row, and gives up."""

    def __init__(self) -> None:
        self._starts = 0
        self._units = 0

    def good(self) -> None:
        """Something went well."""
        self._starts = self._units = 0

    def at_start(self, engine: str, error: TeacherError) -> None:
        """A teacher did not start."""
        self._starts += 1
        if self._starts >= FAILED_STARTS:
            raise DataError(f"the teacher {engine} did not start {self._starts} times in a row: {error}")

    def at_work(self, engine: str, error: TeacherError) -> None:
        """A teacher spoiled a unit."""
        self._units += 1
        if self._units >= FAILED_UNITS:
            raise DataError(f"the teacher {engine} failed {self._units} times in a row: {error}")


def fill_journal(
    path: Path,
    numbers: range,
    hire: Callable[[], Teacher],
    work: Callable[[int, Teacher], Samples],
    engine: str,
    advance: Advance,
    failures: Failures,
) -> tuple[dict[int, Samples], str | None]:
    """Do the units of a shard that its journal lacks; all units, and the teacher's name if one was needed.

    A unit that failed is written down only when a later one went well: if the teacher is given up, what it
    spoiled is tried again the next time.
    """
    teacher: Teacher | None = None
    name: str | None = None
    lost: list[int] = []
    with locked(path, patience=10.0) as file:
        done, good = sound_part(path)
        os.truncate(path, good)

        def write(number: int, samples: Samples) -> None:
            done[number] = samples
            file.write(json.dumps([number, samples], separators=(",", ":")) + "\n")

        try:
            for number in numbers:
                if number in done:
                    continue
                while teacher is None:
                    try:
                        teacher = hire()
                        name = teacher.name
                    except TeacherError as error:
                        failures.at_start(engine, error)
                try:
                    samples = work(number, teacher)
                except TeacherError as error:
                    teacher.close()
                    teacher = None
                    advance(0, 1)
                    lost.append(number)
                    failures.at_work(engine, error)
                    continue
                failures.good()
                for missed in lost:
                    write(missed, [])
                lost.clear()
                write(number, samples)
                file.flush()
                advance(len(samples), 0)
            for missed in lost:
                write(missed, [])
        finally:
            if teacher is not None:
                teacher.close()
    return done, name
