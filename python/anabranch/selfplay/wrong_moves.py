"""Wrong moves in Connect Four: how often a network with a small search gives away a win or a draw.

Test positions come with exact scores, as in `anabranch.bench.exact`. The exact result after a move is that of
the core's solver, which knows no search and no network. Results are kept in a file, because early positions
take seconds each.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anabranch import _core
from anabranch.bench.exact import ExactTask, read_exact
from anabranch.engine import Engine
from anabranch.errors import SelfPlayError
from anabranch.jobs.executor import Executor, Processes
from anabranch.jobs.files import write_json
from anabranch.selfplay.search import GameSearch
from anabranch.selfplay.targets import WORTH

GAME = "connect-four"
MOST = 1_000_000_000
"""Positions after which the solver gives up: about a minute."""
SIMULATIONS = 4
"""Most simulations for each evaluation of a move: where nearly all is proven, most need none."""
TABLE = 1 << 24
"""Results in the solver's table."""


@dataclass(frozen=True, slots=True)
class WrongMoves:
    """How a file of positions was played."""

    name: str
    positions: int
    decidable: int
    """Positions that are not lost, where a move can be wrong."""
    wrong: int
    undecided: int
    """Moves whose result the solver did not find; they count as right."""
    seconds: float
    """Processor time of the searches."""

    @property
    def share(self) -> float:
        """Wrong moves per position."""
        return self.wrong / max(1, self.positions)


class Chosen(NamedTuple):
    """A task, the move played, and the position after it."""

    task: ExactTask
    move: str
    after: str
    over: float | None
    """The result after the move for the side to move then, where the game is over."""


class ResultJob(NamedTuple):
    """A position to be solved, and the positions after which the solver gives up."""

    position: str
    most: int
    least: int
    """A result that the side to move has at least."""


class ResultDone(NamedTuple):
    """1, 0 or -1 for the side to move of a position; `None` where the solver gave up."""

    position: str
    result: int | None


@cache
def _solver() -> _core.ConnectFourSolver:
    return _core.ConnectFourSolver(TABLE)


def solve_exactly(job: ResultJob) -> ResultDone:
    """Solve a position, with the table of this process."""
    return ResultDone(job.position, _solver().solve(job.position, job.most, job.least))


class ExactResults:
    """Exact results of positions, kept in a file."""

    def __init__(self, path: Path | None, most: int = MOST, executor: Executor | None = None) -> None:
        self._path = path
        self._most = most
        self._executor = executor or Processes(0)
        self._known: dict[str, int | None] = {}
        self._new = 0
        if path is not None and path.is_file():
            self._known = json.loads(path.read_text(encoding="utf-8"))

    def find(self, positions: Mapping[str, int]) -> None:
        """Solve the positions that are not known yet, each with a result that it has at least."""
        missing = {one: least for one, least in positions.items() if one not in self._known}
        jobs = [ResultJob(one, self._most, least) for one, least in missing.items()]
        with closing(self._executor.run(solve_exactly, jobs)) as results:
            for done in results:
                self._known[done.position] = done.result
                self._new += 1
                if self._new % 20 == 0:
                    self.save()
        self.save()

    def result(self, position: str, least: int = -1) -> int | None:
        """1, 0 or -1 for the side to move; `None` where the solver gave up."""
        if position not in self._known:
            self.find({position: least})
        return self._known[position]

    def save(self) -> None:
        """Write the file. What was given up may be tried again with more positions."""
        if self._path is not None and self._new:
            write_json(self._path, {one: found for one, found in self._known.items() if found is not None})


def choose(evaluator: str, tasks: Iterable[ExactTask], evaluations: int) -> list[Chosen]:
    """The move of a search with so many evaluations in every position; with 0, the first choice of the
    network.
    """
    chosen = []
    for task in tasks:
        game = GameSearch(GAME, evaluator, epsilon_greedy=0.0, epsilon_checks=0.0)
        session = game.session
        session.set_position(None, task.position.split())
        if evaluations == 0:
            report = game.search(1)
            prior = game.statistics(report).prior
            move = report["moves"][int(prior.argmax())]["move"]
        else:
            move = game.search(evaluations, SIMULATIONS * evaluations)["best_move"]
        session.play(move)
        chosen.append(Chosen(task, move, session.fen(), session.ending()))
    return chosen


def count_wrong(chosen: Sequence[Chosen], exact: ExactResults) -> tuple[int, int]:
    """How many moves change win, draw or loss, and how many are undecided."""
    wrong = undecided = 0
    worths = [int(WORTH[one.task.result]) for one in chosen]
    # After a move, the other side has at least what the position was worth to it.
    open_ones = [(one, worth) for one, worth in zip(chosen, worths, strict=True) if one.over is None]
    exact.find({one.after: -worth for one, worth in open_ones if worth > -1})
    for one, worth in zip(chosen, worths, strict=True):
        if worth == -1:
            continue
        after = one.over if one.over is not None else exact.result(one.after, -worth)
        if after is None:
            undecided += 1
        else:
            wrong += -after < worth
    return wrong, undecided


def check_files(
    evaluator: str, files: Sequence[Path], evaluations: int, exact: ExactResults, limit: int | None = None
) -> Iterator[WrongMoves]:
    """Wrong moves in each file, or in the first `limit` positions of it."""
    engine = Engine(GAME, evaluator="uniform")
    for file in files:
        tasks = read_exact(file, engine)[:limit]
        if not tasks:
            raise SelfPlayError(f"{file} has no positions")
        begun = time.process_time()
        chosen = choose(evaluator, tasks, evaluations)
        seconds = time.process_time() - begun
        decidable = sum(task.result != "loss" for task in tasks)
        wrong, undecided = count_wrong(chosen, exact)
        yield WrongMoves(file.stem, len(tasks), decidable, wrong, undecided, seconds)
