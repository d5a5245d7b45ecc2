"""Tables in the search: states of new nodes, their way up, and what switches them on and off."""

from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import numpy as np
import pytest
from tests.support.proofs import proof_of

from anabranch import Engine, _core
from anabranch import reference as ref
from anabranch.errors import SettingError
from anabranch.reference import evaluators

pytestmark = pytest.mark.usefixtures("material_by_default")

PAWN = "8/8/8/4k3/8/8/3PK3/8 w - - 0 1"
"""King and pawn against king, won for White: every pawn move resets the clock."""
FIVE = "8/8/2n5/3k4/8/2B5/3PK3/8 w - - 4 50"
"""One man too many for the tables: the first capture leads into them."""


def graph_of(engine: Engine) -> list[tuple[Any, ...]]:
    graph = engine.graph(nodes=10**6)
    nodes = [(node.position, node.visits, node.value, node.state) for node in graph.nodes]
    return [*nodes, *((edge.source, edge.target, edge.move, edge.visits, edge.q) for edge in graph.edges)]


def test_new_nodes_take_the_state_of_their_table(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase
) -> None:
    # With the clock in the key a node is created with the clock that its position shows.
    engine = Engine(tablebases=tables, solver=False, merge="clock")
    result = engine.search(FIVE, simulations=3000)
    states = {2: "tb-win", 1: "tb-draw", 0: "tb-draw", -1: "tb-draw", -2: "tb-loss"}
    asked = 0
    for node in engine.graph(nodes=10**6).nodes:
        board = chess.Board(node.position)
        over = board.is_game_over()
        if over or board.halfmove_clock or len(board.piece_map()) > 4:
            assert over or not node.state.startswith("tb-"), node.position
        else:
            assert node.state == states[prober.probe_wdl(board)], node.position
            asked += 1
    assert asked == result.statistics.tablebase_hits > 100


def test_states_travel_up_to_all_parents(tables: _core.Tablebases) -> None:
    """A piece taken for a won pawn ending: nodes that no table knows learn of it from their children."""
    engine = Engine(tablebases=tables)
    result = engine.search("8/8/8/3n4/4K3/3P4/8/7k w - - 3 50", simulations=300)
    assert proof_of(result).state in ("tb-win", "win")
    graph = engine.graph(nodes=10**6)
    above = [node for node in graph.nodes if node.state.startswith("tb-") and " 0 " not in node.position]
    assert above
    engine.search(FIVE, simulations=20000)
    graph = engine.graph(nodes=10**6)
    states = {node.id: node.state for node in graph.nodes}
    lost = {edge.target for edge in graph.edges if states[edge.target] == "tb-loss"}
    parents = [edge.source for edge in graph.edges if edge.target in lost]
    assert len(parents) > 20
    assert {states[parent] for parent in parents} <= {"tb-win", "win"}


@pytest.mark.parametrize("solver", [True, False])
@pytest.mark.parametrize("backup", ["paper", "tree+cache"])
def test_the_core_does_as_the_reference(
    tables: _core.Tablebases, prober: chess.syzygy.Tablebase, solver: bool, backup: str
) -> None:
    def wdl(board: chess.Board) -> int | None:
        if len(board.piece_map()) > 4:
            return None
        return (prober.probe_wdl(board) > 1) - (prober.probe_wdl(board) < -1)

    settings: dict[str, Any] = {
        "backup": backup, "solver": solver, "epsilon_greedy": 0.05, "epsilon_checks": 0.05,
        "node_temperature": 1.7, "urgency": "fixed", "virtual_mode": "loss", "chooser": "q", "seed": 3,
        "width_visits": 0, "batch_size": 16, "wave_least": 0, "mate_root": 0.0,
    }  # fmt: skip
    board = chess.Board(FIVE)
    session = _core.Session("chess", False, {**settings, "evaluator": "hash"}, False)
    session.set_tablebases(tables)
    session.set_position(FIVE, [])
    session.run(simulations=1500)
    nodes, edges = session.export(None, 0, 10**9)
    search = ref.Search(board, ref.ReferenceSettings(**settings), evaluators.hash_evaluator, tablebase=wdl)
    search.run(simulations=1500)
    assert any(node["state"].startswith("tb-") for node in nodes)

    def by_move(source: int) -> dict[str, dict[str, Any]]:
        return {edge["move"]: edge for edge in edges if edge["source"] == source}

    pending: list[tuple[int, ref.Node]] = [(0, search.root)]
    seen = set()
    while pending:
        number, node = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        assert (nodes[number]["visits"], nodes[number]["state"]) == (node.visits, node.state.value)
        assert nodes[number]["value"] == pytest.approx(node.value, abs=1e-6)
        found = by_move(number)
        for edge in node.open_edges:
            assert edge.child is not None
            if edge.child.visits:
                assert found[edge.move.uci()]["visits"] == edge.visits
                pending.append((found[edge.move.uci()]["target"], edge.child))
    assert len(seen) > 400


