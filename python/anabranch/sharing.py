"""What the sharing of positions does to a search: the value of each move without it, and which transpositions
matter.

A node that several lines reach has one value, to which the visits of all lines contribute. Here every line
gets a copy of its own, with the visits that came by this line and no others. A copy with n of the N visits of
a node gives each move the share of its n - 1 visits that the node gave it, and ends where less than one visit
arrives. Visits of a node that came by no edge (of an exploration, or of a line that has left the graph) count
for its edges in proportion. Computed from a copy of the graph (`anabranch.graph`); nothing is searched.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from anabranch.graph import GraphEdge, SearchGraph

NODES = 600
"""Nodes of a graph that say what sharing does while a search goes on; more are more exact, and slower."""
LEAST_LEAD = 0.001
"""A move that leads by less is not another decision."""
CANDIDATE = 0.1
"""A move is a candidate with at least this share of the visits of the most visited move."""
MOST_CANDIDATES = 8
MOST_DEPTH = 400
"""What lies deeper keeps its value."""
WHOLE = 1.0 - 1e-9
"""A copy with more of the visits of its node has all of them."""
EXACT_VISITS = 16
STEPS = 8
"""Copies with more visits are rounded to so many steps for each doubling."""
_EXACT = ("win", "draw", "loss")


@dataclass(frozen=True, slots=True)
class MoveValues:
    """A move of the root, with and without sharing; values are for the side to move at the root."""

    move: str
    visits: int
    shared: float
    """Q; the exact value if the move is solved."""
    alone: float
    """The value that the visits of this move alone give."""


@dataclass(frozen=True, slots=True)
class SharedNode:
    """A transposition, and what it contributes to the candidates."""

    node: int
    """Its number in the graph."""
    lines: tuple[tuple[str, ...], ...]
    """The most visited line to it by each of its parents."""
    gains: dict[str, float]
    """By candidate: how much of its value the candidate owes to the other lines that reach this node."""
    decides: bool
    """Whether another candidate would lead, by `LEAST_LEAD` at least, if only this node were not shared."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The effect of sharing on the decision at the root.

    >>> from anabranch import Engine
    >>> engine = Engine()
    >>> _ = engine.search("startpos", simulations=600)
    >>> sharing = sharing_of(engine.graph())
    >>> first = sharing.moves[0]
    >>> sharing.best in [row.move for row in sharing.moves], abs(first.shared - first.alone) < 0.1
    (True, True)
    """

    moves: tuple[MoveValues, ...]
    """The candidates, most visited first."""
    nodes: tuple[SharedNode, ...]
    """The transpositions that have an effect, the largest first."""
    best: str | None
    """The candidate with the highest value."""
    best_alone: str | None
    """The same without sharing."""

    @property
    def lead(self) -> float:
        """How far `best_alone` is ahead of `best` without sharing; 0 where they are the same move."""
        return _lead({row.move: row.alone for row in self.moves}, self.best)

    @property
    def decides(self) -> bool:
        """Whether the best candidate is another one without sharing, by `LEAST_LEAD` at least."""
        return self.lead >= LEAST_LEAD


def sharing_of(graph: SearchGraph) -> Sharing:
    """The effect of sharing in a graph. What is not in this part of the graph keeps its value.

    In a tree it is nothing: each move has its own visits anyway.

    >>> from anabranch import Engine
    >>> engine = Engine(backup="tree")
    >>> _ = engine.search("startpos", simulations=600)
    >>> sharing_of(engine.graph()).nodes
    ()
    """
    copies = _Copies(graph)
    edges = sorted(copies.below[0], key=lambda edge: (-edge.visits, -edge.q, edge.move))
    least = CANDIDATE * max((edge.visits for edge in edges), default=0)
    candidates = [edge for edge in edges if edge.visits >= max(1.0, least)][:MOST_CANDIDATES]
    moves = tuple(
        MoveValues(edge.move, edge.visits, copies.shared(edge), copies.alone(edge)) for edge in candidates
    )
    shared = {row.move: row.shared for row in moves}
    best = _best(shared)
    nodes = []
    for node, gains in copies.gains(candidates).items():
        without = {move: shared[move] - gains.get(move, 0.0) for move in shared}
        nodes.append(SharedNode(node, copies.lines(node), gains, _lead(without, best) >= LEAST_LEAD))
    nodes.sort(key=lambda row: (-max(map(abs, row.gains.values())), row.node))
    return Sharing(moves, tuple(nodes), best, _best({row.move: row.alone for row in moves}))


def _best(values: dict[str, float]) -> str | None:
    return max(values, key=lambda move: values[move], default=None)


def _lead(values: dict[str, float], move: str | None) -> float:
    """How far the best value is above that of a move."""
    return max(values.values()) - values[move] if move is not None else 0.0


def _rounded(visits: float) -> float:
    """Many visits to within 5 %, so that copies are alike and are computed once."""
    return visits if visits < EXACT_VISITS else 2.0 ** (round(STEPS * math.log2(visits)) / STEPS)


class _Copies:
    """Copies of nodes with fewer visits. A change is the value of a copy minus that of its node."""

    def __init__(self, graph: SearchGraph) -> None:
        self.below: dict[int, list[GraphEdge]] = defaultdict(list)
        self._nodes = graph.nodes
        self._signs = {id(edge): 1.0 if graph.keeps_turn(edge) else -1.0 for edge in graph.edges}
        self._above: dict[int, list[GraphEdge]] = defaultdict(list)
        for edge in graph.edges:
            if edge.visits:
                self.below[edge.source].append(edge)
                self._above[edge.target].append(edge)
        self._factors = {
            node: max(1.0, self._nodes[node].visits / sum(edge.visits for edge in edges))
            for node, edges in self._above.items()
        }
        self._known: dict[tuple[int, float], float] = {}

    def shared(self, edge: GraphEdge) -> float:
        """The value of a move as it is."""
        return edge.child_value if self._nodes[edge.target].state in _EXACT else edge.q

    def alone(self, edge: GraphEdge) -> float:
        """The value of a move by its own visits."""
        change = self._sign(edge) * self._change(edge.target, self._own(edge, edge.visits))
        return max(-1.0, min(1.0, self.shared(edge) + change))

    def gains(self, candidates: list[GraphEdge]) -> dict[int, dict[str, float]]:
        """What each transposition contributes to each candidate, to the first order: its own copies change,
        and the nodes above it average as they do.
        """
        weights: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        found: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        roots = {id(edge) for edge in candidates}
        for node in self._order():
            for edge in self.below[node]:
                if node == 0:
                    shares = {edge.move: self._sign(edge)} if id(edge) in roots else {}
                else:
                    share = self._sign(edge) * edge.visits / max(1, self._nodes[node].visits)
                    shares = {move: weight * share for move, weight in weights[node].items()}
                change = self._division(edge) if shares else 0.0
                for move, weight in shares.items():
                    weights[edge.target][move] += weight
                    if change:
                        found[edge.target][move] -= weight * change
        return {node: dict(gains) for node, gains in found.items()}

    def lines(self, node: int) -> tuple[tuple[str, ...], ...]:
        """The most visited line to a node by each of its parents."""
        above = sorted(self._above[node], key=lambda edge: -edge.visits)
        return tuple((*self._line(edge.source), edge.move) for edge in above)

    def _line(self, node: int) -> tuple[str, ...]:
        moves: list[str] = []
        while node and len(moves) < len(self._nodes):
            edge = max(self._above[node], key=lambda edge: edge.visits)
            moves.append(edge.move)
            node = edge.source
        return tuple(reversed(moves))

    def _division(self, edge: GraphEdge) -> float:
        """The change when the visits of a transposition are divided among the edges that lead to it."""
        if len(self._above[edge.target]) < 2:
            return 0.0
        whole = self._nodes[edge.target].visits
        return self._change(edge.target, self._own(edge, edge.visits)) - self._change(edge.target, whole)

    def _change(self, node: int, visits: float) -> float:
        """V of a copy with so many visits, minus V of the node. Proofs stay."""
        row = self._nodes[node]
        if row.state in _EXACT or row.visits <= 1 or row.depth > MOST_DEPTH:
            return 0.0
        if visits <= 1.0:
            return row.raw - row.value
        visits = row.visits if visits > WHOLE * row.visits else _rounded(visits)
        key = (node, visits)
        if key not in self._known:
            others = row.visits - 1
            mean = (row.visits * row.value - row.raw) / others
            for edge in self.below[node]:
                share = edge.visits / others
                own = self._own(edge, (visits - 1.0) * share)
                mean += share * self._sign(edge) * self._change(edge.target, own)
            value = (row.raw + (visits - 1.0) * mean) / visits
            self._known[key] = max(-1.0, min(1.0, value)) - row.value
        return self._known[key]

    def _own(self, edge: GraphEdge, visits: float) -> float:
        """The visits of a copy of the child that comes by so many visits of the edge."""
        return visits * self._factors[edge.target]

    def _sign(self, edge: GraphEdge) -> float:
        """1 where the same side moves again."""
        return self._signs[id(edge)]

    def _order(self) -> list[int]:
        """The nodes, parents first."""
        missing = {node: len(edges) for node, edges in self._above.items()}
        ready = [0]
        for node in ready:
            for edge in self.below[node]:
                missing[edge.target] -= 1
                if not missing[edge.target]:
                    ready.append(edge.target)
        return ready
