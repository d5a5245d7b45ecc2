"""Ratings of many players who played pairs of games: Bradley and Terry's model, with errors by bootstrap.

A player of strength r scores 1 / (1 + 10^((s - r) / 400)) points on average against one of strength s; a draw
is half a point. So for two players the difference is the Elo of `anabranch.match.statistics`. One player, the
anchor, has a given rating. Nothing here knows games.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import MatchError
from anabranch.match.statistics import ELO_SCALE, NORMAL_95, Estimate

PRIOR_DEVIATION = 2000.0
"""Elo. Strengths are held together this weakly, so that a player who won or lost all has a finite rating."""
ROUNDS = 200
"""Samples of the bootstrap."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of one pair of games, or of one game, of two players."""

    first: str
    second: str
    points: float
    """Of the first."""
    games: int = 2


def rate(
    results: Sequence[PairResult],
    anchor: str,
    rating: float = 0.0,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> dict[str, Estimate]:
    """The rating of every player with its error of 95 %, the anchor's without one.

    >>> found = rate([PairResult("a", "b", 1.5), PairResult("a", "b", 1.0)] * 20, "b")
    >>> round(found["a"].value, 1), found["b"]
    (88.7, Estimate(value=0.0, error=0.0))
    """
    players = sorted({name for result in results for name in (result.first, result.second)})
    if anchor not in players:
        raise MatchError(f"the anchor {anchor} has not played")
    place = {name: number for number, name in enumerate(players)}
    pairs = np.array([[place[result.first], place[result.second]] for result in results])
    points = np.array([result.points for result in results], dtype=float)
    games = np.array([result.games for result in results], dtype=float)
    if np.any(points < 0.0) or np.any(points > games):
        raise MatchError("a pair has from no point to as many as games")
    for name in sorted(set(players) - met(results, players[0])):
        raise MatchError(f"{players[0]} and {name} have not met, nor by way of others")
    fixed = place[anchor]
    strengths = _fit(pairs, points, games, len(players))
    spread = _bootstrap(pairs, points, games, strengths, fixed, rounds, seed)
    known = measured(results, anchor)
    for number, name in enumerate(players):
        if name not in known:
            spread[number] = np.inf  # only the prior determines it
    spread[fixed] = 0.0
    relative = strengths - strengths[fixed]
    return {
        name: Estimate(
            rating + ELO_SCALE * float(relative[number]), NORMAL_95 * ELO_SCALE * float(spread[number])
        )
        for name, number in place.items()
    }


def _bootstrap(
    pairs: NDArray[np.int_],
    points: NDArray[np.float64],
    games: NDArray[np.float64],
    strengths: NDArray[np.float64],
    fixed: int,
    rounds: int,
    seed: int,
) -> NDArray[np.float64]:
    """Standard errors of the strengths relative to a player; infinite where all samples agree."""
    source = np.random.default_rng(seed)
    groups = _groups(pairs)
    drawn = []
    for _ in range(rounds):
        # Within each pair of players, so that they play as often in every sample.
        chosen = np.concatenate([source.choice(group, len(group)) for group in groups])
        sample = _fit(pairs[chosen], points[chosen], games[chosen], len(strengths), strengths)
        drawn.append(sample - sample[fixed])
    spread = np.std(np.array(drawn), axis=0, ddof=1) if rounds > 1 else np.zeros(len(strengths))
    spread[spread < 1e-9] = np.inf
    return spread


def _groups(pairs: NDArray[np.int_]) -> list[NDArray[np.int_]]:
    keys = {tuple(sorted(pair)) for pair in pairs.tolist()}
    ordered = np.sort(pairs, axis=1)
    return [np.flatnonzero((ordered == key).all(axis=1)) for key in sorted(keys)]


def met(results: Iterable[PairResult], player: str) -> set[str]:
    """A player and all opponents, direct and indirect.

    >>> sorted(met([PairResult("a", "b", 1.0), PairResult("c", "b", 1.0), PairResult("d", "e", 1.0)], "a"))
    ['a', 'b', 'c']
    """
    links = {(result.first, result.second) for result in results}
    return _reach(player, links | {(second, first) for first, second in links})


def measured(results: Iterable[PairResult], anchor: str) -> set[str]:
    """The players whose distance to the anchor has a finite estimate: both sides took points.

    A player, or a group of them, that won everything may be any distance above the others.
    """
    taken = set()
    for result in results:
        if result.points > 0.0:
            taken.add((result.first, result.second))
        if result.points < result.games:
            taken.add((result.second, result.first))
    return _reach(anchor, taken) & _reach(anchor, {(second, first) for first, second in taken})


def _reach(start: str, links: set[tuple[str, str]]) -> set[str]:
    reached = {start}
    while more := {second for first, second in links if first in reached} - reached:
        reached |= more
    return reached


def _fit(
    pairs: NDArray[np.int_],
    points: NDArray[np.float64],
    games: NDArray[np.float64],
    players: int,
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Most likely strengths, in units of log odds, by Newton's method on a concave likelihood."""
    matrix: NDArray[np.float64] = np.zeros((players, players))
    met: NDArray[np.float64] = np.zeros((players, players))
    np.add.at(matrix, (pairs[:, 0], pairs[:, 1]), points)
    np.add.at(matrix, (pairs[:, 1], pairs[:, 0]), games - points)
    np.add.at(met, (pairs[:, 0], pairs[:, 1]), games)
    np.add.at(met, (pairs[:, 1], pairs[:, 0]), games)
    hold = (ELO_SCALE / PRIOR_DEVIATION) ** 2
    strengths: NDArray[np.float64] = np.zeros(players) if start is None else start.copy()
    for _ in range(100):
        expected = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
        slope = (matrix - met * expected).sum(axis=1) - hold * strengths
        curve = met * expected * (1.0 - expected)
        bend = np.diag(curve.sum(axis=1) + hold) - curve
        step = np.linalg.solve(bend, slope)
        step *= min(1.0, 1.0 / float(np.max(np.abs(step), initial=1e-300)))
        strengths = strengths + step
        if float(np.max(np.abs(step))) < 1e-10:
            break
    return strengths
