"""Test suites: positions with a known answer, read from EPD files, and how soon a search finds it.

An answer is the best move (`bm`), a move to avoid (`am`) or a mate in so many moves (`dm`). Nothing is
printed here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import chess

from anabranch.engine import Engine
from anabranch.errors import AnabranchError, GameOverError, SuiteError
from anabranch.formats.epd import read_epd, read_number
from anabranch.limits import Limits
from anabranch.result import Result, board_of

AnyTask = TypeVar("AnyTask")

FIRST_CHECKPOINT = 100
"""Simulations before the best move is read for the first time."""
CHECKPOINTS_PER_DECADE = 10


@dataclass(frozen=True, slots=True)
class Task:
    """A position with its answer."""

    source: str
    """File and line."""
    id: str
    """What the file calls it; the source if it has no name."""
    position: str
    """FEN."""
    best: tuple[str, ...] = ()
    """Moves that are right (UCI)."""
    avoid: tuple[str, ...] = ()
    """Moves that are wrong (UCI)."""
    mate: int | None = None
    """Moves to a forced mate, negative where the side to move is mated."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of a search on a test position."""

    task: Task
    solved: bool
    move: str
    """The move it would play (UCI)."""
    mate: int | None
    """Moves to a mate that is proven, negative when the side to move is mated."""
    state: str | None
    """What is proven about the position."""
    simulations_to_solution: int | None
    """Simulations at the first checkpoint from which on the answer stayed right; `None` if it is wrong."""
    seconds_to_solution: float | None
    simulations: int
    evaluations: int
    nodes: int
    seconds: float


def read_task(line: str, engine: Engine, source: str = "line 1") -> Task:
    """The task of an EPD line. Moves are SAN or UCI.

    The engine gives the variant and checks the position; it is left at the position.

    >>> read_task('6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; dm 1; id "back rank";', Engine()).best
    ('a1a8',)
    """
    position, operations = read_epd(line)
    engine.position = position
    if engine.is_over:
        raise GameOverError("the game is already over")
    board = board_of(engine.variant, engine.position, engine.chess960)
    mate = read_number(operations, "dm", is_signed=True)
    if mate is not None and int(mate) == 0:
        raise SuiteError("dm takes a number of moves, below zero where the side to move is mated, not 0")
    task = Task(
        source,
        " ".join(operations.get("id", [])) or source,
        engine.position,
        tuple(_move(board, text) for text in operations.get("bm", [])),
        tuple(_move(board, text) for text in operations.get("am", [])),
        None if mate is None else int(mate),
    )
    if not (task.best or task.avoid or task.mate):
        raise SuiteError("there is no answer: bm, am or dm")
    return task


def _move(board: chess.Board, text: str) -> str:
    """A move of SAN or UCI, as UCI."""
    bare = text.rstrip("!?")
    for read in (board.parse_san, board.parse_uci):
        try:
            return read(bare).uci()
        except ValueError:
            continue
    raise SuiteError(f"the move {text!r} cannot be read or is illegal in {board.fen()}")


def read_tasks(path: str | os.PathLike[str], read: Callable[[str, str], AnyTask]) -> list[AnyTask]:
    """What `read` makes of each line of a file and its source. Empty lines and lines that begin with '#' are
    skipped.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SuiteError(f"the file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SuiteError(f"the file {path} is no text: {error.reason} at byte {error.start}") from error
    tasks: list[AnyTask] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        source = f"{path}:{number}"
        try:
            tasks.append(read(line, source))
        except AnabranchError as error:
            raise SuiteError(f"{source}: {error}") from error
    return tasks


def read_suite(path: str | os.PathLike[str], engine: Engine) -> list[Task]:
    """The tasks of an EPD file."""
    return read_tasks(path, lambda line, source: read_task(line, engine, source))


def checkpoints(most: int | None) -> Iterator[int]:
    """Simulations after which the best move is read: a quarter more each time, ten to a decade.

    >>> list(checkpoints(300))
    [100, 125, 158, 199, 251, 300]
    """
    step = 0
    while True:
        number = int(FIRST_CHECKPOINT * 10 ** (step / CHECKPOINTS_PER_DECADE))
        if most is not None and number >= most:
            yield most
            return
        yield number
        step += 1


def attempt(engine: Engine, task: Task, limits: Limits, *, mates: bool = False) -> Attempt:
    """Search a task on a new graph until its limits are met or it is solved exactly.

    A proven mate in at most `dm` moves is always right. Otherwise the best move decides by `bm` and `am`;
    with `mates` only proofs count: of a mate in `dm` moves, or of any win where there is no `dm`. The
    search pauses at every checkpoint to read the answer, and continues with the same graph.

    >>> engine = Engine()
    >>> task = read_task("6k1/5ppp/8/8/8/8/8/R5K1 w - - dm 1;", engine)
    >>> attempt(engine, task, Limits(simulations=500)).mate
    1
    """
    engine.position = task.position
    engine.forget()
    board = board_of(engine.variant, task.position, engine.chess960)
    goal = task.mate if task.mate is not None and task.mate > 0 else None
    done = evaluations = 0
    seconds = 0.0
    since: tuple[int, float] | None = None
    for checkpoint in checkpoints(limits.simulations):
        left = None if limits.time is None else max(limits.time - seconds, 1e-3)
        part = replace(limits, simulations=max(checkpoint - done, 1), time=left, mate=goal)
        result = engine.search(limits=part, lines=0)
        done += result.statistics.simulations
        evaluations += result.statistics.evaluations
        seconds += result.elapsed
        if not _is_right(task, result, board, mates):
            since = None
        elif since is None:
            since = (done, seconds)
        if result.finish != "limit" or (limits.time is not None and seconds >= limits.time):
            break
    solved = result.solved
    return Attempt(
        task,
        since is not None,
        result.best_move,
        None if solved is None else solved.mate,
        None if solved is None else solved.state,
        None if since is None else since[0],
        None if since is None else since[1],
        done,
        evaluations,
        result.statistics.nodes,
        seconds,
    )


class TaskJob(NamedTuple):
    """A task to be attempted, with the engine and the limits."""

    number: int
    task: Task
    make_engine: Callable[[], Engine]
    limits: Limits
    mates: bool = False


_engines: dict[str, Engine] = {}
"""The engines of this process, kept from task to task."""


def attempt_job(job: TaskJob) -> tuple[int, Attempt]:
    """The number of a task and the attempt at it."""
    return job.number, attempt(engine_of(job.make_engine), job.task, job.limits, mates=job.mates)


def engine_of(make: Callable[[], Engine]) -> Engine:
    """The engine of a job, made once in a process."""
    key = repr(make)
    if key not in _engines:
        _engines[key] = make()
    return _engines[key]


def _is_right(task: Task, result: Result, board: chess.Board, mates: bool) -> bool:
    wins = result.solved is not None and result.solved.state in ("win", "tb-win")
    mate = None if result.solved is None else result.solved.mate
    if task.mate is not None and mate is not None:
        is_same_side = (mate > 0) == (task.mate > 0)
        if is_same_side and abs(mate) <= abs(task.mate):
            return True
    if mates:
        return task.mate is None and wins
    if not (task.best or task.avoid):
        return False
    move = board.parse_uci(result.best_move).uci()
    return (not task.best or move in task.best) and move not in task.avoid
