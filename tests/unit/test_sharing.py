"""The effect of sharing on graphs whose numbers are worked out by hand."""

import pytest

from anabranch import Engine
from anabranch.examples.left_right import LeftRight
from anabranch.graph import GraphEdge, GraphNode, SearchGraph
from anabranch.result import SolverState
from anabranch.sharing import sharing_of


def node(
    id: int, depth: int, visits: int, value: float, raw: float, state: SolverState = "unknown"
) -> GraphNode:
    return GraphNode(id, f"position {id}", depth, visits, value, raw, state, None, False, 20)


def edge(source: int, target: int, move: str, visits: int, q: float) -> GraphEdge:
    return GraphEdge(source, target, move, visits, q, 0.5, q, False, 0)


def diamond(state: SolverState = "unknown") -> SearchGraph:
    """The root 0, its moves to 1 and 2, and node 3 below both: ten visits by way of 1, two by way of 2."""
    return SearchGraph(
        (
            node(0, 0, 34, 0.3, 0.0),
            node(1, 1, 30, -0.3, 0.0),
            node(2, 1, 3, -1 / 3, 0.0),
            node(3, 2, 11, 0.5, 0.2, state),
        ),
        (
            edge(0, 1, "a", 30, 0.3),
            edge(0, 2, "b", 3, 1 / 3),
            edge(1, 3, "c", 10, -0.5),
            edge(2, 3, "d", 2, -0.5),
        ),
        "chess",
    )


def test_a_transposition_changes_the_decision() -> None:
    """Node 3 with two visits is worth (0.2 + 0.53) / 2, because its other ten visits have a mean of 0.53;
    with ten it is worth (0.2 + 9 * 0.53) / 10.
    """
    found = sharing_of(diamond())
    alone = {row.move: row.alone for row in found.moves}
    assert alone["a"] == pytest.approx(0.3 - 10 / 30 * 0.003)
    assert alone["b"] == pytest.approx(1 / 3 - 2 / 3 * 0.135)
    assert (found.best, found.best_alone, found.decides) == ("b", "a", True)
    [shared] = found.nodes
    assert (shared.node, shared.decides) == (3, True)
    assert shared.gains == pytest.approx({"a": 0.001, "b": 0.09})
    assert shared.lines == (("a", "c"), ("b", "d"))


def test_a_smaller_lead_is_no_other_decision() -> None:
    """Without sharing a is worth 0.299, and b 0.09 less than its Q."""
    for q, decides in ((0.3895, False), (0.3885, False), (0.3875, True)):
        graph = diamond()
        found = sharing_of(
            SearchGraph(graph.nodes, (graph.edges[0], edge(0, 2, "b", 3, q), *graph.edges[2:]), "chess")
        )
        assert found.best == "b"
        assert found.decides == decides
        assert found.lead == pytest.approx(max(0.0, 0.389 - q))
        assert [row.decides for row in found.nodes] == [decides]


def test_a_proof_is_kept() -> None:
    found = sharing_of(diamond("loss"))
    assert [row.alone for row in found.moves] == [row.shared for row in found.moves]
    assert found.nodes == ()


def test_moves_with_few_visits_are_no_candidates() -> None:
    graph = diamond()
    edges = (edge(0, 1, "a", 31, 0.3), *graph.edges[1:])
    assert [row.move for row in sharing_of(SearchGraph(graph.nodes, edges, "chess")).moves] == ["a"]


def test_a_tree_and_an_empty_graph_have_nothing_to_share() -> None:
    engine = Engine(backup="tree")
    engine.search("startpos", simulations=300)
    found = sharing_of(engine.graph())
    assert found.nodes == ()
    for row in found.moves:
        assert row.alone == pytest.approx(row.shared, abs=1e-12)
    empty = sharing_of(SearchGraph((node(0, 0, 1, 0.1, 0.1),), (), "chess"))
    assert (empty.moves, empty.best, empty.decides) == ((), None, False)


def test_a_line_of_many_nodes_is_no_recursion_error() -> None:
    length = 3000
    nodes = tuple(node(at, at, length - at, 0.1, 0.1) for at in range(length))
    edges = tuple(edge(at, at + 1, "m", length - at - 1, -0.1) for at in range(length - 1))
    assert sharing_of(SearchGraph(nodes, edges, "chess")).moves[0].alone == pytest.approx(-0.1)


def test_it_says_what_a_tree_search_finds() -> None:
    """A pawn ending, where nearly everything is a transposition: the values that the graph's search would
    have without sharing are nearer to those of a tree search than those that it has. This is not so in every
    position, because a tree search also visits other moves.
    """
    position = "8/1p3k2/p1p5/P1P2p2/1P3P2/4K3/8/8 w - - 0 1"
    engine, tree = Engine(evaluator="material"), Engine(evaluator="material", backup="tree")
    engine.search(position, simulations=2000)
    values = {row.move: row.q for row in tree.search(position, simulations=2000).moves}
    moves = sharing_of(engine.graph()).moves
    assert len(moves) >= 3
    before = sum(abs(row.shared - (values[row.move] or 0.0)) for row in moves)
    after = sum(abs(row.alone - (values[row.move] or 0.0)) for row in moves)
    assert after < 0.6 * before


def test_in_a_game_of_one_player_values_keep_their_sign() -> None:
    engine = Engine(game=LeftRight(12))
    engine.search(simulations=300)
    graph = engine.graph()
    assert any(graph.nodes[edge.target].value == 0.0 for edge in graph.edges)
    assert all(graph.keeps_turn(edge) for edge in graph.edges)


def test_positions_say_who_moves_whatever_the_values() -> None:
    nodes = tuple(
        GraphNode(at, text, at, 3 - at, 0.0, 0.0, "unknown", None, False, 2)
        for at, text in enumerate(("a/a x", "b/b x", "c/c o"))
    )
    edges = (edge(0, 1, "again", 2, 0.0), edge(1, 2, "other", 1, 0.0))
    graph = SearchGraph(nodes, edges, "object:Game")
    assert [graph.keeps_turn(one) for one in edges] == [True, False]
