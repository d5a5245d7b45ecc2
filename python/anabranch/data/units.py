"""Samples made by a teacher, unit by unit, by any executor. A unit is a game or a position.

Workers only make samples; the journals and shards are written here, so a worker may be on any machine, and
what dies with it is made again. When all units of a shard are in its journal, the shard is written. A teacher
that fails costs the unit and is replaced; after some failures in a row the job is given up.
"""

from __future__ import annotations

import atexit
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from anabranch.data.folder import JOURNAL, Samples, journal_path
from anabranch.data.jobs import TIMEOUT, TeacherJob
from anabranch.data.shards import replace_shard
from anabranch.data.teacher import Teacher, TeacherError, TeacherSpec
from anabranch.errors import DataError
from anabranch.jobs.executor import Executor
from anabranch.jobs.progress import OnProgress, no_progress

FAILED_STARTS = 3
"""Starts of a teacher that may fail in a row."""
FAILED_UNITS = 10
"""Units in a row that may be lost to a failing teacher."""


class Unit(Protocol):
    """A game or a position. It can be pickled, and depends on nothing else."""

    def make(self, teacher: Teacher) -> Samples:
        """Its samples; raises `TeacherError` if the teacher fails."""


AnyJob = TypeVar("AnyJob", bound=TeacherJob)


@dataclass(frozen=True)
class ShardJob(ABC, Generic[AnyJob]):
    """A job of a teacher in its folder, which makes shards of units."""

    job: AnyJob
    folder: Path
    timeout: float = TIMEOUT

    @property
    def teacher(self) -> TeacherSpec:
        """The teacher of all units."""
        options = {**self.job.options, "MultiPV": str(self.job.lines)}
        return TeacherSpec(self.job.engine, self.job.variant, tuple(options.items()), self.timeout)

    @abstractmethod
    def total(self) -> int:
        """The number of all units."""

    @abstractmethod
    def missing(self) -> list[int]:
        """The shards that are not finished."""

    @abstractmethod
    def units(self, shard: int) -> Mapping[int, Unit]:
        """The units of an unfinished shard by their numbers."""

    def count(self, shard: int) -> int:
        """The number of units of an unfinished shard."""
        return len(self.units(shard))

    @abstractmethod
    def write(self, shard: int, samples: Mapping[int, Samples], teacher: str) -> None:
        """Write a shard of which all units are there. `teacher` is the name that the program has given."""

    def write_rows(self, shard: int, rows: Iterable[dict[str, Any]], teacher: str) -> None:
        """Write rows as a shard, with their source."""
        depth = getattr(self.job, "depth", None)
        limit = f"nodes={self.job.nodes}" if depth is None else f"depth={depth}"
        source = f"{teacher} {limit} lines={self.job.lines}"
        notes = {"variant": self.job.variant, "teacher": teacher, "job": json.dumps(asdict(self.job))}
        replace_shard(self.folder, shard, [{**row, "source": source} for row in rows], notes)


class UnitJob(NamedTuple):
    """A unit of a shard for a worker."""

    teacher: TeacherSpec
    shard: int
    number: int
    unit: Unit


class MadeUnit(NamedTuple):
    """What a worker returns."""

    shard: int
    number: int
    teacher: str
    """The name that the program has given."""
    samples: Samples | TeacherError


_teachers: dict[TeacherSpec, Teacher] = {}
"""Those of this process, kept from unit to unit because programs are slow to start."""


@atexit.register
def close_teachers() -> None:
    """End the teachers of this process."""
    while _teachers:
        _teachers.popitem()[1].close()


def make_unit(job: UnitJob) -> MadeUnit:
    """Make the samples of a unit. This is what workers do."""
    teacher = _start(job.teacher)
    samples: Samples | TeacherError
    try:
        samples = job.unit.make(teacher)
    except TeacherError as error:
        _teachers.pop(job.teacher).close()
        samples = error
    return MadeUnit(job.shard, job.number, teacher.name, samples)


