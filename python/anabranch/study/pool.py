"""Pools studies: games of parts of one study that were played apart are counted together.

Parts have the same seed and different pairs of games (`first_pair`), so together they are the study that one
machine would have played. Summaries are enough, so machines that share neither a disk nor a cluster can add
to one result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from anabranch.errors import StudyError
from anabranch.evaluators.open import split_runtime
from anabranch.jobs.folder import shortened
from anabranch.match.standings import Tally
from anabranch.study.experiments import find_experiment
from anabranch.study.experiments.bars import BARS
from anabranch.study.experiments.scaling import SCALING
from anabranch.study.folder import StudyResults
from anabranch.study.plan import EXPERIMENT, Study, StudyMatch

EQUAL = (EXPERIMENT, "seed", "games", "size", "settings", "tablebases", "networks", "presets", "tuned")
"""What parts have in common. Folders of tables may differ, and of a network file, which has a checksum."""
POOLED = (*BARS, SCALING.name)
"""Experiments whose matches are at equal evaluations: time is not the same on another machine."""


def pool(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The summary of the games of several studies, of which each has other pairs."""
    if len(summaries) < 2:
        raise StudyError("pooling takes two studies or more")
    first = summaries[0]
    if first[EXPERIMENT] not in POOLED:
        names = ", ".join(POOLED)
        raise StudyError(f"only studies of {names} are pooled, and this is one of {first[EXPERIMENT]}")
    for other in summaries:
        _check_alike(first, other)
    _check_matches(summaries)
    ranges = sorted(pairs for one in summaries for pairs in one["ranges"])
    for (start, end), (following, last) in pairwise(ranges):
        if following < end:
            raise StudyError(
                f"two studies have the same pairs of games, {start} to {end - 1} and {following} to "
                f"{last - 1}; each part has a --first-pair of its own"
            )
    results = _results(summaries, ranges)
    figures = find_experiment(first[EXPERIMENT]).show(results)
    return {
        **first,
        "size": results.study.size.to_dict(),
        "ranges": ranges,
        "matches": {key: mark for one in summaries for key, mark in one["matches"].items()},
        "progress": {name: sum(one["progress"][name] for one in summaries) for name in first["progress"]},
        "runs": [run for one in summaries for run in one["runs"]],
        **figures.to_dict(),
    }


def _check_alike(first: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse a study that is no part of the same one."""
    if "ranges" not in other:
        raise StudyError(
            "a summary of an earlier version does not say which pairs it has, so it is not pooled"
        )
    for name in EQUAL:
        ours, theirs = _compared(first, name), _compared(other, name)
        if ours != theirs:
            what = "experiment" if name == EXPERIMENT else name
            raise StudyError(
                f"the studies are not parts of one: their {what} differ, {shortened(ours)} and "
                f"{shortened(theirs)}"
            )


def _check_matches(summaries: Sequence[dict[str, Any]]) -> None:
    """Refuse a match whose players or rules are others in another part."""
    marks: dict[str, str] = {}
    for one in summaries:
        for key, mark in one["matches"].items():
            if marks.setdefault(key, mark) != mark:
                raise StudyError(f"the studies are not parts of one: players or rules of {key} differ")


def _compared(summary: dict[str, Any], name: str) -> Any:
    """A part of a summary without what may differ: how many pairs were planned, and where files are."""
    part: Any = summary.get(name)
    if name == "tablebases":
        return bool(part)
    if name == "settings" and "evaluator" in (part or {}):
        runtime, file = split_runtime(part["evaluator"])
        is_file = "evaluator" in summary["networks"]
        return {**part, "evaluator": [runtime, "a file" if is_file else file]}
    if name == "size":
        return {key: value for key, value in part.items() if key != "pairs"}
    return part


def _results(summaries: Sequence[dict[str, Any]], ranges: Sequence[Sequence[int]]) -> StudyResults:
    """The results of a study as large as all of them."""
    first = summaries[0]
    size = {**first["size"], "pairs": sum(end - start for start, end in ranges)}
    study = Study.from_dict({**first, "size": size})
    plan = find_experiment(study.experiment).plan(study)
    tallies = {}
    for match in plan.matches:
        rows = [row for one in summaries for row in _rows(one) if _is_of(row, match)]
        if rows:
            wins, draws, losses = (sum(row[name] for row in rows) for name in ("wins", "draws", "losses"))
            counts = [sum(numbers) for numbers in zip(*(row["pairs"] for row in rows), strict=True)]
            faults: dict[str, Counter[str]] = {}
            for row in rows:
                for player, kinds in row.get("faults", {}).items():  # earlier versions stored none
                    faults.setdefault(player, Counter()).update(kinds)
            tallies[match.key] = Tally.of_counts(match.spec, wins, draws, losses, counts, faults)
    lost = {key for one in summaries for key in one["matches"]} - tallies.keys()
    if lost:
        raise StudyError(f"this version has no match {min(lost)} in the experiment {study.experiment}")
    return StudyResults(study, plan, tallies, {})


def _rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of all matches of a study."""
    return [row for table in summary["tables"] for row in table["rows"] if "pairs" in row]


def _is_of(row: dict[str, Any], match: StudyMatch) -> bool:
    return (row["variant"], row["name"], row["group"]) == (match.variant, match.name, match.group)
