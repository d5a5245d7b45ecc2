"""Proofs, Algorithm 3: exact results on their way up the graph, and proofs replayed in the game at hand.

A proven edge is flagged and keeps its Q and P; selection and move choice pass it by.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

import chess

from anabranch.reference.board import play
from anabranch.reference.graph import Edge, Node, State
from anabranch.reference.settings import ReferenceSettings


def solve(children: Iterable[tuple[State, int | None]], unknown: int) -> tuple[State, int | None]:
    """Algorithm 3: the state and END_IN_PLY of a node from its solved children and the count of the others.

    Differs from the paper: printed without `else`, it could mark a node twice; TB states are spelled out
    here.
    """
    plies: dict[State, list[int]] = {state: [] for state in State}
    for state, end_in_ply in children:
        plies[state].append(end_in_ply or 0)
    if plies[State.LOSS]:
        return State.WIN, 1 + min(plies[State.LOSS])
    if plies[State.TB_LOSS]:
        return State.TB_WIN, None
    if unknown > 0:
        return State.UNKNOWN, None
    if not plies[State.TB_WIN] and not plies[State.TB_DRAW]:
        if plies[State.DRAW]:
            return State.DRAW, 1 + min(plies[State.DRAW])
        return State.LOSS, 1 + max(plies[State.WIN])
    if plies[State.DRAW] or plies[State.TB_DRAW]:
        return State.TB_DRAW, None
    return State.TB_LOSS, None


def inform(node: Node) -> None:
    """Algorithm 3 over the graph: every parent of a node that changed is solved again from its children.

    Differs from the paper: all parents are informed, not only the one on the trajectory; a lost edge is
    flagged and keeps its Q and P.
    """
    work = deque([node])
    while work:
        node = work.popleft()
        solved = [e.child for e in node.open_edges if e.child and e.child.state is not State.UNKNOWN]
        unknown = len(node.moves) - len(solved)
        state, end_in_ply = solve(((child.state, child.end_in_ply) for child in solved), unknown)
        if not state.is_exact and node.state is not State.UNKNOWN:
            continue
        if state is node.state is State.WIN:  # a mate found by a search of its own may be shorter
            end_in_ply = min(end_in_ply or 0, node.end_in_ply or 0)
        if (state, end_in_ply) == (node.state, node.end_in_ply):
            continue
        node.state, node.end_in_ply = state, end_in_ply
        for parent, edge in node.parents:
            mark_pruned(edge)
            work.append(parent)


def inform_trajectory(settings: ReferenceSettings, nodes: Iterable[Node]) -> None:
    """Exact-win-MCTS and MCTS-Solver: a proof goes up its trajectory, until a node stays as it is.

    MCTS-Solver proves no draws.
    """
    for node in nodes:
        solved = [e for e in node.open_edges if e.child and e.child.state is not State.UNKNOWN]
        for edge in solved:
            mark_pruned(edge)
        children = [e.child for e in solved if e.child]
        unknown = len(node.moves) - len(children)
        state, end_in_ply = solve(((child.state, child.end_in_ply) for child in children), unknown)
        if settings.solver_rule == "mcts-solver" and state is State.DRAW:
            return
        if not state.is_exact or (state, end_in_ply) == (node.state, node.end_in_ply):
            return
        node.state, node.end_in_ply = state, end_in_ply


def win(node: Node, plies: int) -> None:
    """Mark a node as won by a proof that is not in the graph, and inform its parents. A node that is won
    already, and sooner, stays as it is.
    """
    if node.state.is_exact and (node.state is not State.WIN or (node.end_in_ply or 0) <= plies):
        return
    set_win(node, plies)


def set_win(node: Node, plies: int) -> None:
    """The same whatever is known about the node."""
    node.state, node.end_in_ply = State.WIN, plies
    for parent, edge in list(node.parents):
        mark_pruned(edge)
        inform(parent)


def mark_pruned(edge: Edge) -> None:
    """Flag an edge that loses."""
    assert edge.child is not None
    edge.pruned = edge.child.state in (State.WIN, State.TB_WIN)


def is_hidden(node: Node) -> bool:
    """Whether a node is won by a mate whose proof is not in the graph: its children prove no win as short."""
    wins = [
        child.end_in_ply or 0
        for edge in node.open_edges
        if (child := edge.child) and child.state is State.LOSS
    ]
    return (
        node.state is State.WIN
        and not node.is_terminal
        and min(wins, default=2**16) >= (node.end_in_ply or 0)
    )


def holds(node: Node, board: chess.Board, seen: Counter[str], limit: int | None) -> bool:
    """Play a proof out: the first of the winner's shortest answers against every move of the loser."""
    if node.is_terminal:
        return True
    if seen[node.position] == 2 or (limit is not None and board.halfmove_clock >= limit):
        return False
    children = [(edge, edge.child) for edge in node.open_edges if edge.child is not None]
    if node.state is State.WIN:
        wins = [(edge, child) for edge, child in children if child.state is State.LOSS]
        if is_hidden(node):
            return False
        children = [min(wins, key=lambda win: win[1].end_in_ply or 0)]
    seen[node.position] += 1
    for edge, child in children:
        after = board.copy(stack=False)
        play(after, edge.move)
        if not holds(child, after, seen, limit):
            return False
    seen[node.position] -= 1
    return True


def forced_edge(settings: ReferenceSettings, root: Node) -> Edge | None:
    """The root's edge that proofs alone decide: the shortest win, or the longest loss when all lose.

    The older rules take any win, and the most visited loss.
    """
    opened = [(edge, edge.child) for edge in root.open_edges if edge.child is not None]
    wins = [(child.end_in_ply or 0, edge) for edge, child in opened if child.state is State.LOSS]
    by_length = settings.solver_rule == "exact-win-2"
    if wins:
        return min(wins, key=lambda win: win[0])[1] if by_length else wins[0][1]
    if not opened or root.unopened_edges or any(not edge.pruned for edge, _ in opened):
        return None
    if not by_length:
        return max((edge for edge, _ in opened), key=lambda edge: edge.visits)
    unsure = [edge for edge, child in opened if child.state is State.TB_WIN]
    if unsure:
        return max(unsure, key=lambda edge: edge.visits)
    return max(opened, key=lambda pair: pair[1].end_in_ply or 0)[0]
