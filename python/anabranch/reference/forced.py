"""Forced wins in the graph: when a node is searched for a mate, and how a proof becomes a part of the graph.

The search for mates itself is in `mates`. A win is a state of its node, and its proof is forgotten; where the
proof of the root needs it, it is found again and added as nodes without visits.
"""

from __future__ import annotations

from collections.abc import Collection

import chess

from anabranch.reference.board import clock_limit, move_code
from anabranch.reference.graph import Edge, Graph, Node, State
from anabranch.reference.mates import Identity, MateAnswer, MateSearch, after, read_proof
from anabranch.reference.settings import ReferenceSettings
from anabranch.reference.solver import inform, is_hidden, mark_pruned, set_win, win

MOST_POSITIONS = 2**20


def find_mate(board: chess.Board, drawn: Collection[str], budget: int) -> tuple[MateAnswer, int]:
    """Search for a win of the side to move. A win that the move count might spoil is left open."""
    verdict, plies = MateSearch(board, drawn, min(budget, MOST_POSITIONS)).run()
    limit = clock_limit(board)
    if verdict is MateAnswer.WIN and limit is not None and board.halfmove_clock + plies >= limit:
        return MateAnswer.OPEN, 0
    return verdict, plies


def searches_due(settings: ReferenceSettings, node: Node) -> int:
    """How many searches the visits of a node call for: the first at `mate_start`, then at each doubling."""
    return (node.visits // settings.mate_start).bit_length()


def is_due(settings: ReferenceSettings, node: Node) -> bool:
    """Whether a node has the visits for its next search."""
    return (
        node.state is State.UNKNOWN
        and not node.has_no_mate
        and searches_due(settings, node) > node.mate_searches
    )


def growing_budget(growth: float, node: Node) -> int:
    """Positions for the search of a node: more with its visits, and where the side to move stands well."""
    score = (1.0 + node.value) * 0.5
    return int(growth * node.visits * (score * score))


def search_node(
    settings: ReferenceSettings, node: Node, board: chess.Board, drawn: Collection[str], budget: int
) -> bool:
    """Search a node for a mate. A win goes to the solver; returns whether there is one."""
    verdict, plies = find_mate(board, drawn, budget)
    node.mate_searches = searches_due(settings, node)
    node.has_no_mate = verdict is MateAnswer.NO_WIN
    if verdict is MateAnswer.WIN:
        win(node, plies)
    return verdict is MateAnswer.WIN


def complete(graph: Graph, board: chess.Board, drawn: Collection[str]) -> None:
    """Add to the graph what the proof of the root lacks: the proofs of mates, found again."""
    seen: set[int] = set()
    waiting = [(graph.root, board)]
    while waiting:
        node, board = waiting.pop()
        if id(node) in seen or node.is_terminal or node.state not in (State.WIN, State.LOSS):
            continue
        seen.add(id(node))
        if is_hidden(node):
            add_proof(graph, node, board, drawn)
        if is_hidden(node):  # the mate cannot be found again: the node is what its children prove
            wins = winning_edges(node)
            if not wins:
                return
            assert wins[0].child is not None
            set_win(node, 1 + (wins[0].child.end_in_ply or 0))
        edges = winning_edges(node)[:1] if node.state is State.WIN else node.open_edges
        for edge in edges:
            assert edge.child is not None
            waiting.append((edge.child, after(board, edge.move)))


def winning_edges(node: Node) -> list[Edge]:
    """The winner's moves that are proven in the graph, the shortest first."""
    wins = [
        (edge.child.end_in_ply or 0, edge)
        for edge in node.open_edges
        if edge.child is not None and edge.child.state is State.LOSS
    ]
    return [edge for _, edge in sorted(wins, key=lambda pair: pair[0])]


def add_proof(graph: Graph, top: Node, board: chess.Board, drawn: Collection[str]) -> None:
    """Search a won node again and add its proof below it, if that is possible."""
    search = MateSearch(board, drawn, MOST_POSITIONS)
    if search.run()[0] is not MateAnswer.WIN:
        return
    proof = read_proof(search)
    if proof is None:
        return
    standing: dict[Identity, Node] = {search.root: top}
    added: list[tuple[Node, Identity]] = []
    waiting = [(top, search.root)]
    seen = {id(top)}
    while waiting:
        node, here = waiting.pop()
        added.append((node, here))
        position = proof[here]
        if position.moves and not node.edges:
            graph.list_edges(node, [0.0] * len(node.moves), position.board)
        for move, there in position.moves:
            code = move_code(position.board, move)
            edge = next(edge for edge in node.edges if edge.code == code)
            if edge.child is None:
                graph.open(node, edge, after(position.board, move), standing.get(there))
                mark_pruned(edge)
            child = edge.child
            assert child is not None
            standing.setdefault(there, child)
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append((child, there))
    for node, _ in sorted(added, key=lambda pair: proof[pair[1]].plies):
        if not node.is_terminal:
            inform(node)
