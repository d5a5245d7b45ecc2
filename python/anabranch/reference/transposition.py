"""What is special about an edge into a transposition node: the stop rule and the correction.

It compares an edge's Q with its target, Eq. (7) to (10), and changes nothing.
"""

from __future__ import annotations

from anabranch.reference.formulas import clip, q_delta, q_phi
from anabranch.reference.graph import Edge, Node
from anabranch.reference.settings import ReferenceSettings


def stops(settings: ReferenceSettings, edge: Edge, child: Node) -> bool:
    """Whether a simulation stops at this transposition node without a new evaluation."""
    if not child.is_transposition:
        return False
    if settings.stop == "gap":
        return edge.visits == 0 or abs(q_delta(edge.q, edge.target)) > settings.q_epsilon
    if settings.stop == "visits":
        return edge.visits < child.visits
    return False


def correction(settings: ReferenceSettings, edge: Edge) -> float:
    """The value that puts the mean of the edge on its target: clipped, or in mode `delta` of any size."""
    if settings.backup == "paper":
        return clip(q_phi(edge.visits, edge.q, edge.target), settings.value_min, settings.value_max)
    return (edge.visits + 1) * edge.target - edge.visits * edge.q
