"""A study carried out: games and measurements given out together, whatever comes back kept at once.

All matches advance side by side, pair by pair, so that a study that is stopped early has something to say
about each. Where the work is done is for the executor to say; files are written here alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.cluster import Executor
from anabranch.locking import locked
from anabranch.match.game import GameRecord, GameSpec, close_players, play_game
from anabranch.match.results import SUMMARY, Results, open_results, write_whole
from anabranch.match.runner import check_players, summary
from anabranch.match.standing import Count
from anabranch.study.folder import (
    Findings,
    enter,
    match_folder,
    open_measurements,
    read_document,
    read_findings,
)
from anabranch.study.measure import measure
from anabranch.study.plan import Contest, Measurement, Plan, Study
from anabranch.study.recipes import find_recipe

Tell = Callable[[int, int, str], object]
"""Hears how many jobs are done, of how many, and what came last."""


class GameJob(NamedTuple):
    """A game of a contest."""

    contest: str
    game: GameSpec


class Done(NamedTuple):
    """What a job came to."""

    job: GameJob | Measurement
    result: Any


def do(job: GameJob | Measurement) -> Done:
    """Do a job, wherever this is."""
    if isinstance(job, GameJob):
        return Done(job, play_game(job.game))
    return Done(job, measure(job))


def run_study(
    study: Study,
    folder: Path,
    executor: Executor,
    variants: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    tell: Tell = lambda done, planned, words: None,
) -> Findings:
    """Do what a folder lacks of a study, or of a part of it, and say what it holds then."""
    plan = find_recipe(study.recipe).plan(study)
    part = plan.chosen(variants, names)
    for contest in part.contests:
        check_players(contest.spec)
    folder.mkdir(parents=True, exist_ok=True)
    words = " ".join(["all" if not (variants or names) else "only", *variants, *names])
    with locked(folder / ".lock"):
        enter(folder, study, plan, words)
        with ExitStack() as stack:
            _work(part, folder, executor, tell, stack)
    return read_findings(folder, study, plan)


def open_study(folder: Path) -> Findings:
    """What a folder holds."""
    study = Study.from_dict(read_document(folder))
    return read_findings(folder, study, find_recipe(study.recipe).plan(study))


def _work(part: Plan, folder: Path, executor: Executor, tell: Tell, stack: ExitStack) -> None:
    boards = {contest.key: _Board(contest, folder, stack) for contest in part.contests}
    notes = stack.enter_context(open_measurements(folder))
    missing = [one for one in part.measurements if one.key not in notes.found]
    games = list(_side_by_side([board.missing for board in boards.values()]))
    planned = sum(contest.spec.games for contest in part.contests) + len(part.measurements)
    done = planned - len(games) - len(missing)
    tell(done, planned, "")
    jobs: list[GameJob | Measurement] = [*games, *missing]
    results = stack.enter_context(closing(executor.run(do, jobs, close_players)))
    for job, result in results:
        if isinstance(job, GameJob):
            words = boards[job.contest].add(result)
        else:
            notes.add(job, result)
            words = job.key
        done += 1
        tell(done, planned, words)


def _side_by_side(lists: list[list[GameJob]]) -> Iterator[GameJob]:
    """The first two of every list, then the next two: a pair is finished before another begins."""
    pairs = [[games[at : at + 2] for at in range(0, len(games), 2)] for games in lists]
    for turn in zip_longest(*pairs, fillvalue=()):
        for pair in turn:
            yield from pair


class _Board:
    """A contest under way."""

    def __init__(self, contest: Contest, folder: Path, stack: ExitStack) -> None:
        self._contest = contest
        self._folder = match_folder(folder, contest)
        self._results: Results = stack.enter_context(open_results(self._folder, contest.spec.to_dict()))
        planned = {game.key: game for game in contest.spec.schedule()}
        records = self._results.records
        self._count = Count(contest.spec, (record for key, record in records.items() if key in planned))
        self.missing = [GameJob(contest.key, game) for key, game in planned.items() if key not in records]
        stack.callback(self._close)

    def add(self, record: GameRecord) -> str:
        """Keep a game; where the contest stands, in words."""
        if self._results.add(record):
            self._count.add(record)
        meetings = self._count.standing().meetings[0]
        return f"{self._contest.key} {meetings.points:g} - {meetings.games - meetings.points:g}"

    def _close(self) -> None:
        document = summary(self._contest.spec, self._count)
        write_whole(self._folder / SUMMARY, json.dumps(document, indent=1) + "\n")
