"""Selection, Eq. (3): which edge a simulation follows.

It reads values, priors and visits, and changes nothing.
"""

from __future__ import annotations

import math

import chess

from anabranch.reference.board import canonical_text, play
from anabranch.reference.formulas import c_puct, u_value, v_star
from anabranch.reference.graph import Edge, Graph, Node, State
from anabranch.reference.improved import select_improved
from anabranch.reference.proof_numbers import proof_terms
from anabranch.reference.settings import ReferenceSettings
from anabranch.reference.ucb import select_ucb


def select_edge(settings: ReferenceSettings, graph: Graph, node: Node, board: chess.Board) -> Edge:
    """Eq. (3): argmax_a Q(s, a) + U(s, a), over the open edges and the first unopened one."""
    if settings.selection == "ucb1":
        return select_ucb(settings, node, unvisited_value(settings, node))
    if settings.selection == "improved":
        return select_improved(settings, node)
    total = node.visits - 1 + node.in_flight
    c = c_puct(total, settings.c_base, settings.c_init)
    urgency = unvisited_value(settings, node)
    candidates = [(edge, edge_value(settings, edge, urgency)) for edge in node.open_edges if not edge.pruned]
    if settings.table_values and settings.merges:
        candidates += [(edge, table_value(graph, edge, board, urgency)) for edge in node.unopened_edges]
    else:
        candidates += [(edge, urgency) for edge in node.unopened_edges[:1]]
    if settings.skip_draws and settings.pn_weight == 0.0:
        candidates = [row for row in candidates if not is_drawn(row[0])] or candidates
    terms = proof_terms(settings.pn_weight, node, [edge for edge, _ in candidates])
    if not candidates:
        # Every move loses, but not every loss is exact: go on where it rests on a tablebase.
        candidates = [
            (edge, edge_value(settings, edge, urgency))
            for edge in node.open_edges
            if edge.child is not None and not edge.child.state.is_exact
        ]
        terms = [0.0] * len(candidates)
    best, best_score = candidates[0][0], -math.inf
    for (edge, q), term in zip(candidates, terms, strict=True):
        score = q + u_value(c, edge.prior, total, edge.visits + edge.in_flight) + term
        if score > best_score:
            best, best_score = edge, score
    return best


def is_drawn(edge: Edge) -> bool:
    """Whether the move is a proven draw."""
    return edge.child is not None and edge.child.state is State.DRAW


def unvisited_value(settings: ReferenceSettings, node: Node) -> float:
    """The Q of a move without visits: a constant, or V less a share of what was tried already."""
    if settings.urgency == "fixed":
        return settings.q_init
    tried = 0.0
    for edge in node.open_edges:
        tried += edge.prior
    return max(settings.value_min, node.value - settings.urgency_reduction * math.sqrt(tried))


def edge_value(settings: ReferenceSettings, edge: Edge, urgency: float) -> float:
    """Q of an open edge as selection reads it, in-flight visits counted as losses (or not at all)."""
    n, k = edge.visits, edge.in_flight
    if k == 0 or settings.virtual_mode == "visit":
        return edge.q if n > 0 else urgency
    return (n * edge.q - settings.virtual_loss * k) * (1 / (n + k))


def table_value(graph: Graph, edge: Edge, board: chess.Board, urgency: float) -> float:
    """The target of an unopened move when its child is already known from elsewhere."""
    after = board.copy(stack=False)
    play(after, edge.move)
    child = graph.find(after, canonical_text(after))
    return v_star(child.best_value) if child is not None and child.is_evaluated else urgency
