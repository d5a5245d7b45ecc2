"""The graph for other programs: NetworkX, Graphviz, JSON; whole or in part."""

import json
import re
from pathlib import Path

import chess
import networkx
import pytest

from anabranch import Engine, GraphNode, SearchGraph, errors

pytestmark = pytest.mark.usefixtures("material_by_default")

MIDDLEGAME = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine()
    engine.search(MIDDLEGAME, simulations=3000)
    return engine


@pytest.fixture(scope="module")
def graph(engine: Engine) -> SearchGraph:
    return engine.graph(nodes=100_000)


def test_it_is_the_whole_graph(engine: Engine, graph: SearchGraph) -> None:
    statistics = engine.result().statistics
    assert len(graph.nodes) == statistics.nodes
    assert [node.id for node in graph.nodes] == list(range(len(graph.nodes)))
    assert graph.nodes[0].position == MIDDLEGAME
    assert graph.nodes[0].visits == statistics.root_visits
    rows = {row.move: row for row in engine.result().moves}
    for edge in graph.edges:
        if edge.source == 0:
            assert (edge.visits, edge.prior) == (rows[edge.move].visits, rows[edge.move].prior)


def test_edges_lead_where_their_moves_lead(graph: SearchGraph) -> None:
    for edge in graph.edges:
        board = chess.Board(graph.nodes[edge.source].position)
        board.push_uci(edge.move)
        assert board.epd() == chess.Board(graph.nodes[edge.target].position).epd()


def test_parts(engine: Engine, graph: SearchGraph) -> None:
    assert {node.depth for node in engine.graph(depth=1).nodes} == {0, 1}
    assert all(node.visits >= 10 for node in engine.graph(visits=10).nodes)
    few = engine.graph(nodes=25)
    assert len(few.nodes) == 25
    assert all(edge.source < 25 and edge.target < 25 for edge in few.edges)
    for arguments in ({"depth": -1}, {"nodes": 0}, {"visits": -3}, {"visits": 1.5}):
        with pytest.raises(errors.LimitError):
            engine.graph(**arguments)
    assert engine.graph(visits=10**12).nodes == graph.nodes[:1]


def test_networkx(graph: SearchGraph) -> None:
    network = graph.to_networkx()
    assert network.number_of_nodes() == len(graph.nodes)
    assert network.number_of_edges() == len(graph.edges)
    assert networkx.is_directed_acyclic_graph(network)
    assert network.nodes[0]["position"] == MIDDLEGAME
    joined = [node for node, degree in network.in_degree() if degree > 1]
    assert joined
    assert all(network.nodes[node]["transposition"] for node in joined)


def test_dot(graph: SearchGraph) -> None:
    text = graph.to_dot()
    statement = re.compile(r'  (\d+|\d+ -> \d+|node|edge) \[(\w+=("([^"\\]|\\.)*"|\w+)(, )?)+\];')
    lines = text.splitlines()
    assert lines[0] == "digraph search {"
    assert lines[-1] == "}"
    assert all(statement.fullmatch(line) for line in lines[1:-1])
    assert sum(" -> " in line for line in lines) == len(graph.edges)
    assert text.count('peripheries="2"') == sum(node.transposition for node in graph.nodes)


def test_dot_shows_what_is_solved_and_escapes() -> None:
    node = GraphNode(0, 'a "b" \\ w', 0, 3, 1.0, 1.0, "win", 1, False, 2)
    text = SearchGraph((node,), (), "chess").to_dot()
    assert r'tooltip="a \"b\" \\ w"' in text
    assert r'label="3\n+1.00\nwin in 1"' in text
    assert 'shape="box"' in text


def test_json(graph: SearchGraph) -> None:
    assert SearchGraph.from_json(graph.to_json()) == graph
    assert json.loads(graph.to_json())["variant"] == "chess"


@pytest.mark.parametrize("name", ["graph.dot", "graph.GV", "graph.json", "graph.graphml"])
def test_files(graph: SearchGraph, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    graph.write(path)
    graph.write(str(path))
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    if name.endswith("graphml"):
        assert networkx.read_graphml(path).number_of_nodes() == len(graph.nodes)


def test_bad_files(graph: SearchGraph, tmp_path: Path) -> None:
    with pytest.raises(errors.GraphFileError, match=r"\.dot, \.gv, \.json or \.graphml"):
        graph.write(tmp_path / "graph.png")
    with pytest.raises(errors.GraphAccessError, match="cannot be written"):
        graph.write(tmp_path / "nowhere" / "graph.dot")
    (tmp_path / "taken.dot").mkdir()
    with pytest.raises(errors.GraphAccessError, match="cannot be written"):
        graph.write(tmp_path / "taken.dot")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken.dot"]


def test_a_missing_package_is_a_sentence(graph: SearchGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(errors.MissingPackageError, match=r"needs the package networkx; .*'\.\[graph\]'"):
        graph.to_networkx()


def test_an_empty_graph(tmp_path: Path) -> None:
    graph = Engine().graph()
    assert len(graph.nodes) == 1
    graph.write(tmp_path / "graph.dot")
