"""Judging: matches of networks at a fixed number of evaluations, for gates and for Elo.

The games are those of `anabranch.match`, in a folder of their own, so that a match that was interrupted goes
on. A gate is a sequential test (SPRT) of equal strength against a loss of strength, on pairs in the order of
their numbers, so that it does not depend on which worker was faster.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anabranch.catalogue import is_grid
from anabranch.jobs.executor import Executor
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord
from anabranch.match.grid_openings import random_openings
from anabranch.match.openings import Opening, default_openings
from anabranch.match.player import Budget, PlayerSpec, read_player
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Standings
from anabranch.match.statistics import Sprt, elo
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.search import FIXED

MOST_ELO = 2000.0
"""What stands for an infinite difference."""
PROGRAM = "uci:"
"""What an outsider that is a UCI program begins with."""
SETTINGS = {name: str(value) for name, value in FIXED.items()} | {
    "epsilon_greedy": "0.0",
    "epsilon_checks": "0.0",
}
"""One leaf at a time, without explorations."""


@dataclass(frozen=True, slots=True)
class MatchVerdict:
    """The outcome of a match."""

    counts: tuple[int, ...]
    """Pairs with 0, 1/2, 1, 3/2 and 2 points."""
    elo: float
    error: float | None
    """Half width of the interval of 95 %; `None` where the games do not determine it."""
    passed: bool
    seconds: float
    """Processor time; on a cluster, that of this process alone."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)

    def __str__(self) -> str:
        return f"{elo_words(self.elo, self.error)} in {self.pairs} pairs"


def elo_text(elo: float, error: float | None) -> str:
    """Elo with its error for people; where one player has all points, there is no number.

    >>> elo_text(41.2, 20.0), elo_text(0.0, None), elo_text(2000.0, None)
    ('+41 ± 20', '+0', 'all won')
    """
    if abs(elo) >= MOST_ELO:
        return "all won" if elo > 0.0 else "all lost"
    return f"{elo:+.0f}" + ("" if error is None else f" ± {error:.0f}")


def elo_words(elo: float, error: float | None) -> str:
    """The same with its unit, for sentences.

    >>> elo_words(41.2, 20.0), elo_words(-2000.0, None)
    ('+41 ± 20 Elo', 'all lost')
    """
    unit = "" if abs(elo) >= MOST_ELO else " Elo"
    return f"{elo_text(elo, error)}{unit}"


def bounded_elo(counts: Sequence[int]) -> tuple[float, float | None]:
    """Elo of counted pairs, at most `MOST_ELO`, and its error where the games determine it.

    >>> bounded_elo([0, 0, 0, 0, 3])
    (2000.0, None)
    """
    estimate = elo(counts)
    return float(np.clip(estimate.value, -MOST_ELO, MOST_ELO)), estimate.to_dict()["error"]


def finite_elo(counts: Sequence[int]) -> float:
    """Elo of counted pairs; where one player has all points, as if the other one had half a point.

    >>> finite_elo([0, 0, 0, 0, 3]), finite_elo([0, 0, 1, 0, 0])
    (416.6, 0.0)
    """
    games = 2 * sum(counts)
    points = sum(place * count for place, count in enumerate(counts)) / 2.0
    score = min(max(points, 0.5), games - 0.5) / games
    return round(400.0 * math.log10(score / (1.0 - score)), 1)


def player_of(name: str, evaluator: str, evaluations: int, simulations: float) -> PlayerSpec:
    """A player with an evaluator, or a UCI program, `uci:COMMAND,nodes=N`."""
    budget = Budget(evaluations=evaluations, simulations=max(1, round(simulations * evaluations)))
    if evaluator.startswith(PROGRAM):
        return read_player(f"{name}={evaluator}").with_budget(budget)
    return PlayerSpec(name, "preset", "default", {**SETTINGS, "evaluator": evaluator}, budget)


def match_spec(
    plan: LoopPlan, players: tuple[PlayerSpec, PlayerSpec], pairs: int, tag: int, test: Sprt | None = None
) -> MatchSpec:
    """A match of two players; `tag` tells the matches of a run apart."""
    longest = Adjudication(longest=plan.longest)
    return MatchSpec(
        players,
        tuple(openings_of(plan, pairs, tag)),
        pairs,
        plan.game,
        adjudication=longest,
        seed=plan.seed + 1000 * tag,
        sprt=test,
    )


def openings_of(plan: LoopPlan, pairs: int, tag: int) -> list[Opening]:
    """Of a game on a grid, random openings of the lengths that games begin with; else the package's own."""
    if not is_grid(plan.game):
        return default_openings(plan.game)
    source = np.random.default_rng([plan.seed, 11, tag])
    lengths = source.integers(2, max(3, plan.random_plies + 1), size=pairs)
    seeds = source.integers(2**31, size=pairs)
    found = [
        random_openings(plan.game, int(length), seed=int(seed), number=1)
        for length, seed in zip(lengths, seeds, strict=True)
    ]
    return [opening for openings in found for opening in openings]


def play_match(
    executor: Executor,
    spec: MatchSpec,
    folder: Path,
    on_game: Callable[[], object] = lambda: None,
) -> MatchVerdict:
    """Play a match, or the rest of it. It is passed unless its test rejects. `on_game` is called after every
    game.
    """
    begun = _processor_time()

    def heard(standings: Standings, record: GameRecord | None) -> None:
        on_game()

    standings = run_match(spec, folder, executor, heard)
    counts = standings.matchups[0].pairs if spec.sprt is None else standings.tested
    return MatchVerdict(
        counts,
        *bounded_elo(counts),
        standings.verdict != "rejected",
        round(_processor_time() - begun, 3),
    )


def _processor_time() -> float:
    """Of this process and its children that have ended."""
    return sum(os.times()[:4])
