"""Proof numbers: how far a node is from a proven win of either side, as far as the graph knows.

They follow from the children of one node. A trajectory that is backed up sets them anew on its way, and
selection reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.reference.graph import Edge, Node, State

INFINITE = 2**16 - 1

ProofNumbers = tuple[int, int]
"""For a win of the side to move, and for its loss."""

RESULTS: dict[State, ProofNumbers] = {
    State.WIN: (0, INFINITE),
    State.TB_WIN: (0, INFINITE),
    State.DRAW: (INFINITE, INFINITE),
    State.TB_DRAW: (INFINITE, INFINITE),
    State.LOSS: (INFINITE, 0),
    State.TB_LOSS: (INFINITE, 0),
}


def numbers_of_node(node: Node) -> ProofNumbers:
    """The numbers of a node for its side to move; without an open move one may win, and all have to lose."""
    if node.state in RESULTS:
        return RESULTS[node.state]
    return node.numbers or (1, len(node.moves))


def numbers_of_edge(node: Node, edge: Edge) -> ProofNumbers:
    """The numbers of an edge for the side to move at its node, which is not the one at the child.

    A move that is not open is taken to leave as many answers as the node has moves.
    """
    if edge.child is None:
        return len(node.moves), 1
    win, loss = numbers_of_node(edge.child)
    return loss, win


def refresh(node: Node) -> None:
    """Set the numbers of a node by its edges: one of them has to win, or all have to lose.

    Paths that meet again would be counted twice in a sum, so the hardest move counts in full and every other
    one as 1.
    """
    numbers = [numbers_of_edge(node, edge) for edge in node.edges]
    unrefuted = [loss for _, loss in numbers if loss > 0]
    win = min(win for win, _ in numbers)
    if not unrefuted:
        node.numbers = win, 0
    elif max(unrefuted) == INFINITE:
        node.numbers = win, INFINITE
    else:
        node.numbers = win, min(max(unrefuted) + len(unrefuted) - 1, INFINITE - 1)


def proof_terms(weight: float, node: Node, edges: Sequence[Edge]) -> list[float]:
    """What proof numbers add to the scores of moves: the weight for the one that is nearest to a proven win.

    It is half of that for a move that is twice as far, and nothing where no win is possible.
    """
    if weight == 0.0:
        return [0.0] * len(edges)
    numbers = [numbers_of_edge(node, edge)[0] for edge in edges]
    least = min(numbers, default=0)
    return [0.0 if number == INFINITE else weight * ((1 + least) / (1 + number)) for number in numbers]
