"""The backup of a wave: Algorithm 2 for many visits at once.

Values go up level by level, from the deepest. An edge is updated once for all visits through it, and a node
when its children are final. For a single visit the formulas are those of `backup`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anabranch.reference.backup import recompute_value
from anabranch.reference.formulas import clip, v_star
from anabranch.reference.graph import Edge, Node
from anabranch.reference.path import Stem
from anabranch.reference.proof_numbers import refresh
from anabranch.reference.settings import ReferenceSettings


@dataclass
class Settlement:
    """Visits of a wave whose values go up together."""

    stems: dict[int, Stem] = field(default_factory=dict)

    def add(self, stem: Stem, visits: int, value: float | None, is_draw: bool = False) -> None:
        """Visits that ended at the child of a stem; without a value they take that of the child."""
        self.stems[stem.number] = stem
        if is_draw:
            stem.draws += visits
            return
        stem.others += visits
        if value is None:
            stem.at_child += visits
        else:
            stem.total += visits * value

    def back_up(self, settings: ReferenceSettings) -> int:
        """Carry all values up, the deepest level first. Returns the corrections made."""
        corrections = 0
        while self.stems:
            deepest = max(stem.level for stem in self.stems.values())
            level = sorted(
                (stem for stem in self.stems.values() if stem.level == deepest), key=lambda stem: stem.number
            )
            for stem in level:
                del self.stems[stem.number]
            nodes = {id(stem.node): stem.node for stem in level}
            for node in nodes.values():
                corrections += self.update_node(settings, node, [s for s in level if s.node is node])
        return corrections

    def update_node(self, settings: ReferenceSettings, node: Node, stems: Sequence[Stem]) -> int:
        """Update a node and its edges by what comes up through the stems at it."""
        corrections = 0
        through = {id(stem.edge) for stem in stems}
        for edge in [edge for edge in node.open_edges if id(edge) in through]:
            corrections += self.update_edge(settings, edge, [stem for stem in stems if stem.edge is edge])
        if settings.backup == "recompute":
            recompute_value(node)
            for stem in stems:
                self.pass_up(stem, (stem.draws + stem.others) * node.value)
        if settings.pn_weight > 0.0:
            refresh(node)
        for stem in stems:
            stem.draws = stem.others = stem.at_child = 0
            stem.total = 0.0
        return corrections

    def update_edge(self, settings: ReferenceSettings, edge: Edge, stems: Sequence[Stem]) -> int:
        """Update an edge by what comes up through its stems, and its node with it."""
        node, child = stems[0].node, edge.child
        assert child is not None
        draws = sum(stem.draws for stem in stems)
        others = sum(stem.others for stem in stems)
        total = 0.0
        for stem in stems:
            total += stem.total + stem.at_child * child.best_value
        if settings.backup == "recompute":
            edge.visits += draws + others
            edge.path_draws += draws
            node.visits += draws + others
            return 0
        corrections = 0
        of_draw = of_other = 0.0
        if draws > 0:
            of_draw = update(settings, node, edge, draws, draws * node.draw) / draws
        if others > 0:
            x = v_star(total)
            if child.is_transposition and settings.corrects:
                x = correction(settings, edge, others)
                corrections += x != v_star(total)
            of_other = update(settings, node, edge, others, x) / others
        for stem in stems:
            self.pass_up(stem, stem.draws * of_draw + stem.others * of_other)
        return corrections

    def pass_up(self, stem: Stem, total: float) -> None:
        """Hand the visits of a stem, with the sum of their values, to the stem above."""
        if stem.above is not None:
            self.stems[stem.above.number] = stem.above
            stem.above.others += stem.draws + stem.others
            stem.above.total += total


def correction(settings: ReferenceSettings, edge: Edge, visits: int) -> float:
    """The sum of values that puts the mean of the edge on its target: clipped, or in mode `delta` not."""
    n, q, target = edge.visits, edge.q, edge.target
    if settings.backup == "delta":
        return (n + visits) * target - n * q
    return clip(visits * target + n * (target - q), visits * settings.value_min, visits * settings.value_max)


def update(settings: ReferenceSettings, node: Node, edge: Edge, visits: int, x: float) -> float:
    """Eq. (5) for values with the sum x, on an edge and its node. Returns the sum that goes up."""
    n, q = edge.visits, edge.q
    if settings.backup == "delta":
        edge.q = clip((n * q + x) / (n + visits), settings.value_min, settings.value_max)
        x = (n + visits) * edge.q - n * q
    else:
        edge.q = q + (x - visits * q) / (n + visits)
    edge.visits += visits
    node.value += (x - visits * node.value) / (node.visits + visits)
    node.visits += visits
    return x
