"""What is special about an edge into a transposition node: the stop rule and the correction.

It compares an edge's Q with its target, Eq. (7) to (10), and changes nothing.
"""

from __future__ import annotations

from anabranch.reference.formulas import clip, q_delta, q_phi, v_star
from anabranch.reference.graph import Edge, Node
from anabranch.reference.settings import ReferenceSettings


def stops(settings: ReferenceSettings, edge: Edge, child: Node) -> bool:
    """Whether a simulation stops at this transposition node without a new evaluation."""
    return stops_of(settings, edge, child, 1, False) > 0


def stops_of(settings: ReferenceSettings, edge: Edge, child: Node, visits: int, is_new: bool) -> int:
    """How many of the visits that chose an edge stop at its child; a new edge is no parent of it yet."""
    if not (child.is_transposition or (is_new and child.parents)):
        return 0
    if settings.stop == "gap":
        gap = abs(q_delta(edge.q, v_star(child.best_value)))
        return min(visits, int(edge.visits == 0 or gap > settings.q_epsilon))
    if settings.stop == "visits":
        return min(visits, max(0, child.visits - edge.visits))
    return 0


def correction(settings: ReferenceSettings, edge: Edge) -> float:
    """The value that puts the mean of the edge on its target: clipped, or in mode `delta` of any size."""
    if settings.backup == "paper":
        return clip(q_phi(edge.visits, edge.q, edge.target), settings.value_min, settings.value_max)
    return (edge.visits + 1) * edge.target - edge.visits * edge.q
