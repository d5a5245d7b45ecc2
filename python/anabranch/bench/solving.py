"""Mates of EPD files proven by the solver: how many, how soon, by distance. Nothing is printed here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from anabranch.bench.suite import Task
from anabranch.engine import Engine


@dataclass(frozen=True, slots=True)
class MateAttempt:
    """What the solver found in a test position."""

    task: Task
    result: str | None
    """Win or loss for the side to move; `None` while it is open."""
    mate: int | None
    """Moves of the proof, negative when the side to move is mated."""
    move: str | None
    """The first move of its line (UCI)."""
    positions: int
    proof_positions: int
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether the right side is proven to win, in whatever number of moves."""
        return self.result == ("loss" if (self.task.mate or 1) < 0 else "win")

    @property
    def is_within(self) -> bool:
        """Whether the proof has no more moves than `dm`."""
        return self.solved and self.mate is not None and abs(self.mate) <= abs(self.task.mate or 1000)


class MateJob(NamedTuple):
    """A task for the solver, with its limits."""

    number: int
    task: Task
    variant: str
    chess960: bool
    time: float | None
    positions: int | None


_engines: dict[tuple[str, bool], Engine] = {}
"""The engines of this process, kept from task to task."""


def solve_job(job: MateJob) -> tuple[int, MateAttempt]:
    """The number of a task and what the solver found."""
    key = (job.variant, job.chess960)
    if key not in _engines:
        _engines[key] = Engine(job.variant, chess960=job.chess960, evaluator="material")
    return job.number, solve_task(_engines[key], job.task, job.time, job.positions)


def solve_task(engine: Engine, task: Task, time: float | None, positions: int | None) -> MateAttempt:
    """Give a task to the solver, until the first limit is met.

    >>> from anabranch.bench.suite import read_task
    >>> engine = Engine()
    >>> found = solve_task(engine, read_task("7k/8/8/8/8/8/R7/1R5K w - - dm 2;", engine), None, 100_000)
    >>> found.solved, found.result
    (True, 'win')
    """
    found = engine.solve(task.position, time=time, positions=positions)
    return MateAttempt(
        task,
        found.result,
        found.mate,
        None if found.line is None else found.line.moves[0],
        found.positions,
        found.proof_positions,
        found.time,
    )


def summarise_mates(attempts: Iterable[MateAttempt]) -> dict[str, Any]:
    """How many mates are proven and how soon, in all and by distance."""
    attempts = list(attempts)
    groups: dict[int | None, list[MateAttempt]] = defaultdict(list)
    for attempt in attempts:
        groups[attempt.task.mate].append(attempt)
    by_distance = [
        {"mate": distance, **_numbers(groups[distance])}
        for distance in sorted(groups, key=lambda mate: (mate is None, mate or 0))
    ]
    return {**_numbers(attempts), "by_distance": by_distance}


def _numbers(attempts: list[MateAttempt]) -> dict[str, Any]:
    solved = [attempt for attempt in attempts if attempt.solved]
    return {
        "attempted": len(attempts),
        "solved": len(solved),
        "within_dm": sum(attempt.is_within for attempt in attempts),
        "positions_searched": sum(attempt.positions for attempt in attempts),
        "seconds": sum(attempt.seconds for attempt in attempts),
        "mean_seconds": _mean([attempt.seconds for attempt in attempts]),
        "mean_seconds_of_solved": _mean([attempt.seconds for attempt in solved]),
    }


def _mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
