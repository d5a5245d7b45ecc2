"""The root of Gumbel AlphaZero, Eq. (G5), (G6): moves drawn without replacement, and sequential halving.

A plan belongs to one search of one root. It names the edge of the root that the next simulation takes, and
waits where a halving needs results that are in flight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from anabranch.reference.graph import Edge, Node
from anabranch.reference.improved import improved_logits, prospect_of
from anabranch.reference.random import Random
from anabranch.reference.settings import ReferenceSettings


def draw_gumbel(random: Random) -> float:
    """A variate of the standard Gumbel distribution."""
    u = ((random.next() >> 11) + 0.5) * 2.0**-53
    return -math.log(-math.log(u))


def halvings(count: int) -> int:
    """ceil(log2(count)), at least 1."""
    return max(1, (count - 1).bit_length())


def visits_of_phase(simulations: int, phases: int, count: int) -> int:
    """Visits of each of `count` moves in a phase of sequential halving."""
    return max(1, simulations // (phases * count))


def largest(scores: Sequence[float], count: int) -> list[int]:
    """Indices of the largest scores in descending order, the first of equals first."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])[:count]


class HalvingPlan:
    """Which edge of the root the simulations of a search take."""

    def __init__(
        self, settings: ReferenceSettings, root: Node, random: Random, simulations: int | None
    ) -> None:
        self.settings = settings
        self.root = root
        self.noise = {edge.code: draw_gumbel(random) for edge in root.edges}
        self.is_limited = simulations is not None
        self.simulations = simulations or 0
        self.begin()

    def begin(self) -> None:
        """The first phase: the moves with the largest sum of noise and logit."""
        edges = [edge for edge in self.root.edges if not edge.pruned]
        scale = self.settings.gumbel_scale
        scores = [scale * self.noise[edge.code] + prospect_of(self.settings, edge).logit for edge in edges]
        kept = largest(scores, self.settings.gumbel_considered)
        self.phases = halvings(len(kept))
        if self.simulations == 0:
            self.simulations = self.phases * len(kept)
        self.begin_phase([edges[i] for i in kept])

    def begin_phase(self, edges: Sequence[Edge]) -> None:
        """Consider these edges from now on, in this order."""
        self.share = visits_of_phase(self.simulations, self.phases, max(1, len(edges)))
        self.considered = [(edge, edge.visits + edge.in_flight) for edge in edges]

    def scores(self) -> dict[int, float]:
        """Eq. (G5): G(a) = g(a) + logit(a) + sigma(q(a)) of the moves that are not pruned."""
        assert self.root.raw is not None
        edges = [edge for edge in self.root.edges if not edge.pruned]
        logits = improved_logits(self.settings, self.root.raw, [prospect_of(self.settings, e) for e in edges])
        scale = self.settings.gumbel_scale
        return {e.code: scale * self.noise[e.code] + logit for e, logit in zip(edges, logits, strict=True)}

    def select(self) -> tuple[Edge | None, bool]:
        """The edge of the next simulation, and whether the plan waits for what is in flight.

        Neither where every move is pruned.
        """
        while True:
            scores = self.scores()
            rows = [
                (edge, edge.visits + edge.in_flight - n) for edge, n in self.considered if not edge.pruned
            ]
            if not rows:
                self.begin()
                if not self.considered:
                    return None, False
                continue
            least = min(given for _, given in rows)
            if least < self.share:
                behind = [edge for edge, given in rows if given == least]
                return max(behind, key=lambda edge: scores[edge.code]), False
            if self.root.in_flight > 0:
                return None, True
            if len(rows) <= 2 and not self.is_limited:
                self.simulations *= 2
                self.begin()
                continue
            kept = largest([scores[edge.code] for edge, _ in rows], max(2, len(rows) // 2))
            self.begin_phase([rows[i][0] for i in kept])

    def choice(self) -> Edge | None:
        """Eq. (G6): the move to play, the first of the visited considered moves with the largest G."""
        scores = self.scores()
        visited = [e for e, _ in self.considered if not e.pruned and e.visits + e.in_flight > 0]
        return max(visited, key=lambda edge: scores[edge.code], default=None)
