"""A wave: many visits go down the graph together.

`descend` splits them level by level and notes what they find, without a change of the graph. The search then
commits these findings in their order. `settle` has the backup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import chess

from anabranch.reference.board import canonical_text, play
from anabranch.reference.forced import is_due
from anabranch.reference.graph import Edge, Graph, Node
from anabranch.reference.path import End, Stem, Walk
from anabranch.reference.select import select_edge
from anabranch.reference.settings import ReferenceSettings
from anabranch.reference.transposition import stops_of

TWIG = 8
"""Most visits at the foot of a twig, at least."""
TWIGS = 32
"""Visits of a wave for each visit at the foot of a twig, where that is more."""


@dataclass
class Group:
    """Visits that came to a node the same way."""

    walk: Walk
    above: Stem | None
    visits: int


@dataclass
class Twig:
    """Few visits at a node, or visits that follow an edge without a child."""

    groups: list[Group]
    edge: Edge | None = None


@dataclass
class Finding:
    """What the commit has to do: open the edge of a stem, search its child for a mate, note visits there."""

    stem: Stem
    board: chess.Board  # after the move
    visits: int = 0
    end: End | None = None
    is_due: bool = False


@dataclass
class Descent:
    """Visits on their way down."""

    settings: ReferenceSettings
    graph: Graph
    findings: list[Finding] = field(default_factory=list)
    stems: int = 0

    def run(self, walk: Walk, visits: int) -> list[Finding]:
        """Split visits from the root down; what they find, those of the trunk first, then twig by twig."""
        most = max(TWIG, visits // TWIGS)
        twigs: list[Twig] = []
        level = [Group(walk, None, visits)]
        while level:
            following: list[Group] = []
            for meeting in meetings(level):
                if sum(group.visits for group in meeting) <= most:
                    twigs.append(Twig(meeting))
                else:
                    following += self.split(meeting, twigs)
            level = following
        for twig in twigs:
            level = twig.groups
            if twig.edge is not None:
                further = self.follow(level[0], twig.edge, level[0].visits)
                level = [] if further is None else [further]
            while level:
                level = [group for meeting in meetings(level) for group in self.split(meeting, None)]
        return self.findings

    def split(self, meeting: Sequence[Group], twigs: list[Twig] | None) -> list[Group]:
        """Split the visits at a node over its edges, hand them to its groups in order, and follow them."""
        walk = meeting[0].walk
        picks = choose(self.settings, self.graph, walk, sum(group.visits for group in meeting))
        going_on = []
        for group in meeting:
            portion, picks = picks[: group.visits], picks[group.visits :]
            for code, visits in Counter(edge.code for edge in portion).items():
                edge = next(edge for edge in portion if edge.code == code)
                if twigs is not None and edge.child is None:
                    twigs.append(Twig([Group(group.walk, group.above, visits)], edge))
                    continue
                further = self.follow(group, edge, visits)
                if further is not None:
                    going_on.append(further)
        return going_on

    def follow(self, group: Group, edge: Edge, visits: int) -> Group | None:
        """Let visits of a group follow an edge; those that go on below it."""
        walk = group.walk.copy()
        play(walk.board, edge.move)
        stem = Stem(group.above, walk.node, edge, self.stems)
        self.stems += 1
        child, is_new = edge.child, edge.child is None
        if child is None:
            self.findings.append(Finding(stem, walk.board))
            position = canonical_text(walk.board)
            child = self.graph.find(walk.board, position) or self.graph.draft(walk.board, position)
        if walk.is_path_draw(child):
            self.land(stem, walk, visits, End.PATH_DRAW)
            return None
        if child.state.is_exact:
            self.land(stem, walk, visits, End.EXACT)
            return None
        if not child.is_evaluated:
            leaves = 0 if child.is_waiting else 1
            self.land(stem, walk, leaves, End.LEAF)
            self.land(stem, walk, visits - leaves, End.COLLISION)
            return None
        if self.settings.mate_growth > 0.0 and is_due(self.settings, child):
            self.findings.append(Finding(stem, walk.board, is_due=True))
        stopping = stops_of(self.settings, edge, child, visits, is_new)
        self.land(stem, walk, stopping, End.STOP)
        walk.step(child)
        return Group(walk, stem, visits - stopping) if visits > stopping else None

    def land(self, stem: Stem, walk: Walk, visits: int, end: End) -> None:
        """Take note of visits that end at the child of a stem."""
        if visits > 0:
            self.findings.append(Finding(stem, walk.board, visits, end))


def meetings(level: Sequence[Group]) -> list[list[Group]]:
    """The groups of a level by node, in the order in which the nodes first appear."""
    by_node: dict[int, list[Group]] = {}
    for group in level:
        by_node.setdefault(id(group.walk.node), []).append(group)
    return list(by_node.values())


def choose(settings: ReferenceSettings, graph: Graph, walk: Walk, visits: int) -> list[Edge]:
    """The edges that so many simulations would choose at a node, each in flight when the next one chooses."""
    node = walk.node
    edges, opened = list(node.edges), node.opened
    picks = []
    for _ in range(visits):
        edge = select_edge(settings, graph, node, walk.board)
        if edge in node.unopened_edges:
            node.edges.remove(edge)
            node.edges.insert(node.opened, edge)
            node.opened += 1
        mark(node, edge, 1)
        picks.append(edge)
    for edge in picks:
        mark(node, edge, -1)
    node.edges, node.opened = edges, opened
    return picks


def mark(node: Node, edge: Edge, k: int) -> None:
    """Add in-flight visits to an edge and its node."""
    node.in_flight += k
    edge.in_flight += k
