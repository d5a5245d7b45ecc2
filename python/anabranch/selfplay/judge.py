"""Judging: matches between evaluators at equal evaluations, for gates and for Elo.

A pair is one random opening with both colours. The gate is a sequential test (SPRT) on pairs, in the order of
their numbers, so that it does not depend on which worker was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anabranch.jobs.executor import Executor
from anabranch.match.statistics import Sprt, elo
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.play import play_random
from anabranch.selfplay.search import GameSearch


class PairJob(NamedTuple):
    """Two games from one opening."""

    plan: LoopPlan
    players: tuple[str, str]
    """Evaluators; the score is that of the first."""
    evaluations: tuple[int, int]
    """Of a move, for each of them."""
    number: int
    tag: int
    """Tells matches of a run apart."""


class PairDone(NamedTuple):
    """Points of the first player in the two games, 0 to 2 in steps of a half."""

    number: int
    points: float
    seconds: float


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

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)


def play_pair(job: PairJob) -> PairDone:
    """Play the two games of a pair."""
    begun = time.process_time()
    points = sum(_play(job, first) for first in (0, 1))
    return PairDone(job.number, points, time.process_time() - begun)


def _play(job: PairJob, first: int) -> float:
    """The points of player 0 in a game that player `first` begins."""
    source = np.random.default_rng([job.plan.seed, 11, job.tag, job.number])
    seed = int(source.integers(2**62))
    plies = int(source.integers(2, max(3, job.plan.random_plies + 1)))
    games = [
        GameSearch(job.plan.game, player, seed=seed, epsilon_greedy=0.0, epsilon_checks=0.0)
        for player in job.players
    ]
    sessions = [game.session for game in games]
    played = play_random(sessions[0], plies, source)
    sessions[1].set_position(None, sessions[0].game()[1])
    turn = _turn(sessions[0].fen(), first)
    while (ending := sessions[0].ending()) is None and played < job.plan.longest:
        budget = job.evaluations[turn]
        report = games[turn].search(budget, round(job.plan.simulations * budget))
        move = report["best_move"] or sessions[turn].legal_moves()[0]
        for session in sessions:
            session.play(move)
        played += 1
        turn = _turn(sessions[0].fen(), first)
    if ending is None:
        return 0.5
    own = ending if turn == 0 else -ending
    return (own + 1.0) / 2.0


def _turn(text: str, first: int) -> int:
    """Which player moves in a position: `first` has x."""
    return first if text.split()[1] == "x" else 1 - first


def play_match(
    executor: Executor,
    plan: LoopPlan,
    players: tuple[str, str],
    evaluations: tuple[int, int],
    pairs: int,
    tag: int,
    test: Sprt | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> MatchVerdict:
    """A match of at most so many pairs; a test may end it sooner. Without a decision the score decides."""
    waiting: dict[int, PairDone] = {}
    counts, seen, seconds = [0] * 5, 0, 0.0
    verdict = "continue"

    def jobs() -> Iterator[PairJob]:
        for number in range(pairs):
            if verdict != "continue" or stopped():
                return
            yield PairJob(plan, players, evaluations, number, tag)

    with closing(executor.run(play_pair, jobs())) as done:
        for pair in done:
            waiting[pair.number] = pair
            seconds += pair.seconds
            while verdict == "continue" and seen in waiting:
                counts[round(2 * waiting[seen].points)] += 1
                seen += 1
                if test is not None:
                    verdict = test.verdict(counts)
    estimate = elo(counts)
    error = estimate.error if np.isfinite(estimate.error) else None
    passed = verdict == "accepted" or (verdict == "continue" and _share(counts) >= 0.5)
    return MatchVerdict(tuple(counts), float(np.clip(estimate.value, -2000, 2000)), error, passed, seconds)


def _share(counts: list[int]) -> float:
    total = sum(counts)
    return sum(number * i for i, number in enumerate(counts)) / (4.0 * total) if total else 0.5
