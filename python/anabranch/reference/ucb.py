"""UCT and UCD, Eq. (1), (2): selection by values and visits without priors.

UCD takes the numbers of an edge from a depth below it. They are computed anew at every selection.
"""

from __future__ import annotations

import math

from anabranch.reference.formulas import v_star
from anabranch.reference.graph import Edge, Node
from anabranch.reference.settings import ReferenceSettings

INFINITE = 255

Sums = tuple[float, float, float]
"""Values times weights, weights and visits below a node."""


def exploration(c: float, logarithm: float, visits: float) -> float:
    """Eq. (2): c sqrt(log(sum_b N_d2(s, b)) / N_d3(s, a)); the logarithm is given."""
    return c * math.sqrt(logarithm / visits)


class Below:
    """The numbers of edges by depth; they hold until something is backed up."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Sums] = {}

    def adapted(self, node: Node, edge: Edge, depth: int) -> tuple[float, float]:
        """The mean mu_d and the visits n_d of an edge: the numbers of Eq. (1), (2) at depth d."""
        child = edge.child
        if depth == 0 or child is None or not child.is_evaluated:
            return edge.q, float(edge.visits)
        drawn = edge.path_draws * node.draw
        if child.state.is_exact:
            plain = edge.visits - edge.path_draws
            mean = edge.target if edge.visits == 0 else (plain * edge.target + drawn) / edge.visits
            return mean, float(edge.visits)
        mass, weight, visits = self.sums(child, depth)
        return (v_star(mass) + drawn) / (weight + edge.path_draws), visits + edge.path_draws

    def sums(self, node: Node, depth: int) -> Sums:
        """What the edges into a node take from it."""
        if (id(node), depth) not in self.known:
            assert node.raw is not None
            mass, weight, visits = node.raw, 1.0, 1.0
            for edge in node.open_edges:
                if edge.visits > 0:
                    mean, n = self.adapted(node, edge, depth if depth == INFINITE else depth - 1)
                    mass += edge.visits * mean
                    weight += edge.visits
                    visits += n
            self.known[id(node), depth] = mass, weight, visits
        return self.known[id(node), depth]


def select_ucb(settings: ReferenceSettings, node: Node, urgency: float) -> Edge:
    """Eq. (1): argmax_a Q_d1(s, a) + U_d2,d3(s, a), each move once before any twice."""
    free = [edge for edge in node.open_edges if not edge.pruned]
    untried = [edge for edge in free if edge.visits + edge.in_flight == 0] + node.unopened_edges[:1]
    if untried:
        return untried[0]
    if not free:
        free = [edge for edge in node.open_edges if edge.child is not None and not edge.child.state.is_exact]
        untried = [edge for edge in free if edge.visits + edge.in_flight == 0]
        if untried:
            return untried[0]
    below = Below()
    total = 0.0
    for edge in node.open_edges:
        total += below.adapted(node, edge, settings.ucd_parent)[1] + edge.in_flight
    logarithm = math.log(total)
    scores = []
    for edge in free:
        mean = mean_in_flight(settings, below, node, edge, urgency)
        visits = below.adapted(node, edge, settings.ucd_visits)[1] + edge.in_flight
        scores.append(mean + exploration(settings.c_ucb, logarithm, visits))
    return free[scores.index(max(scores))]


def mean_in_flight(
    settings: ReferenceSettings, below: Below, node: Node, edge: Edge, urgency: float
) -> float:
    """The mean of an edge as selection reads it, in-flight visits counted as losses (or not at all)."""
    n, k = edge.visits, edge.in_flight
    mean, _ = below.adapted(node, edge, settings.ucd_value)
    is_known = n > 0 or (settings.ucd_value > 0 and edge.child is not None and edge.child.is_evaluated)
    if k == 0 or settings.virtual_mode == "visit":
        return mean if is_known else urgency
    return (n * mean - settings.virtual_loss * k) * (1 / (n + k))
