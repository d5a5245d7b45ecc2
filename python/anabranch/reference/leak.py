"""The leak meters: how far the graph's values are from those of the children they rest on.

A search reports them; nothing in it depends on them.
"""

from __future__ import annotations

from anabranch.reference.formulas import q_delta
from anabranch.reference.graph import Graph


def edge_leak(graph: Graph) -> float:
    """Visit-weighted mean of |Q(e) - T(e)| over the edges with an evaluated child."""
    total, weight = 0.0, 0
    for node in graph.nodes():
        for edge in node.open_edges:
            if edge.child is not None and edge.child.is_evaluated:
                total += edge.visits * abs(q_delta(edge.q, edge.target))
                weight += edge.visits
    return total / weight if weight else 0.0


def node_leak(graph: Graph) -> float:
    """Visit-weighted mean of |V(n) - V from the children| over the evaluated nodes that go on."""
    total, weight = 0.0, 0
    for node in graph.nodes():
        if node.raw is None or node.is_terminal:
            continue
        value, n = node.raw, 1
        for edge in node.open_edges:
            if edge.child is not None and edge.child.is_evaluated:
                value += edge.visits * edge.target
                n += edge.visits
        total += node.visits * abs(node.value - value / n)
        weight += node.visits
    return total / weight if weight else 0.0
