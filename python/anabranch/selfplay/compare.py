"""Two ways to run self-play against each other: the networks of equal generations meet in matches.

Each way may have several runs, which differ in their seed; a run of one way meets the run of the other way at
the same place, and the pairs of all are counted together. So graph and tree are compared, or any two plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import SelfPlayError
from anabranch.jobs.executor import Executor
from anabranch.match.statistics import elo
from anabranch.selfplay.folder import RunFolder
from anabranch.selfplay.judge import match_spec, play_match, player_of


@dataclass(frozen=True, slots=True)
class ComparedGeneration:
    """The networks of one generation of two ways, from the point of view of the first."""

    generation: int
    counts: tuple[int, ...]
    """Pairs with 0, 1/2, 1, 3/2 and 2 points, of all runs."""
    elo: float | None
    error: float | None
    """`None` where the games do not determine it."""
    evaluations: tuple[int, int]
    """Evaluations in the games of self-play up to here, of all runs, for each way."""


def differing(first: RunFolder, second: RunFolder) -> list[str]:
    """In what the plans of two runs differ, besides their seeds.

    Runs of different games are refused.
    """
    plans = [folder.plan.as_dict() for folder in (first, second)]
    if plans[0]["game"] != plans[1]["game"]:
        raise SelfPlayError(f"a run of {plans[0]['game']} cannot be compared with one of {plans[1]['game']}")
    names = [name for name in plans[0] if name != "seed" and plans[0][name] != plans[1][name]]
    return [f"{name}: {plans[0][name]} against {plans[1][name]}" for name in names]


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
    if len(first) != len(second) or not first:
        raise SelfPlayError(f"each way needs as many runs as the other, not {len(first)} and {len(second)}")
    common = set(first[0].generations("learn"))
    common = common.intersection(*(run.generations("learn") for run in (*first, *second)))
    if not common:
        raise SelfPlayError("there is no generation that all runs have learned")
    for generation in sorted(common):
        total = [0] * 5
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            budget = evaluations or one.plan.gate_evaluations
            players = (
                player_of("first", str(one.network_file(generation).resolve()), budget, one.plan.simulations),
                player_of(
                    "second", str(other.network_file(generation).resolve()), budget, one.plan.simulations
                ),
            )
            # The same openings in every generation.
            spec = match_spec(one.plan, players, pairs, 2000 + number)
            verdict = play_match(executor, spec, out / f"{generation:04d}" / str(number))
            total = [old + new for old, new in zip(total, verdict.counts, strict=True)]
        estimate = elo(total).to_dict()
        spent = [
            sum(
                record["evaluations"]
                for run in way
                for key, record in run.records("play").items()
                if key[1] <= generation
            )
            for way in (first, second)
        ]
        yield ComparedGeneration(
            generation, tuple(total), estimate["value"], estimate["error"], (spent[0], spent[1])
        )


def compared_text(row: ComparedGeneration) -> str:
    """A row as text."""
    value = "-" if row.elo is None else f"{row.elo:+.0f}"
    error = "" if row.error is None else f" ± {row.error:.0f}"
    points = sum(place * count for place, count in enumerate(row.counts)) / 2.0
    games = 2 * sum(row.counts)
    return (
        f"generation {row.generation:>3}: {points:g} of {games} points, {value}{error} Elo; evaluations in "
        f"self-play {row.evaluations[0]:,} and {row.evaluations[1]:,}"
    )