def test_both_loops_and_any_number_of_threads_make_the_same_graph(tables: _core.Tablebases) -> None:
    size = Engine().shape[1]

    def outside(planes: Any) -> tuple[Any, Any]:
        return np.zeros(len(planes), np.float32), np.zeros((len(planes), size), np.float32)

    graphs = []
    choices: list[dict[str, Any]] = [
        {"evaluator": "uniform"},
        {"evaluator": "uniform", "threads": 3},
        {"evaluator": outside},
    ]
    for changes in choices:
        engine = Engine(tablebases=tables, width_visits=64, width_linear=0, batch_size=16, **changes)
        hits = engine.search(FIVE, simulations=3000).statistics.tablebase_hits
        graphs.append((hits, graph_of(engine)))
    assert graphs[0][0] > 10
    assert graphs[0] == graphs[1] == graphs[2]


def test_tables_change_nothing_where_they_know_nothing(tables: _core.Tablebases) -> None:
    for variant in ("chess", "crazyhouse", "atomic"):
        plain, guided = Engine(variant), Engine(variant, tablebases=tables)
        for engine in (plain, guided):
            assert engine.search(simulations=500).statistics.tablebase_hits == 0
        assert graph_of(plain) == graph_of(guided)


def test_crazyhouse_ignores_tables(tables: _core.Tablebases) -> None:
    engine = Engine("crazyhouse", tablebases=tables)
    result = engine.search("8/8/8/4k3/8/8/3PK3/8[] w - - 0 1", simulations=300)
    assert result.statistics.tablebase_hits == 0
    assert result.solved is None


def test_the_number_of_men_can_be_limited(tables: _core.Tablebases) -> None:
    assert Engine(tablebases=tables, tablebase_men=2).search(PAWN, simulations=300).solved is None
    three = Engine(tablebases=tables, tablebase_men=3).search(FIVE, simulations=3000)
    four = Engine(tablebases=tables).search(FIVE, simulations=3000)
    assert three.statistics.tablebase_hits < four.statistics.tablebase_hits
    solved = Engine(tablebases=tables, tablebase_men=3).search(PAWN, simulations=10).solved
    assert solved is not None
    assert solved.state == "tb-win"


def test_castling_rights_keep_the_tables_out(tables: _core.Tablebases) -> None:
    result = Engine(tablebases=tables).search("8/8/8/8/8/2k5/8/R3K3 w Q - 0 1", simulations=1)
    assert result.solved is None


def test_a_change_of_tables_forgets_the_graph_and_the_same_tables_keep_it(
    tables: _core.Tablebases, directory: Path
) -> None:
    engine = Engine()
    engine.search(PAWN, simulations=200)
    engine.configure(tablebases=None)
    assert engine.result().statistics.root_visits > 150
    engine.configure(tablebases=directory)
    assert engine.result().statistics.root_visits == 0
    assert engine.position == PAWN
    assert [table.men for table in (engine.tablebases,) if table] == [4]
    assert engine.search(simulations=200).solved is not None
    for same in (tables, str(directory), [directory]):
        engine.configure(tablebases=same)
        assert engine.result().statistics.root_visits > 150
    engine.configure(c_init=3.0)
    assert engine.result().statistics.root_visits > 150
    engine.configure(tablebase_fifty=False)
    assert engine.result().statistics.root_visits == 0
    engine.configure(tablebases=None)
    assert repr(engine.tablebases) == "None"
    assert engine.search(simulations=5).solved is None
    with pytest.raises(SettingError, match="directories, not as int"):
        engine.configure(tablebases=5)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="tablebase_men"):
        Engine(tablebase_men=8)


def test_a_saved_graph_keeps_its_states(tables: _core.Tablebases, tmp_path: Path) -> None:
    engine = Engine(tablebases=tables, tablebase_men=4)
    engine.search(FIVE, simulations=1000)
    engine.save(tmp_path / "graph")
    for given in (None, tables):
        again = Engine.load(tmp_path / "graph", tablebases=given)
        assert again.settings.tablebase_men == 4
        assert graph_of(again) == graph_of(engine)
        assert (again.tablebases is None) == (given is None)
    again.search(simulations=500)
    engine.search(simulations=500)
    assert graph_of(again) == graph_of(engine)


def test_memory_is_reclaimed_among_known_nodes(tables: _core.Tablebases) -> None:
    engine = Engine(tablebases=tables, memory=4 << 20)
    result = engine.search("8/8/8/3nk3/8/8/3PK3/8 w - - 0 1", simulations=60_000)
    assert result.statistics.reclaims > 0
    assert result.statistics.reserved_bytes <= 4 << 20
    assert result.statistics.root_visits > 40_000
    assert result.moves[0].child_visits > 100