def _start(spec: TeacherSpec) -> Teacher:
    failures = 0
    while spec not in _teachers:
        try:
            _teachers[spec] = spec.start()
        except TeacherError as error:
            failures += 1
            if failures >= FAILED_STARTS:
                reason = f"the teacher {spec.engine} did not start {failures} times in a row: {error}"
                raise DataError(reason) from error
    return _teachers[spec]


@dataclass(slots=True)
class MadeSamples:
    """What `make_shards` has made."""

    before: int
    """Units that were there before."""
    units: int = 0
    samples: int = 0
    failed: int = 0
    """Units that were dropped because the teacher failed."""
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        rate = self.samples / max(time.monotonic() - self.began, 1e-9)
        counts = f"{self.samples:,} positions, {rate:,.0f} positions/s"
        return f"{counts}, {self.failed:,} dropped because of the teacher"


def make_shards(job: ShardJob[Any], executor: Executor, progress: OnProgress = no_progress) -> MadeSamples:
    """Make the shards that a job lacks, going on from their journals."""
    shards = job.missing()
    left = sum(job.count(shard) - len(JOURNAL.read(journal_path(job.folder, shard))) for shard in shards)
    made = MadeSamples(job.total() - left)
    open_shards: dict[int, _OpenShard] = {}
    lost: list[tuple[int, int]] = []
    """Shards and numbers of the units that failed since the last that did not."""

    def jobs() -> Iterator[UnitJob]:
        for shard in shards:
            open_shards[shard] = _OpenShard(job, shard)
            units = list(open_shards[shard].missing.items())
            keep(shard, {})
            yield from (UnitJob(job.teacher, shard, number, unit) for number, unit in units)

    def keep(shard: int, samples: Mapping[int, Samples], teacher: str = "") -> None:
        if open_shards[shard].add(samples, teacher):
            del open_shards[shard]

    def keep_lost() -> None:
        for shard, failed in lost:
            keep(shard, {failed: []})
        lost.clear()

    try:
        progress(made.before, job.total(), str(made))
        with closing(executor.run(make_unit, jobs(), close_teachers)) as results:
            for shard, number, teacher, samples in results:
                made.units += 1
                if isinstance(samples, TeacherError):
                    made.failed += 1
                    lost.append((shard, number))
                else:
                    # A failed unit is kept only now, so that a teacher that is given up loses none.
                    keep_lost()
                    keep(shard, {number: samples}, teacher)
                    made.samples += len(samples)
                progress(made.before + made.units, job.total(), str(made))
                if len(lost) >= FAILED_UNITS:
                    failure = f"failed {len(lost)} times in a row: {samples}"
                    raise DataError(f"the teacher {job.teacher.engine} {failure}")
        keep_lost()
    finally:
        for left_open in open_shards.values():
            left_open.close()
    return made


class _OpenShard:
    """The journal of a shard, which becomes the shard with its last unit."""

    def __init__(self, job: ShardJob[Any], shard: int) -> None:
        self._job = job
        self._shard = shard
        self._files = ExitStack()
        self._journal = self._files.enter_context(JOURNAL.open(journal_path(job.folder, shard)))
        known = self._journal.records
        self.missing = {number: unit for number, unit in job.units(shard).items() if number not in known}
        self._teacher = ""

    def add(self, samples: Mapping[int, Samples], teacher: str) -> bool:
        """Keep samples of units for good; returns whether the shard was complete and has been written."""
        self._journal.add_all(samples)
        self._teacher = teacher or self._teacher
        for number in samples:
            self.missing.pop(number, None)
        if self.missing:
            return False
        self.close()
        self._job.write(self._shard, self._journal.records, self._teacher or _name_of(self._job.teacher))
        return True

    def close(self) -> None:
        self._files.close()


def _name_of(spec: TeacherSpec) -> str:
    with spec.start() as teacher:
        return teacher.name
