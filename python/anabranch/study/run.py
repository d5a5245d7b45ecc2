"""Runs studies: the games of all matches and the measurements are given to one executor.

All matches advance side by side, pair by pair, so that a study that is stopped early has results of each.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.errors import StudyError
from anabranch.jobs.executor import Executor
from anabranch.jobs.progress import OnProgress, no_progress
from anabranch.match import results as match_results
from anabranch.match.engine_player import read_settings
from anabranch.match.game import GameRecord
from anabranch.match.player import PlayerSpec
from anabranch.match.runner import GameDone, GameJob, check_match, open_match, play_job, play_matches
from anabranch.match.runner import describe as describe_match
from anabranch.study.estimate import Remaining
from anabranch.study.experiments import find_experiment
from anabranch.study.folder import (
    FOLDER,
    JOURNAL,
    MEASUREMENTS,
    StudyResults,
    add_run,
    describe,
    match_folder,
    read_results_of,
)
from anabranch.study.left_right import LeftRightPosition
from anabranch.study.measure import engine_of, measure
from anabranch.study.plan import Measurement, Plan, Study

OnStart = Callable[[Remaining], object]
"""Receives what is missing, before the first job."""

ONE_SIDED = 20
"""Pairs after which a match that one side has won whole gets no more, where an error is given."""
LEAST_PAIRS = 50
"""Pairs before the error of a match is used: that of the first few may be 0 by chance."""


class Measured(NamedTuple):
    """A measurement that is done."""

    measurement: Measurement
    found: dict[str, Any]


def do_job(job: GameJob | Measurement) -> GameDone | Measured:
    """Play a game or do a measurement, in this process."""
    return play_job(job) if isinstance(job, GameJob) else Measured(job, measure(job))


def run_study(
    study: Study,
    folder: Path,
    executor: Executor,
    variants: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    on_progress: OnProgress = no_progress,
    error: float = 0.0,
    on_start: OnStart = lambda remaining: None,
) -> StudyResults:
    """Do what a folder lacks of a study, or of a part of it; returns all results of the folder.

    A match whose Elo has an error smaller than `error` gets no more pairs, after at least `LEAST_PAIRS`. With
    an `error` above 0 neither does one of which one side has won all of the first `ONE_SIDED` pairs or more.
    """
    read_settings(PlayerSpec("all", "preset", "default", study.settings))
    plan = find_experiment(study.experiment).plan(study)
    part = plan.chosen(variants, names)
    wanted = describe(study, plan)
    FOLDER.check(folder, wanted)
    check_plan(part)
    _check_played(folder, part)
    words = " ".join(["all" if not (variants or names) else "only", *variants, *names])
    words += f" to ± {error:g}" if error else ""
    with FOLDER.open(folder, wanted, add_run(words)):
        _run(part, folder, executor, on_progress, error, on_start)
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
        game = LeftRightPosition(one.about["steps"]) if one.kind == "left-right" else None
        engine_of(one.variant, one.about["preset"], one.about["settings"], game)


def _check_played(folder: Path, part: Plan) -> None:
    """Refuse a folder whose games or measurements are of other settings, as those of earlier versions are."""
    for match in part.matches:
        match_results.FOLDER.check(match_folder(folder, match), describe_match(match.spec))
    records = JOURNAL.read(folder / MEASUREMENTS)
    for one in part.measurements:
        known = records.get(one.key)
        if known is None or known["about"]["about"] == one.about:
            continue
        before, now = known["about"]["about"], one.about
        if before.get("settings") != now["settings"]:
            before, now = before.get("settings", {}), now["settings"]
        names = sorted(name for name in {**before, **now} if before.get(name) != now.get(name))
        raise StudyError(
            f"{folder} has measurements with other settings: {one.key} differs in {', '.join(names)}; "
            "take another folder"
        )


def open_study(folder: Path) -> StudyResults:
    """The results of a folder."""
    study = Study.from_dict(FOLDER.read(folder))
    return read_results_of(folder, study, find_experiment(study.experiment).plan(study))


def _run(
    part: Plan, folder: Path, executor: Executor, on_progress: OnProgress, error: float, on_start: OnStart
) -> None:
    with ExitStack() as stack:
        matches = {
            match.key: stack.enter_context(open_match(match.spec, match_folder(folder, match)))
            for match in part.matches
        }
        journal = stack.enter_context(JOURNAL.open(folder / MEASUREMENTS))
        missing = [one for one in part.measurements if one.key not in journal.records]
        remaining = Remaining([(one.missing, one.played) for one in matches.values() if one.missing], missing)
        planned = sum(match.spec.games for match in part.matches) + len(part.measurements)
        done = planned - remaining.games - len(missing)

        def report(words: str) -> None:
            nonlocal done
            done += 1
            on_progress(done, planned, words)

        def on_game(key: str, record: GameRecord) -> None:
            matchup = matches[key].standings.matchups[0]
            report(f"{key} {matchup.points:g} - {matchup.games - matchup.points:g}")

        def on_measured(result: Measured) -> None:
            one, found = result
            journal.add(one.key, {"about": asdict(one), "found": found})
            report(one.key)

        def is_precise(key: str) -> bool:
            nonlocal planned
            matchup = matches[key].standings.matchups[0]
            pairs = sum(matchup.pairs)
            is_enough = (pairs >= LEAST_PAIRS and matchup.elo.error < error) or (
                error > 0.0 and pairs >= ONE_SIDED and pairs in (matchup.pairs[0], matchup.pairs[-1])
            )
            planned -= 2 * is_enough
            return is_enough

        if remaining.games or missing:
            on_start(remaining)
        on_progress(done, planned, "")
        play_matches(
            matches,
            executor,
            on_game,
            skip_pair=is_precise,
            work=do_job,
            other_jobs=missing,
            on_other=on_measured,
        )
