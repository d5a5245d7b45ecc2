"""A generation spread over machines: games given out one by one, journals and shards written here alone.

The crew of `anabranch.jobs.crew` gives out whole shards and lets workers write them, which takes one disk.
Here a worker only plays and answers with the samples of a game, so it may be anywhere, and what dies with it
is that game, which is played again. The shards are the same either way.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from anabranch.data.generate import Generation, Job, hire_teacher, play_game
from anabranch.data.teacher import Teacher, TeacherError
from anabranch.jobs.executor import Executor
from anabranch.jobs.journal import Advance, Failures, Samples, journal_path, sound_part
from anabranch.jobs.lock import locked


class Order(NamedTuple):
    """A game to be played somewhere."""

    job: Job
    number: int
    patience: float


class Played(NamedTuple):
    """What came of it."""

    number: int
    samples: Samples | None
    """None where the teacher failed."""
    failure: str = ""
    started: bool = True
    """Whether there was a teacher at all."""


_teachers: dict[str, Teacher] = {}
"""Those of this process, kept from game to game because programs are slow to start."""


def close_teachers() -> None:
    """End the teachers of this process."""
    for teacher in _teachers.values():
        teacher.close()
    _teachers.clear()


atexit.register(close_teachers)


def play_order(order: Order) -> Played:
    """Play a game, wherever this is."""
    key = repr((order.job.engine, order.job.variant, order.job.options, order.job.lines, order.patience))
    try:
        if key not in _teachers:
            _teachers[key] = hire_teacher(order.job, order.patience)
    except TeacherError as error:
        return Played(order.number, None, str(error), started=False)
    try:
        return Played(order.number, play_game(order.job, order.number, _teachers[key]))
    except TeacherError as error:
        _teachers.pop(key).close()
        return Played(order.number, None, str(error))


def spread(generation: Generation, shards: Iterable[int], executor: Executor, advance: Advance) -> None:
    """Make shards with whatever does jobs. `advance` hears of every game."""
    journals = {shard: _Journal(generation, shard) for shard in shards}
    orders = [
        Order(generation.job, number, generation.patience)
        for journal in journals.values()
        for number in sorted(journal.missing)
    ]
    failures = Failures()
    lost: list[int] = []

    def keep(number: int, samples: Samples) -> None:
        journals[number // generation.job.games_per_shard].add(number, samples)

    for journal in journals.values():
        journal.finish()
    with closing(executor.run(play_order, orders, close_teachers)) as results:
        for played in results:
            if played.samples is None:
                advance(0, 1)
                lost.append(played.number)
                fail = failures.at_work if played.started else failures.at_start
                fail(generation.job.engine, TeacherError(played.failure))
                continue
            failures.good()
            # What failed is written down only now: a teacher that is given up spoils nothing for good.
            while lost:
                keep(lost.pop(0), [])
            keep(played.number, played.samples)
            advance(len(played.samples), 0)
    for number in lost:
        keep(number, [])


class _Journal:
    """The journal of a shard, which becomes the shard when its last game comes."""

    def __init__(self, generation: Generation, shard: int) -> None:
        self._generation = generation
        self._shard = shard
        self._path: Path = journal_path(generation.folder, shard)
        done: dict[int, Samples] = {}
        if self._path.exists():
            # A worker whose watcher was killed may hold it for a moment.
            with locked(self._path, patience=10.0):
                done, good = sound_part(self._path)
                os.truncate(self._path, good)
        self.missing = {number for number in generation.job.numbers(shard) if number not in done}

    def add(self, number: int, samples: Samples) -> None:
        """Keep a game for good."""
        if number not in self.missing:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([number, samples], separators=(",", ":")) + "\n")
        self.missing.discard(number)
        self.finish()

    def finish(self) -> None:
        """Write the shard, if all its games are there."""
        if not self.missing:
            self._generation.make(self._shard, lambda samples, failed: None, Failures())
