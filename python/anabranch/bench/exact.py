"""Test positions of games with exact results: how many a search proves, and how soon.

A line of a file is a position and its score for the side to move, above 0 for a win, 0 for a draw, below 0
for a loss: `4 4 3 -1`. In Connect Four the moves may stand together: `443 -1`. Nothing is printed here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from anabranch.bench.suite import engine_of, read_tasks
from anabranch.catalogue import base_name
from anabranch.engine import Engine
from anabranch.errors import GameOverError, SuiteError
from anabranch.limits import Limits


@dataclass(frozen=True, slots=True)
class ExactTask:
    """A position with its result."""

    source: str
    """File and line."""
    position: str
    """Moves, or a text of the board."""
    result: str
    """`win`, `draw` or `loss` for the side to move."""


@dataclass(frozen=True, slots=True)
class ExactAttempt:
    """What a search proved about a test position."""

    task: ExactTask
    state: str | None
    """What is proven."""
    move: str
    """The move it would play."""
    simulations: int
    nodes: int
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether the right result is proven."""
        return self.state == self.task.result

    @property
    def wrong(self) -> bool:
        """Whether another result is proven, which must not happen."""
        return self.state is not None and not self.solved


def read_exact_task(line: str, engine: Engine, source: str = "line 1") -> ExactTask:
    """The task of a line. The engine gives the game and checks the position.

    >>> read_exact_task("4444421 3", Engine("connect-four"))
    ExactTask(source='line 1', position='4 4 4 4 4 2 1', result='win')
    """
    *fields, score = line.split()
    try:
        number = int(score)
    except ValueError:
        raise SuiteError(f"a line ends with a score, a whole number, not with {score[:40]!r}") from None
    if len(fields) == 1 and fields[0].isdigit() and base_name(engine.variant) == "connect-four":
        fields = list(fields[0])
    position = " ".join(fields) or "startpos"
    engine.position = position
    if engine.is_over:
        raise GameOverError("the game is already over")
    return ExactTask(source, position, "win" if number > 0 else "draw" if number == 0 else "loss")


def read_exact(path: str | os.PathLike[str], engine: Engine) -> list[ExactTask]:
    """The tasks of a file."""
    return read_tasks(path, lambda line, source: read_exact_task(line, engine, source))


def attempt_exact(engine: Engine, task: ExactTask, limits: Limits) -> ExactAttempt:
    """Search a task on a new graph.

    >>> engine = Engine("connect-four", evaluator="uniform")
    >>> task = read_exact_task("4444421 3", engine)
    >>> attempt_exact(engine, task, Limits(simulations=1000)).simulations <= 1000
    True
    """
    engine.position = task.position
    engine.forget()
    result = engine.search(limits=limits, lines=0)
    return ExactAttempt(
        task,
        None if result.solved is None else result.solved.state,
        result.best_move,
        result.statistics.simulations,
        result.statistics.nodes,
        result.elapsed,
    )


class ExactJob(NamedTuple):
    """A task to be attempted, with the engine and the limits."""

    number: int
    task: ExactTask
    make_engine: Callable[[], Engine]
    limits: Limits


def attempt_exact_job(job: ExactJob) -> tuple[int, ExactAttempt]:
    """The number of a task and the attempt at it."""
    return job.number, attempt_exact(engine_of(job.make_engine), job.task, job.limits)


def summarise_exact(attempts: list[ExactAttempt]) -> dict[str, int | float | None]:
    """The counts of some attempts."""
    solved = sorted(attempt.simulations for attempt in attempts if attempt.solved)
    return {
        "attempted": len(attempts),
        "solved": len(solved),
        "wrong": sum(attempt.wrong for attempt in attempts),
        "simulations": sum(attempt.simulations for attempt in attempts),
        "seconds": sum(attempt.seconds for attempt in attempts),
        "median_simulations_of_solved": solved[len(solved) // 2] if solved else None,
        "most_simulations_of_solved": solved[-1] if solved else None,
    }
