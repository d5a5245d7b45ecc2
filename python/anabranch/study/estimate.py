"""Rough estimates of how long a study will take, as in `anabranch.match.estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anabranch.match.estimate import seconds_of_games, seconds_of_search
from anabranch.match.game import GameRecord, GameSpec
from anabranch.study.plan import Measurement

JUDGED = 0.06
"""Searches of the judge for each measurement of choices, about: most moves are the same."""


class Remaining(NamedTuple):
    """The games and measurements that a study still lacks."""

    matches: Sequence[tuple[Sequence[GameSpec], Sequence[GameRecord]]]
    """Of each match the missing games, and those that were played."""
    measurements: Sequence[Measurement]

    @property
    def games(self) -> int:
        """Games to play."""
        return sum(len(missing) for missing, _ in self.matches)

    @property
    def seconds(self) -> float:
        """Seconds that one process needs for all of it."""
        games = sum(seconds_of_games(missing, played) for missing, played in self.matches)
        return games + sum(map(seconds_of_measurement, self.measurements))


def seconds_of_measurement(one: Measurement) -> float:
    """Seconds of a measurement: its simulations or evaluations by the speed of the engine."""
    about = one.about
    options = tuple(sorted(about["settings"].items()))
    if one.kind == "game":
        return float(about["plies"]) * seconds_of_search(about["evaluations"], one.variant, options)
    if one.kind == "choice":
        own, judge = about["evaluations"], about["judge"]["evaluations"]
        return seconds_of_search(round(own + JUDGED * judge), one.variant, options)
    count = max(about["checkpoints"]) if "checkpoints" in about else about["simulations"]
    return seconds_of_search(count, one.variant, options)
