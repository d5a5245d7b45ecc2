"""The move that is played: Eq. (12) to (15), and three other choosers.

Functions of visits and values; `root_policy` applies them to the root of a graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import chess

from anabranch.reference.graph import Node
from anabranch.reference.settings import ReferenceSettings
from anabranch.reference.solver import forced_edge

LINEAR_WEIGHT = 0.7
LCB_Z = 1.96
LCB_MIN_SHARE = 0.1


def visit_policy(visits: Sequence[int]) -> list[float]:
    """Eq. (12): pi(a) = N(a) / sum_b N(b).

    Differs from the paper: the temperature comes last (`sharpen`), or it would drown the correction of Eq.
    (14).
    """
    total = sum(visits)
    return [n / total for n in visits]


def q_gap(q_alpha: float, q_beta: float) -> float:
    """Eq. (13): Q_Delta = Q(a_beta) - Q(a_alpha)."""
    return q_beta - q_alpha


def pi_corr(q_weight: float, gap: float, pi_alpha: float) -> float:
    """Eq. (15): pi_corr = Q_weight Q_Delta pi(a_alpha)."""
    return q_weight * gap * pi_alpha


def q_value_policy(visits: Sequence[int], q: Sequence[float], q_weight: float) -> list[float]:
    """Eq. (14): pi'(a_beta) = pi(a_beta) + pi_corr when the second most visited move has the better Q."""
    pi = visit_policy(visits)
    if len(pi) < 2:
        return pi
    order = sorted(range(len(visits)), key=lambda i: -visits[i])
    alpha, beta = order[0], order[1]
    gap = q_gap(q[alpha], q[beta])
    if gap > 0.0:
        pi[beta] += pi_corr(q_weight, gap, pi[alpha])
    return normalise(pi)


def linear_policy(visits: Sequence[int], q: Sequence[float], weight: float = LINEAR_WEIGHT) -> list[float]:
    """The older mix of CrazyAra: (1 - w) visits + w (Q + 1) / 2, both summing to one."""
    share = [(x + 1.0) / 2.0 for x in q]
    if sum(share) <= 0.0:
        return visit_policy(visits)
    return [
        (1.0 - weight) * n + weight * s for n, s in zip(visit_policy(visits), normalise(share), strict=True)
    ]


def lcb_policy(visits: Sequence[int], q: Sequence[float]) -> list[float]:
    """All weight on the best Q - z sqrt((1 - Q^2) / N), among moves with a tenth of the most visits."""
    floor = LCB_MIN_SHARE * max(visits)
    bounds = [
        x - LCB_Z * math.sqrt(max(0.0, 1.0 - x * x) / n) if n >= floor else -math.inf
        for n, x in zip(visits, q, strict=True)
    ]
    best = bounds.index(max(bounds))
    return [1.0 if i == best else 0.0 for i in range(len(bounds))]


def secure_policy(visits: Sequence[int], q: Sequence[float], weight: float) -> list[float]:
    """Eq. (W1): all weight on the secure child, the best Q - A / sqrt(N)."""
    values = [x - weight / math.sqrt(n) for n, x in zip(visits, q, strict=True)]
    best = values.index(max(values))
    return [1.0 if i == best else 0.0 for i in range(len(values))]


def normalise(weights: Sequence[float]) -> list[float]:
    """Scale to a sum of one."""
    total = sum(weights)
    return [w / total for w in weights]


def sharpen(pi: Sequence[float], tau: float) -> list[float]:
    """The temperature of Eq. (12): pi^(1/tau) renormalised; tau = 0 keeps only the first maximum."""
    top = max(pi)
    if tau == 0.0:
        best = list(pi).index(top)
        return [1.0 if i == best else 0.0 for i in range(len(pi))]
    return normalise([(p / top) ** (1.0 / tau) for p in pi])


def root_policy(settings: ReferenceSettings, root: Node) -> list[tuple[chess.Move, float]]:
    """Eq. (12)-(15): the distribution over the root's moves from which the move is chosen.

    With the solver on, a proven win takes everything (the shortest), and a proven loss gets nothing.
    """
    edges = root.edges
    if settings.solver:
        forced = forced_edge(settings, root)
        if forced is not None:
            return [(forced.move, 1.0)]
        edges = [edge for edge in edges if not edge.pruned]
    visited = [edge for edge in edges if edge.visits > 0]
    if not visited:
        return [(edge.move, 1.0) for edge in edges[:1]]
    visits, q = [edge.visits for edge in visited], [edge.q for edge in visited]
    if settings.chooser == "q":
        pi = q_value_policy(visits, q, settings.q_weight)
    elif settings.chooser == "linear":
        pi = linear_policy(visits, q)
    elif settings.chooser == "lcb":
        pi = lcb_policy(visits, q)
    elif settings.chooser == "secure":
        pi = secure_policy(visits, q, settings.secure_weight)
    else:
        pi = visit_policy(visits)
    pi = sharpen(pi, settings.temperature)
    return [(edge.move, p) for edge, p in zip(visited, pi, strict=True)]
