"""Backup, Algorithm 2: a value on its way up a trajectory.

Every edge of the trajectory gains one visit, and so does the node above it. How Q and V follow depends on the
setting `backup`.
"""

from __future__ import annotations

from anabranch.reference.formulas import clip, running_mean, v_star
from anabranch.reference.graph import Edge, Node
from anabranch.reference.path import End, Trajectory
from anabranch.reference.proof_numbers import refresh
from anabranch.reference.settings import ReferenceSettings
from anabranch.reference.transposition import correction


def back_up(settings: ReferenceSettings, trajectory: Trajectory, v: float) -> int:
    """Algorithm 2: carry v, the value of the last child for its mover, up. Returns the corrections made.

    Differs from the paper: the target is read from the child at the moment of the update, an edge without a
    target negates v, and the correction has the sign of `q_phi`.
    """
    corrections, value = 0, v
    for i in reversed(range(len(trajectory.path))):
        node, edge = trajectory.path[i]
        child = edge.child
        assert child is not None
        is_draw = trajectory.end is End.PATH_DRAW and i == len(trajectory.path) - 1
        x = v_star(v)
        if is_draw:
            x = node.draw
        elif child.is_transposition and settings.corrects:
            x = correction(settings, edge)
            corrections += x != v_star(v)
        is_branch = trajectory.is_exploration and i == 0
        edge.explored += is_branch
        edge.path_draws += is_draw and not is_branch
        if settings.backup == "recompute":
            recompute(node, edge)
        elif settings.backup == "delta":
            x = update_by_delta(settings, node, edge, x)
        else:
            update(node, edge, x)
        v = x
    if settings.backup == "all" and trajectory.path and trajectory.end is not End.PATH_DRAW:
        update_others(trajectory, value)
    if settings.pn_weight > 0.0:
        for node, _ in reversed(trajectory.path):
            refresh(node)
    return corrections


def update(node: Node, edge: Edge, x: float) -> None:
    """One more visit with value x, on the edge and on its node."""
    edge.q = running_mean(edge.q, edge.visits + 1, x)
    edge.visits += 1
    node.value = running_mean(node.value, node.visits + 1, x)
    node.visits += 1


def update_others(trajectory: Trajectory, v: float) -> None:
    """Update-all: v goes to every other edge from which the last node can be reached, once for each.

    In chess the mover changes with every move, so the sign changes with the distance, whatever the way.
    """
    on_path = {id(edge) for _, edge in trajectory.path}
    values = {id(trajectory.last): v}
    work = [trajectory.last]
    while work:
        child = work.pop()
        x = v_star(values[id(child)])
        for node, edge in child.parents:
            if id(edge) not in on_path:
                update(node, edge, x)
            if id(node) not in values:
                values[id(node)] = x
                work.append(node)


def update_by_delta(settings: ReferenceSettings, node: Node, edge: Edge, x: float) -> float:
    """The same with an x of any size: Q is kept in range, and the change that Q really made goes up."""
    n, q = edge.visits, edge.q
    edge.q = clip((n * q + x) / (n + 1), settings.value_min, settings.value_max)
    edge.visits += 1
    x = (n + 1) * edge.q - n * q
    node.value = running_mean(node.value, node.visits + 1, x)
    node.visits += 1
    return x


def recompute(node: Node, edge: Edge) -> None:
    """One more visit, then V(n) anew from U and the children: no weight for explorations."""
    edge.visits += 1
    node.visits += 1
    recompute_value(node)


def recompute_value(node: Node) -> None:
    """V(n) from U and the children as they are now, and the Q of its edges."""
    assert node.raw is not None
    total, weight = node.raw, 1
    for e in node.open_edges:
        if e.visits == 0:
            continue
        assert e.child is not None
        d = e.path_draws
        w = e.visits - d - e.explored
        if not e.child.is_evaluated:
            e.q = node.draw
        elif w + d == 0:
            e.q = e.target
        else:
            e.q = (w * e.target + d * node.draw) / (w + d)
        total += (w + d) * e.q
        weight += w + d
    node.value = total / weight
