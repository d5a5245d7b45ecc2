"""The commit of a wave: what its visits found goes into the graph, in the order of finding.

What needs no evaluation is backed up at the end of the commit, all at once; leaves join the batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.reference.explore import draw_exploration
from anabranch.reference.path import End, Trajectory
from anabranch.reference.settle import Settlement
from anabranch.reference.wave import Descent, Finding

if TYPE_CHECKING:
    from anabranch.reference.search import MiniBatch, Search


def collect_wave(search: Search, batch: MiniBatch, visits: int, collided: list[Trajectory]) -> None:
    """A wave of visits: first the explorations among them, one after another, then the others together."""
    together = visits
    for _ in range(visits):
        constraint = draw_exploration(search.settings, search.random)
        if constraint is None or search.root.state.is_exact:
            continue
        exploration = search.explore(constraint)
        if exploration is not None:
            search.take(batch, exploration, collided)
            together -= 1
    if search.root.state.is_exact or together == 0:
        return
    findings = Descent(search.settings, search.graph).run(search.start_walk(), together)
    settlement = Settlement()
    for finding in findings:
        if finding.end is None:
            if finding.stem.edge.child is None:
                search.open(finding.stem.node, finding.stem.edge, finding.board)
        else:
            land(search, batch, finding, settlement, collided)
    search.statistics.corrections += settlement.back_up(search.settings)
    batch.waves += 1


def land(
    search: Search,
    batch: MiniBatch,
    finding: Finding,
    settlement: Settlement,
    collided: list[Trajectory],
) -> None:
    """Take note of the end of visits."""
    statistics, stem, visits = search.statistics, finding.stem, finding.visits
    child = stem.edge.child
    assert child is not None and finding.end is not None
    trajectory = Trajectory(stem.path, child, finding.end, finding.board, stem=stem, wave=batch.waves)
    if finding.end is End.COLLISION or (finding.end is End.LEAF and child.is_waiting):
        trajectory.mark(visits)
        collided += [trajectory] * visits
        batch.collisions += visits
        statistics.collisions += visits
        return
    if finding.end is End.LEAF:
        if not search.copies_evaluation(batch, trajectory):
            search.await_evaluation(batch, trajectory)
            return
    elif finding.end is End.STOP:
        batch.stops += visits
        statistics.stops += visits
    else:
        batch.terminals += visits
        statistics.terminals += visits if finding.end is End.EXACT else 0
        statistics.path_draws += visits if finding.end is End.PATH_DRAW else 0
    settlement.add(stem, visits, None, finding.end is End.PATH_DRAW)
    statistics.simulations += visits
