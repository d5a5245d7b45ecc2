"""Exploration, Eq. (11): simulations that start below the root, and noise on the priors of the root.

An exploration leaves the nodes above its branch node untouched. Its board, walk and edge go back to the
search, which carries it on like any other simulation.
"""

from __future__ import annotations

import chess

from anabranch.reference.board import play, satisfies
from anabranch.reference.formulas import to_f16
from anabranch.reference.graph import Edge, Node, State, by_prior
from anabranch.reference.path import Walk
from anabranch.reference.random import Random
from anabranch.reference.settings import Constraint, ReferenceSettings


def branch_depth(bits: int) -> int:
    """Eq. (11): the depth of an exploration, P(d) = 2^-(d+1).

    Differs from the paper: the trailing zeros of 64 random bits have the distribution of -log2(1 - r) - 1
    rounded up, without a logarithm.
    """
    return 64 if bits == 0 else (bits & -bits).bit_length() - 1


def draw_exploration(settings: ReferenceSettings, random: Random) -> Constraint | None:
    """Whether this simulation is an exploration, and of which kind."""
    kinds = settings.explorations
    if all(epsilon <= 0.0 for _, epsilon in kinds):
        return None
    r = random.uniform()
    bound = 0.0
    for constraint, epsilon in kinds:
        bound += epsilon
        if r < bound:
            return constraint
    return None


def find_branch(start: Walk, constraint: Constraint, random: Random) -> tuple[Walk, Edge | None]:
    """Follow the most visited moves to a random depth and choose an edge to explore there.

    Without such an edge the walk is given up, and the simulation starts at the root as usual.
    """
    walk = start.copy()
    for _ in range(branch_depth(random.next())):
        tried = [edge for edge in walk.node.open_edges if edge.visits > 0 and not edge.pruned]
        if not tried:
            break
        best = max(tried, key=lambda edge: edge.visits)
        child = best.child
        assert child is not None
        if not child.is_evaluated or child.state.is_exact:
            break
        play(walk.board, best.move)
        if walk.is_path_draw(child):
            walk.board.pop()
            break
        walk.step(child)
    edge = branch_edge(walk.node, walk.board, constraint, random)
    return (start, None) if edge is None else (walk, edge)


def branch_edge(node: Node, board: chess.Board, constraint: Constraint, random: Random) -> Edge | None:
    """The next unopened edge under the constraint, then any unopened one, then a random unsolved one."""
    if constraint != "greedy" and constraint not in node.exhausted:
        for edge in node.unopened_edges:
            if satisfies(board, constraint, edge.move):
                return edge
        node.exhausted.add(constraint)
    if node.unopened_edges:
        return node.unopened_edges[0]
    unsolved = [e for e in node.open_edges if e.child is not None and e.child.state is State.UNKNOWN]
    return unsolved[random.index(len(unsolved))] if unsolved else None


def add_noise(settings: ReferenceSettings, node: Node, random: Random) -> None:
    """Mix Dirichlet noise into the priors of the root, once."""
    node.has_noise = True
    epsilon = settings.dirichlet_epsilon
    noise = [random.gamma(settings.dirichlet_alpha) for _ in node.edges]
    total = 0.0
    for g in noise:
        total += g
    if total <= 0.0:
        return
    for edge, g in zip(node.edges, noise, strict=True):
        edge.prior = to_f16((1.0 - epsilon) * edge.prior + epsilon * (g / total))
    node.edges[node.opened :] = sorted(node.unopened_edges, key=by_prior)
