"""The standings of a match: points, pairs, Elo with error, LLR, ratings, faults.

Everything is counted from records, so a match that was interrupted continues from its file. Nothing here
plays or prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from anabranch.match.game import GameRecord
from anabranch.match.ratings import PairResult, met, rate
from anabranch.match.schedule import MatchSpec
from anabranch.match.statistics import Estimate, Verdict, elo, normalised_elo, superiority


@dataclass(frozen=True, slots=True)
class Matchup:
    """The results of two players against each other, from the point of view of the first."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    pairs: tuple[int, int, int, int, int]
    """Complete pairs by their points: 0, 1/2, 1, 3/2, 2."""

    @property
    def games(self) -> int:
        """Games, those of incomplete pairs too."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Of the first."""
        return self.wins + self.draws / 2.0

    @property
    def elo(self) -> Estimate:
        """From complete pairs."""
        return elo(self.pairs)

    @property
    def normalised_elo(self) -> Estimate:
        """From complete pairs."""
        return normalised_elo(self.pairs)

    @property
    def superiority(self) -> float:
        """Likelihood that the first is the stronger one, from complete pairs."""
        return superiority(self.pairs)


@dataclass(frozen=True, slots=True)
class Standings:
    """The standings of a match."""

    spec: MatchSpec
    games: int
    matchups: tuple[Matchup, ...]
    faults: dict[str, dict[str, int]]
    """Games that a player lost by its own fault, by kind."""
    reasons: dict[str, int]
    """How games ended."""
    tested: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    """What the SPRT has seen: complete pairs in the order of their numbers, up to the one that decided. So
    the verdict does not depend on which worker was faster."""

    @property
    def ratio(self) -> float | None:
        """The log-likelihood ratio of the SPRT, if there is one."""
        test = self.spec.sprt
        return None if test is None else test.ratio(self.tested)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the SPRT, if there is one."""
        test = self.spec.sprt
        return None if test is None else test.verdict(self.tested)

    @property
    def is_over(self) -> bool:
        """Whether all games are played or the SPRT has decided."""
        return self.games >= self.spec.games or self.verdict in ("accepted", "rejected")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        document: dict[str, Any] = {
            "games": self.games,
            "games_planned": self.spec.games,
            "players": [asdict(player) for player in self.spec.players],
            "meetings": [_document(matchup) for matchup in self.matchups],
            "faults": self.faults,
            "reasons": self.reasons,
        }
        if self.spec.sprt is not None:
            test = self.spec.sprt
            document["sprt"] = {
                **asdict(test),
                "llr": self.ratio,
                "lower": test.lower,
                "upper": test.upper,
                "verdict": self.verdict,
            }
        return document


def _document(matchup: Matchup) -> dict[str, Any]:
    return {
        **asdict(matchup),
        "games": matchup.games,
        "points": matchup.points,
        "elo": matchup.elo.to_dict(),
        "normalised_elo": matchup.normalised_elo.to_dict(),
        "los": matchup.superiority,
    }


class Tally:
    """Counts records one by one."""

    def __init__(self, spec: MatchSpec, records: Iterable[GameRecord] = ()) -> None:
        self._spec = spec
        self._games: Counter[tuple[int, int]] = Counter()
        self._pairs: dict[int, list[int]] = {place: [0] * 5 for place in range(len(spec.pairings))}
        self._half: dict[int, float] = {}
        self._waiting: dict[int, float] = {}
        self._tested = [0] * 5
        self._next = spec.first * len(spec.pairings)
        self._reasons: Counter[str] = Counter()
        self._faults: dict[str, Counter[str]] = {player.name: Counter() for player in spec.players}
        self.rated: list[PairResult] = []
        for record in records:
            self.add(record)

    @classmethod
    def of(cls, spec: MatchSpec, records: Mapping[tuple[int, int], GameRecord]) -> Tally:
        """The tally of a folder's records, which may have more pairs than the match has now."""
        planned = {game.key for game in spec.schedule()}
        return cls(spec, (record for key, record in records.items() if key in planned))

    @classmethod
    def of_counts(
        cls,
        spec: MatchSpec,
        wins: int,
        draws: int,
        losses: int,
        pairs: Sequence[int],
        faults: Mapping[str, Mapping[str, int]],
    ) -> Tally:
        """The tally of a match of two players whose games were counted before, for the first of them."""
        tally = cls(spec)
        for player, kinds in faults.items():
            tally._faults[player].update(kinds)
        for points, games in enumerate((losses, draws, wins)):
            tally._games[0, points] = games
        tally._pairs[0] = list(pairs)
        names = spec.players[0].name, spec.players[1].name
        tally.rated = [
            PairResult(*names, half / 2.0) for half, count in enumerate(pairs) for _ in range(count)
        ]
        return tally

    def add(self, record: GameRecord) -> None:
        """Count a game."""
        place = record.pair % len(self._spec.pairings)
        first, second = (self._spec.players[number].name for number in self._spec.pairings[place])
        points = record.points_of(first)
        self._games[place, round(2 * points)] += 1
        self._reasons[record.reason] += 1
        if record.fault is not None:
            loser = record.white if record.white_points == 0.0 else record.black
            self._faults[loser][record.reason] += 1
        other = self._half.pop(record.pair, None)
        if other is None:
            self._half[record.pair] = points
        else:
            self._pairs[place][round(2 * (points + other))] += 1
            self._waiting[record.pair] = points + other
            self._test()
            self.rated.append(PairResult(first, second, points + other))

    def _test(self) -> None:
        """Give the SPRT the pairs whose turn has come."""
        test = self._spec.sprt
        while test is not None and self._next in self._waiting and test.verdict(self._tested) == "continue":
            self._tested[round(2 * self._waiting.pop(self._next))] += 1
            self._next += 1

    def standings(self) -> Standings:
        """The standings now."""
        matchups = []
        for place, (first, second) in enumerate(self._spec.pairings):
            losses, draws, wins = (self._games[place, points] for points in range(3))
            names = self._spec.players[first].name, self._spec.players[second].name
            matchups.append(Matchup(*names, wins, draws, losses, _five(self._pairs[place])))
        faults = {name: dict(kinds) for name, kinds in self._faults.items() if kinds}
        return Standings(
            self._spec, self._games.total(), tuple(matchups), faults, dict(self._reasons.most_common()),
            _five(self._tested),
        )  # fmt: skip

    def ratings(self) -> Mapping[str, Estimate]:
        """The ratings of all players, from complete pairs.

        Empty until all players are connected by games, and for two players without an anchor, whose Elo is
        the same.
        """
        if len(self._spec.players) == 2 and self._spec.anchor is None:
            return {}
        names = {player.name for player in self._spec.players}
        if met(self.rated, self._spec.players[0].name) != names:
            return {}
        return rate(self.rated, *(self._spec.anchor or (self._spec.players[-1].name, 0.0)))


def _five(pairs: list[int]) -> tuple[int, int, int, int, int]:
    return pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]
