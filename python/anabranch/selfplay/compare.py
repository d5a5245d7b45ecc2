"""Two ways to run self-play against each other: the networks of equal generations meet in matches.

Each way may have several runs, which differ in their seed; a run of one way meets the run of the other way at
the same place, and the pairs of all are counted together. So graph and tree are compared, or any two plans.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import SelfPlayError
from anabranch.jobs.executor import Executor
from anabranch.selfplay.folder import RunFolder
from anabranch.selfplay.judge import (
    MOST_ELO,
    bounded_elo,
    elo_text,
    elo_words,
    match_spec,
    play_match,
    player_of,
)
from anabranch.selfplay.pictures import check_picture, write_picture


@dataclass(frozen=True, slots=True)
class ComparedGeneration:
    """The networks of one generation of two ways, from the point of view of the first."""

    generation: int
    counts: tuple[int, ...]
    """Pairs with 0, 1/2, 1, 3/2 and 2 points, of all runs."""
    runs: tuple[tuple[int, ...], ...]
    """The same of each run against the one at its place."""
    elo: float
    """2000 stands for all points, -2000 for none."""
    error: float | None
    """Half width of the interval of 95 % by the games; `None` where they do not determine it. It does not
    cover how much runs of one way differ."""
    evaluations: tuple[int, int]
    """Evaluations in the games of self-play up to here, of all runs, for each way."""


def differing(first: Sequence[RunFolder], second: Sequence[RunFolder]) -> list[str]:
    """In what the plans of two ways differ, and those of the runs of one way, besides their seeds.

    Ways that cannot be compared are refused.
    """
    _check_ways(first, second)
    found = [f"{name}: {one} against {other}" for name, one, other in _differences(first[0], second[0])]
    for way in (first, second):
        for run in way[1:]:
            found += [
                f"runs of one way differ in {name}: {one} in {way[0].path}, {other} in {run.path}"
                for name, one, other in _differences(way[0], run)
            ]
    return found


def _differences(first: RunFolder, second: RunFolder) -> list[tuple[str, Any, Any]]:
    one, other = first.plan.as_dict(), second.plan.as_dict()
    return [(name, one[name], other[name]) for name in one if name != "seed" and one[name] != other[name]]


def _check_ways(first: Sequence[RunFolder], second: Sequence[RunFolder]) -> None:
    if len(first) != len(second) or not first:
        raise SelfPlayError(f"each way needs as many runs as the other, not {len(first)} and {len(second)}")
    game, seen = first[0].plan.game, set[Path]()
    for run in (*first, *second):
        if run.path.resolve() in seen:
            raise SelfPlayError(f"{run.path} is given twice")
        seen.add(run.path.resolve())
        if run.plan.game != game:
            raise SelfPlayError(
                f"{first[0].path} is a run of {game} and cannot be compared with {run.path}, "
                f"one of {run.plan.game}"
            )


def compare(
    first: Sequence[RunFolder],
    second: Sequence[RunFolder],
    pairs: int,
    evaluations: int | None,
    out: Path,
    executor: Executor,
) -> Iterator[ComparedGeneration]:
    """A row for each generation that all runs have, matches of so many pairs for each two runs.

    `evaluations` of a move are those of the first plan's gates by default. The games are kept in `out`, so
    the same call continues.
    """
    _check_ways(first, second)
    for name, count in (("pairs", pairs), ("evaluations", evaluations)):
        if count is not None and count < 1:
            raise SelfPlayError(f"{name} must be at least 1, not {count}")
    common = set(first[0].generations("learn"))
    common = common.intersection(*(run.generations("learn") for run in (*first, *second)))
    if not common:
        raise SelfPlayError("there is no generation that all runs have learned")

    def row(generation: int) -> ComparedGeneration:
        runs: list[tuple[int, ...]] = []
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            budget = one.plan.gate_evaluations if evaluations is None else evaluations
            files = [str(run.network_file(generation).resolve()) for run in (one, other)]
            players = (
                player_of("first", files[0], budget, one.plan.simulations),
                player_of("second", files[1], budget, one.plan.simulations),
            )
            # The same openings in every generation.
            spec = match_spec(one.plan, players, pairs, 2000 + number)
            verdict = play_match(executor, spec, out / f"{generation:04d}" / str(number))
            runs.append(verdict.counts)
        total = tuple(map(sum, zip(*runs, strict=True)))
        spent = (_spent(first, generation), _spent(second, generation))
        return ComparedGeneration(generation, total, tuple(runs), *bounded_elo(total), spent)

    return map(row, sorted(common))


def _spent(way: Sequence[RunFolder], generation: int) -> int:
    """Evaluations in the games of self-play of all runs, up to a generation."""
    records = (item for run in way for item in run.records("play").items())
    return sum(record["evaluations"] for key, record in records if key[1] <= generation)


def compared_text(row: ComparedGeneration) -> str:
    """A row as text."""
    points = sum(place * count for place, count in enumerate(row.counts)) / 2.0
    games = 2 * sum(row.counts)
    each = ", ".join(elo_text(bounded_elo(counts)[0], None) for counts in row.runs)
    runs = f" (by run {each})" if len(row.runs) > 1 else ""
    return (
        f"generation {row.generation:>3}: {points:g} of {games} points, "
        f"{elo_words(row.elo, row.error)}{runs}; "
        f"evaluations in self-play {row.evaluations[0]:,} and {row.evaluations[1]:,}"
    )


def draw_compared(rows: Sequence[ComparedGeneration], path: Path) -> None:
    """Draw the Elo of the first way against the second over the generations, of all runs and of each pair.

    A generation in which one way has all points is left out.
    """
    check_picture(path)
    from matplotlib.figure import Figure

    def shown(elo: float) -> float:
        return elo if abs(elo) < MOST_ELO else math.nan

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    numbers = [row.generation for row in rows]
    errors = [math.nan if row.error is None else row.error for row in rows]
    for place in range(len(rows[0].runs) if len(rows[0].runs) > 1 else 0):
        each = [shown(bounded_elo(row.runs[place])[0]) for row in rows]
        axes.plot(numbers, each, "x", color="0.6", label="a pair of runs" if place == 0 else None)
    axes.errorbar(numbers, [shown(row.elo) for row in rows], errors, marker="o", capsize=3, label="all runs")
    axes.axhline(0.0, color="0.8", zorder=0)
    axes.set_xticks(numbers)
    axes.set_xlabel("generation")
    axes.set_ylabel("Elo of the first way against the second")
    axes.legend()
    write_picture(figure, path)
