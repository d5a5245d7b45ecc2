"""A weaker engine on request: what UCI_Elo means for a search.

A handicap is a cap of simulations, a temperature of move choice and a share of moves drawn at random. The
table below gives those that were measured at which Elo of Stockfish's scale (`scripts/calibrate_elo.py`);
in between it is interpolated. This file plays nothing: a player calls `stray` first, and else searches
with `simulations` and `settings`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Self, TypedDict

LOWEST = 500
HIGHEST = 2100
C_INIT, WIDTH_VISITS = 2.5, 0
"""The exploration, and what was in flight, in the games by which the handicaps were measured."""
MEASURED = 2100
"""Above this Elo the table is extrapolated, not measured."""


class HandicapSettings(TypedDict):
    """Arguments of `Engine.configure`."""

    temperature: float
    seed: int
    c_init: float
    width_visits: int


@dataclass(frozen=True, slots=True)
class Handicap:
    """What holds an engine back.

    >>> Handicap.of(1000).simulations <= Handicap.of(2000).simulations
    True
    >>> Handicap.of(1000).blunders > Handicap.of(2000).blunders
    True
    """

    simulations: int
    """Most simulations for a move."""
    temperature: float
    """The setting `temperature`: how freely moves are drawn by their visits."""
    blunders: float
    """Share of moves that are drawn from all legal ones."""

    @classmethod
    def of(cls, elo: float) -> Self:
        """The handicap that plays at an Elo; beyond the ends of the scale, that of the end."""
        elo = min(max(elo, LOWEST), HIGHEST)
        above = next((index for index, (at, _) in enumerate(LEVELS) if at >= elo), len(LEVELS) - 1)
        below = max(above - 1, 0)
        (low, weak), (high, strong) = LEVELS[below], LEVELS[above]
        share = 1.0 if high == low else (elo - low) / (high - low)
        return cls(
            round(math.exp(_between(math.log(weak.simulations), math.log(strong.simulations), share))),
            _between(weak.temperature, strong.temperature, share),
            _between(weak.blunders, strong.blunders, share),
        )

    def settings(self, random: Random) -> HandicapSettings:
        """The settings of one search. The seed is a new one, so the search starts from an empty graph: what
        earlier searches found must not help, or the strength would not be the one that was measured.
        """
        return {
            "temperature": self.temperature,
            "seed": random.getrandbits(48),
            "c_init": C_INIT,
            "width_visits": WIDTH_VISITS,
        }

    def stray(self, moves: Sequence[str], random: Random) -> str | None:
        """A move drawn from all legal ones, as often as the handicap says; `None` where one should search.

        >>> Handicap(10, 0.0, 1.0).stray(["e2e4"], Random(1))
        'e2e4'
        >>> Handicap(10, 0.0, 0.0).stray(["e2e4"], Random(1)) is None
        True
        """
        if moves and random.random() < self.blunders:
            return random.choice(moves)
        return None


def _between(low: float, high: float, share: float) -> float:
    return low + (high - low) * min(max(share, 0.0), 1.0)


LEVELS: tuple[tuple[int, Handicap], ...] = (
    (245, Handicap(10, 1.50, 0.45)),
    (435, Handicap(12, 1.30, 0.30)),
    (675, Handicap(16, 1.10, 0.18)),
    (880, Handicap(24, 0.90, 0.10)),
    (1145, Handicap(40, 0.70, 0.05)),
    (1445, Handicap(70, 0.50, 0.02)),
    (1725, Handicap(150, 0.35, 0.0)),
    (1880, Handicap(400, 0.20, 0.0)),
    (2005, Handicap(1200, 0.10, 0.0)),
    (2095, Handicap(4000, 0.05, 0.0)),
    (2100, Handicap(4200, 0.05, 0.0)),
)
"""Elo and handicap, the weakest first. The last row was not played: it stands a little above the one before
it, to end the scale at a round number."""
