"""Draws by repetition and by the move count belong to a path, and never to a node that others share."""

from collections import defaultdict

import pytest

from anabranch import Engine

pytestmark = pytest.mark.usefixtures("material_by_default")

MERGING = ["naive", "paper", "delta", "recompute"]
# Queen and rook up, but black has a perpetual check: Qe1+ Kh2 Qh4+ Kg1 and so on.
PERPETUAL = "6k1/5ppp/8/8/7q/8/QR4P1/6K1 b - - 0 1"
KINGS = "8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 w - - 0 1"


@pytest.mark.parametrize("backup", ["tree", *MERGING])
def test_a_perpetual_is_worth_a_draw(backup: str) -> None:
    engine = Engine(preset="mcgs-combined", backup=backup, urgency="reduction")
    result = engine.search(PERPETUAL, simulations=20_000)
    assert result.best_move in ("h4e1", "h4d4")
    assert result.value == pytest.approx(0.0, abs=0.3)
    assert result.solved is None
    assert result.statistics.path_draws > 100
    # Without the checks the material decides.
    lost = Engine(preset="mcgs-combined", backup=backup).search(PERPETUAL.replace("q", "p"), simulations=2000)
    assert lost.value < -0.4


@pytest.mark.parametrize("backup", MERGING)
@pytest.mark.parametrize("merge", ["ply", "clock"])
def test_a_shared_node_keeps_its_own_value(backup: str, merge: str) -> None:
    """A position is a repetition on one path and new on another; edges may differ, the node may not."""
    engine = Engine(
        preset="mcgs", backup=backup, merge=merge, evaluator="hash", urgency="reduction", stop="none"
    )
    result = engine.search(KINGS, simulations=6000)
    assert result.statistics.path_draws > 100
    graph = engine.graph(visits=0, nodes=10**9)
    assert all(node.state == "unknown" and node.plies is None for node in graph.nodes)
    # With one visit the value of a node is the evaluator's, which is never a draw's 0 here.
    assert all(node.raw != 0.0 for node in graph.nodes)
    once = [node for node in graph.nodes if node.visits == 1]
    assert len(once) > 100
    assert all(node.value == node.raw for node in once)
    arrivals = defaultdict(list)
    for edge in graph.edges:
        arrivals[edge.target].append(edge)
    # Somewhere an edge that met a draw (Q pulled to 0, or 0) leads to a node worth something else.
    split = [
        node
        for node in graph.nodes
        if len(arrivals[node.id]) > 1
        and any(edge.q == 0.0 and edge.visits > 0 for edge in arrivals[node.id])
        and abs(node.value) > 0.01
    ]
    assert split or merge == "ply"


def test_threefold_counts_the_game_before_the_root() -> None:
    """After two rounds there and back a third visit ends the path; after one it does not."""
    position = "6k1/5pp1/7p/8/8/2q5/5PPP/4Q1K1 w - - 0 1"
    round_trip = "e1e8 g8h7 e8e1 h7g8"
    for rounds, drawn in ((1, False), (2, True)):
        history = " ".join([round_trip] * rounds)
        engine = Engine(preset="mcgs", urgency="reduction")
        result = engine.search(f"{position} moves {history}", simulations=3000)
        row = next(row for row in result.moves if row.move == "e1e8")
        assert row.visits > 0
        assert (row.draws == row.visits) == drawn
        assert (row.q == 0.0) == drawn
        assert (row.child_value is None) == drawn  # the position itself was never judged
    # The same placement with the other side to move is another position.
    result = Engine(preset="mcgs").search(f"{position} moves {round_trip} {round_trip} e1e7", simulations=500)
    assert result.statistics.simulations == 500


@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_the_fifty_move_rule_ends_the_path(backup: str) -> None:
    # One ply is left: every quiet move draws, the pawn moves on.
    engine = Engine(preset="mcgs", backup=backup, urgency="reduction")
    result = engine.search("4k3/8/8/8/8/8/P7/R3K3 w - - 99 80", simulations=20_000)
    for row in result.moves:
        if row.visits == 0:
            continue
        if row.move.startswith("a2"):
            assert row.draws == 0
            assert row.q is not None
            assert row.q > 0.3
        else:
            assert (row.draws, row.q) == (row.visits, 0.0)
    assert result.best_move.startswith("a2")
    # With nothing but quiet moves the position is as good as drawn, and still not proven.
    result = Engine(preset="mcgs-combined", backup=backup).search(
        "4k3/8/8/8/8/8/8/R3K3 w - - 99 80", simulations=500
    )
    assert result.solved is None
    assert abs(result.value) < 0.1


def test_crazyhouse_has_no_move_count() -> None:
    result = Engine("crazyhouse", preset="mcgs").search("4k3/8/8/8/8/8/8/R3K3[] w - - 99 80", simulations=500)
    assert all(row.draws == 0 for row in result.moves)
    assert result.value > 0.1


@pytest.mark.parametrize(
    ("position", "moves"),
    [
        ("7k/8/8/6Q1/8/8/8/K7 w - - 0 1", {"g5g6", "g5f7"}),  # stalemates at once
        ("8/8/8/8/8/8/1q6/K6k w - - 0 1", {"a1b2"}),  # leaves bare kings
    ],
)
def test_draws_of_the_position_are_facts(position: str, moves: set[str]) -> None:
    result = Engine(preset="mcgs-combined", urgency="reduction").search(position, simulations=3000)
    drawn = {row.move for row in result.moves if row.state == "draw"}
    assert drawn & moves
    for row in result.moves:
        if row.move in drawn & moves:
            assert (row.q, row.plies) in ((0.0, 1), (None, 1))
