"""The improved policy of Gumbel AlphaZero, Eq. (G1) to (G4): logits of the priors with values beside them.

Functions of a table of prospects, and the tables of a node. The plan of the root is in `gumbel`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.reference.graph import Edge, Node
from anabranch.reference.settings import ReferenceSettings

LEAST_PRIOR = 2.0**-24


@dataclass(frozen=True)
class Prospect:
    """A move as the improved policy sees it; visits in flight count."""

    prior: float
    visits: int
    q: float | None

    @property
    def logit(self) -> float:
        """The logarithm of the prior, which stands for the logit."""
        return math.log(self.prior)


def prospect_of(settings: ReferenceSettings, edge: Edge) -> Prospect:
    """The numbers of an edge: an exact value where there is one, else Q as selection reads it."""
    n, k = edge.visits, edge.in_flight
    q: float | None = None
    if edge.child is not None and edge.child.state.is_exact:
        q = edge.target
    elif n > 0 and (k == 0 or settings.virtual_mode == "visit"):
        q = edge.q
    elif k > 0 and settings.virtual_mode == "loss":
        q = (n * edge.q - settings.virtual_loss * k) * (1 / (n + k))
    return Prospect(max(edge.prior, LEAST_PRIOR), n + k, q)


def mixed_value(raw: float, prospects: Sequence[Prospect]) -> float:
    """Eq. (G1): v_mix, from the node's own evaluation and the moves with a value."""
    visits, priors, mass = 0, 0.0, 0.0
    for prospect in prospects:
        if prospect.q is not None:
            visits += prospect.visits
            priors += prospect.prior
            mass += prospect.prior * prospect.q
    return (raw + visits * (mass / priors)) / (1 + visits) if priors > 0.0 else raw


def sigma(q: float, most_visits: int, c_visit: float, c_scale: float) -> float:
    """Eq. (G2): the weight of a value against a logit; the value is taken to [0, 1] first."""
    return (c_visit + most_visits) * c_scale * ((q + 1.0) / 2.0)


def improved_logits(settings: ReferenceSettings, raw: float, prospects: Sequence[Prospect]) -> list[float]:
    """The logits of the priors plus the weighted values, completed by the mixed value."""
    mixed = mixed_value(raw, prospects)
    most = max((prospect.visits for prospect in prospects), default=0)
    values = [mixed if prospect.q is None else prospect.q for prospect in prospects]
    return [
        prospect.logit + sigma(q, most, settings.c_visit, settings.c_scale)
        for prospect, q in zip(prospects, values, strict=True)
    ]


def improved_policy(logits: Sequence[float]) -> list[float]:
    """Eq. (G3): pi' = softmax(logits + sigma(completed Q))."""
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = 0.0
    for weight in weights:
        total += weight
    return [weight * (1 / total) for weight in weights]


def least_served(policy: Sequence[float], visits: Sequence[int]) -> int:
    """Eq. (G4): the first maximum of pi'(a) - N(a) / (1 + sum_b N(b))."""
    total = 1 + sum(visits)
    scores = [share - n / total for share, n in zip(policy, visits, strict=True)]
    return scores.index(max(scores))


def select_improved(settings: ReferenceSettings, node: Node) -> Edge:
    """The edge that a simulation follows with `selection = "improved"`."""
    assert node.raw is not None
    edges = [edge for edge in node.edges if not edge.pruned]
    if not edges:
        edges = [edge for edge in node.open_edges if edge.child is not None and not edge.child.state.is_exact]
    prospects = [prospect_of(settings, edge) for edge in edges]
    policy = improved_policy(improved_logits(settings, node.raw, prospects))
    return edges[least_served(policy, [prospect.visits for prospect in prospects])]


def improved_root(settings: ReferenceSettings, root: Node) -> dict[str, float]:
    """Eq. (G3) over all moves of the root, by their text: a training target."""
    if root.raw is None or not root.edges:
        return {}
    prospects = [prospect_of(settings, edge) for edge in root.edges]
    policy = improved_policy(improved_logits(settings, root.raw, prospects))
    return {edge.move.uci(): share for edge, share in zip(root.edges, policy, strict=True)}
