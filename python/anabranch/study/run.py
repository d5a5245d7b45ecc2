"""A study carried out: games and measurements given out together, whatever comes back kept at once.

All matches advance side by side, pair by pair, so that a study that is stopped early has something to say
about each. Where the work is done is for the executor to say; files are written here alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.jobs.executor import Executor
from anabranch.jobs.files import remove_files, write_json
from anabranch.jobs.folder import locked
from anabranch.match.engine_player import read_settings
from anabranch.match.game import GameRecord, GameSpec, close_players, play_game
from anabranch.match.player import PlayerSpec
from anabranch.match.results import SUMMARY, Results, open_results, read_results
from anabranch.match.runner import check_match, summary
from anabranch.match.standings import Tally
from anabranch.study.estimate import Remaining
from anabranch.study.experiments import find_experiment
from anabranch.study.folder import (
    StudyResults,
    check_folder,
    clear,
    enter,
    has_results,
    match_folder,
    open_measurements,
    read_document,
    read_results_of,
)
from anabranch.study.measure import engine_of, measure
from anabranch.study.plan import Measurement, Plan, Study, StudyMatch

OnProgress = Callable[[int, int, str], object]
"""Receives the number of jobs done, of jobs planned, and what was done last, in words."""
OnStart = Callable[[Remaining], object]
"""Receives what is missing, before the first job."""

LEAST_PAIRS = 50
"""Pairs before the error of a match is believed: that of the first few may be nought by chance."""


class GameJob(NamedTuple):
    """A game of a match."""

    match: str
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
    on_progress: OnProgress = lambda done, planned, words: None,
    error: float = 0.0,
    on_start: OnStart = lambda remaining: None,
) -> StudyResults:
    """Do what a folder lacks of a study, or of a part of it, and say what it holds then.

    A match whose Elo has an error smaller than `error` gets no more pairs.
    """
    read_settings(PlayerSpec("all", "preset", "default", study.settings))
    plan = find_experiment(study.experiment).plan(study)
    part = plan.chosen(variants, names)
    check_folder(folder, study, plan)
    check_plan(part)
    folder.mkdir(parents=True, exist_ok=True)
    words = " ".join(["all" if not (variants or names) else "only", *variants, *names])
    words += f" to ± {error:g}" if error else ""
    with locked(folder / ".lock"):
        enter(folder, study, plan, words)
        try:
            with ExitStack() as stack:
                _work(part, folder, executor, on_progress, stack, error, on_start)
        except Exception:
            if not has_results(folder):
                clear(folder)
                remove_files(folder, ".lock")
            raise
    return read_results_of(folder, study, plan)


def check_plan(plan: Plan) -> None:
    """Refuse what cannot be played or measured, before anything is written."""
    for match in plan.matches:
        check_match(match.spec)
    engines = {
        (one.variant, one.about["preset"], json.dumps(one.about["settings"])): one
        for one in plan.measurements
    }
    for one in engines.values():
        engine_of(one.variant, one.about["preset"], one.about["settings"])


def open_study(folder: Path) -> StudyResults:
    """What a folder holds."""
    study = Study.from_dict(read_document(folder))
    return read_results_of(folder, study, find_experiment(study.experiment).plan(study))


def _work(
    part: Plan,
    folder: Path,
    executor: Executor,
    on_progress: OnProgress,
    stack: ExitStack,
    error: float,
    on_start: OnStart,
) -> None:
    boards = {match.key: _Board(match, folder, stack) for match in part.matches}
    notes = stack.enter_context(open_measurements(folder))
    missing = [one for one in part.measurements if one.key not in notes.found]
    pairs = list(_side_by_side([board.missing for board in boards.values()]))
    planned = sum(match.spec.games for match in part.matches) + len(part.measurements)
    done = planned - sum(map(len, pairs)) - len(missing)
    spared = 0

    def jobs() -> Iterator[GameJob | Measurement]:
        """What is to do, drawn one by one as workers are free: so the last pair decides about the next."""
        nonlocal spared
        for pair in pairs:
            if len(pair) > 1 and boards[pair[0].match].is_precise(error):
                spared += len(pair)
            else:
                yield from pair
        yield from missing

    if pairs or missing:
        on_start(Remaining([board.rest for board in boards.values() if board.missing], missing))
    on_progress(done, planned, "")
    results = stack.enter_context(closing(executor.run(do, jobs(), close_players)))
    for job, result in results:
        if isinstance(job, GameJob):
            words = boards[job.match].add(result)
        else:
            notes.add(job, result)
            words = job.key
        done += 1
        on_progress(done, planned - spared, words)


def _side_by_side(lists: list[list[GameJob]]) -> Iterator[list[GameJob]]:
    """The first pair of every list, then the next one. Of a pair there may be one game left."""
    pairs = [[list(games) for _, games in groupby(jobs, lambda job: job.game.pair)] for jobs in lists]
    for turn in zip_longest(*pairs):
        yield from filter(None, turn)


class _Board:
    """A match under way."""

    def __init__(self, match: StudyMatch, folder: Path, stack: ExitStack) -> None:
        self._contest = match
        self._folder = match_folder(folder, match)
        self._results: Results = stack.enter_context(open_results(self._folder, match.spec.to_dict()))
        planned = {game.key: game for game in match.spec.schedule()}
        records = self._results.records
        self._tally = Tally.of(match.spec, records)
        self.missing = [GameJob(match.key, game) for key, game in planned.items() if key not in records]
        stack.callback(self._close)

    @property
    def rest(self) -> tuple[list[GameSpec], list[GameRecord]]:
        """The games that are missing, and those that were played."""
        return [job.game for job in self.missing], list(self._results.records.values())

    def add(self, record: GameRecord) -> str:
        """Keep a game; where the match stands, in words."""
        if self._results.add(record):
            self._tally.add(record)
        matchup = self._tally.standings().matchups[0]
        return f"{self._contest.key} {matchup.points:g} - {matchup.games - matchup.points:g}"

    def is_precise(self, error: float) -> bool:
        """Whether the error of Elo is smaller than this."""
        matchup = self._tally.standings().matchups[0]
        return sum(matchup.pairs) >= LEAST_PAIRS and matchup.elo.error < error

    def _close(self) -> None:
        # From the file: Ctrl-C may have come between a game that was written and its count.
        document = summary(self._contest.spec, Tally.of(self._contest.spec, read_results(self._folder)))
        write_json(self._folder / SUMMARY, document)
