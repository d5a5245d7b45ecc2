"""Proof numbers of the reference, on hand-made nodes."""

import chess
import pytest

from anabranch.reference import (
    INFINITE,
    Edge,
    Node,
    ReferenceSettings,
    Search,
    State,
    numbers_of_edge,
    numbers_of_node,
    proof_terms,
    refresh,
)
from anabranch.reference.evaluators import uniform

MOVE = chess.Move.from_uci("a2a3")


def child(numbers: tuple[int, int] | None, state: State = State.UNKNOWN, moves: int = 7) -> Node:
    return Node(("child", 0, None), "child", [MOVE] * moves, state=state, numbers=numbers)


def family(legal: int, *children: Node) -> Node:
    node = Node(("node", 0, None), "node", [MOVE] * legal)
    node.edges = [Edge(MOVE, code, 0.1) for code in range(legal)]
    node.opened = len(children)
    for edge, below in zip(node.edges, children, strict=False):
        edge.child = below
    return node


def refreshed(legal: int, *children: Node) -> tuple[int, int] | None:
    node = family(legal, *children)
    refresh(node)
    return node.numbers


def test_a_new_node_needs_one_move_to_win_and_all_to_lose() -> None:
    node = family(9, child(None, moves=30))
    assert numbers_of_node(node) == (1, 9)
    assert numbers_of_edge(node, node.edges[0]) == (30, 1)
    assert numbers_of_edge(node, node.edges[1]) == (9, 1)


def test_the_nearest_win_and_the_hardest_loss_with_one_for_each_other_move() -> None:
    assert refreshed(5, child((3, 4)), child((2, 8))) == (4, 3 + 4)
    assert refreshed(3, child((3, 90)), child((2, 80))) == (3, 3 + 2)
    assert refreshed(2, child((3, 90)), child((2, 80))) == (80, 3 + 1)


def test_a_node_that_two_moves_lead_to_is_not_counted_twice() -> None:
    shared = child((20, 4))
    assert refreshed(2, shared, shared) == (4, 20 + 1)


@pytest.mark.parametrize(
    ("legal", "states", "expected"),
    [
        (2, [State.WIN, State.UNKNOWN], (8, 2)),
        (2, [State.WIN, State.TB_WIN], (INFINITE, 0)),
        (9, [State.TB_LOSS], (0, INFINITE)),
        (2, [State.DRAW, State.UNKNOWN], (8, INFINITE)),
        (3, [State.TB_DRAW, State.WIN], (3, INFINITE)),
    ],
)
def test_results_of_children(legal: int, states: list[State], expected: tuple[int, int]) -> None:
    assert refreshed(legal, *(child((2, 8), state) for state in states)) == expected


def test_numbers_that_are_not_proven_stay_below_infinity() -> None:
    assert refreshed(2, child((INFINITE - 1, 5)), child((1, 5))) == (5, INFINITE - 1)


def test_the_term_halves_where_the_number_doubles() -> None:
    node = family(31, child((1, 7)), child((1, 15)), child((1, 1), State.DRAW), child((1, 3)))
    assert proof_terms(0.5, node, node.edges[:5]) == [0.25, 0.125, 0.0, 0.5, 0.0625]
    assert proof_terms(0.5, node, node.edges[:2]) == [0.5, 0.25]
    assert proof_terms(0.5, node, []) == []
    assert proof_terms(0.0, node, node.edges[:2]) == [0.0, 0.0]


def test_trajectories_leave_the_numbers_that_the_children_give() -> None:
    board = chess.Board("8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1")
    search = Search(board, ReferenceSettings(solver=True, backup="paper", pn_weight=0.3), uniform)
    search.run(simulations=150)
    stored = search.root.numbers
    assert stored is not None
    assert stored[0] < len(search.root.moves), "a check leaves few answers"
    refresh(search.root)
    assert search.root.numbers == stored
    plain = Search(board, ReferenceSettings(solver=True, backup="paper"), uniform)
    plain.run(simulations=150)
    assert all(node.numbers is None for node in plain.graph.nodes())
