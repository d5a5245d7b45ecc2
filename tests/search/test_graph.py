"""The graph of a search, read from its export: what merges, what does not, and that no value leaks."""

import dataclasses
from collections import defaultdict
from typing import Any, Literal

import chess
import networkx
import pytest

from anabranch import Engine, reference
from anabranch.graph import GraphNode, SearchGraph
from anabranch.reference.evaluators import hash_evaluator

pytestmark = pytest.mark.usefixtures("material_by_default")

EDGE_MODES = ["tree", "tree+cache", "naive", "paper", "delta"]
MERGING = ["naive", "paper", "delta", "recompute"]
MIDDLEGAME = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
ENDGAME = "8/8/3k4/3p4/8/3PK3/8/8 w - - 0 1"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
KNIGHTS = "4k1n1/8/8/8/8/8/8/1N2K3 w - - 0 1"
# A search that tries everything: transpositions come early.
WIDE: dict[str, Any] = {"urgency": "reduction", "c_init": 10.0}
BARE_HOUSE = "4k3/8/8/8/8/8/8/4K3[Nn] w - - 0 1"


def whole(engine: Engine) -> SearchGraph:
    return engine.graph(visits=0, nodes=10**9)


def searched(
    position: str, simulations: int, variant: str = "chess", **settings: Any
) -> tuple[Engine, SearchGraph]:
    engine = Engine(variant, preset="mcgs", **settings)
    engine.search(position, simulations=simulations)
    return engine, whole(engine)


@pytest.fixture(scope="module")
def wide() -> dict[str, SearchGraph]:
    """The opening, searched so evenly that every line of three plies occurs; by merge key."""
    flat = {**WIDE, "evaluator": "uniform", "c_init": 20.0}
    return {merge: searched("startpos", 30_000, merge=merge, **flat)[1] for merge in ("ply", "clock")}


def found(graph: SearchGraph, line: str) -> GraphNode:
    """The node at the end of a line from the start of the game."""
    board = chess.Board()
    node = found_from(graph, " ".join(board.push_san(san).uci() for san in line.split()))
    assert node.position.split()[:2] == board.fen().split()[:2]
    return node


def found_from(graph: SearchGraph, line: str) -> GraphNode:
    """The node at the end of a line (UCI) from the root."""
    moves = {(edge.source, edge.move): edge.target for edge in graph.edges}
    number = 0
    for move in line.split():
        number = moves[number, move]
    return graph.nodes[number]


def parents(graph: SearchGraph, node: GraphNode) -> set[int]:
    return {edge.source for edge in graph.edges if edge.target == node.id}


def test_transposed_openings_share_a_node_at_equal_ply(wide: dict[str, SearchGraph]) -> None:
    node = found(wide["ply"], "d4 d5 Nf3")
    assert node == found(wide["ply"], "Nf3 d5 d4")
    assert node.transposition
    assert len(parents(wide["ply"], node)) == 2
    one, other = found(wide["ply"], "Nf3 Nf6 Nc3"), found(wide["ply"], "Nc3 Nf6 Nf3")
    assert one == other
    assert one.transposition


def test_the_clock_keeps_apart_what_it_tells_apart(wide: dict[str, SearchGraph]) -> None:
    one, other = found(wide["clock"], "d4 d5 Nf3"), found(wide["clock"], "Nf3 d5 d4")
    assert one.id != other.id
    assert (one.position.split()[4], other.position.split()[4]) == ("1", "0")
    assert (len(parents(wide["clock"], one)), len(parents(wide["clock"], other))) == (1, 1)
    same = found(wide["clock"], "Nf3 Nf6 Nc3")
    assert same == found(wide["clock"], "Nc3 Nf6 Nf3")
    assert len(parents(wide["clock"], same)) == 2


def test_an_en_passant_square_separates_only_where_a_capture_is_legal() -> None:
    _, graph = searched("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", 2000, evaluator="uniform", **WIDE)
    marked = [node for node in graph.nodes if node.position.split()[3] != "-"]
    assert marked
    assert all(chess.Board(node.position).has_legal_en_passant() for node in marked)
    assert found_from(graph, "d7d5").position.split()[3] == "d6"
    # The pawn that comes to d5 in two steps cannot be taken so, and is another node.
    assert found_from(graph, "d7d6 e1e2 d6d5").position.split()[3] == "-"


def test_equal_positions_at_different_plies_meet_by_the_clock_alone() -> None:
    # The kings lose moves before the pawn steps up: the same position and clock, some plies later.
    graphs = {merge: searched(ENDGAME, 4000, merge=merge, **WIDE)[1] for merge in ("ply", "clock")}
    for merge, graph in graphs.items():
        depths = defaultdict(set)
        for edge in graph.edges:
            depths[edge.target].add(graph.nodes[edge.source].position.split()[5])
        mixed = [number for number, moves in depths.items() if len(moves) > 1]
        assert bool(mixed) == (merge == "clock"), merge


@pytest.mark.parametrize("backup", MERGING)
def test_a_graph_is_smaller_than_its_simulations_and_counts_its_links(backup: str) -> None:
    engine, graph = searched(MIDDLEGAME, 6000, backup=backup, **WIDE)
    numbers = engine.result().statistics
    assert numbers.nodes == len(graph.nodes) < numbers.simulations
    assert numbers.edges == len(graph.edges)
    assert numbers.transposition_links > 50
    # A tree has one edge less than nodes; every further edge is a link.
    assert numbers.transposition_links == len(graph.edges) - (len(graph.nodes) - 1)
    several = {node.id for node in graph.nodes if node.transposition}
    arrivals: dict[int, int] = defaultdict(int)
    for edge in graph.edges:
        arrivals[edge.target] += 1
    assert several == {number for number, count in arrivals.items() if count > 1}
    assert numbers.transposition_nodes == len(several)


@pytest.mark.parametrize("backup", ["tree", "tree+cache"])
def test_trees_stay_trees(backup: str) -> None:
    engine, graph = searched(MIDDLEGAME, 6000, backup=backup, **WIDE)
    numbers = engine.result().statistics
    assert len(graph.edges) == len(graph.nodes) - 1
    assert (numbers.transposition_links, numbers.corrections) == (0, 0)
    assert (numbers.stops > 50) == (backup == "tree+cache")
    assert numbers.evaluations <= numbers.simulations - numbers.stops


@pytest.mark.parametrize("backup", EDGE_MODES)
@pytest.mark.parametrize("merge", ["ply", "clock"])
@pytest.mark.parametrize(
    ("variant", "position"), [("chess", MIDDLEGAME), ("chess", ENDGAME), ("crazyhouse", HOUSE)]
)
def test_edges_carry_the_whole_mass(backup: str, merge: str, variant: str, position: str) -> None:
    """N V = U + sum N Q at every evaluated node that goes on."""
    _, graph = searched(
        position,
        1500,
        variant,
        backup=backup,
        merge=merge,
        evaluator="hash",
        solver=True,
        epsilon_greedy=0.05,
    )
    mass: dict[int, float] = defaultdict(float)
    visits: dict[int, int] = defaultdict(int)
    for edge in graph.edges:
        mass[edge.source] += edge.visits * edge.q
        visits[edge.source] += edge.visits
    complete = 0
    for node in graph.nodes:
        if node.legal == 0:
            assert node.visits == 1
            continue
        # An edge is missing only where all its visits were draws of the path, with value 0.
        assert node.visits >= 1 + visits[node.id]
        complete += node.visits == 1 + visits[node.id]
        assert node.visits * node.value == pytest.approx(node.raw + mass[node.id], abs=1e-7 * node.visits)
    assert complete > 0.8 * len(graph.nodes)


@pytest.mark.parametrize("backup", MERGING)
@pytest.mark.parametrize(
    ("variant", "merge", "position"),
    [
        ("chess", "ply", ENDGAME),
        ("chess", "clock", ENDGAME),
        ("chess", "ply", MIDDLEGAME),
        ("chess", "clock", MIDDLEGAME),
        ("crazyhouse", "ply", HOUSE),
        ("crazyhouse", "ply", BARE_HOUSE),
    ],
)
def test_no_cycle(backup: str, variant: str, merge: str, position: str) -> None:
    engine, graph = searched(position, 2000, variant, backup=backup, merge=merge, **WIDE)
    assert networkx.is_directed_acyclic_graph(graph.to_networkx())
    assert engine.result().statistics.transposition_links > 0


@pytest.mark.timeout(60)
@pytest.mark.parametrize("backup", MERGING)
@pytest.mark.parametrize("stop", ["gap", "visits", "none"])
def test_crazyhouse_by_the_clock_comes_to_an_end(backup: str, stop: str) -> None:
    """Captures and drops can restore a position at the same clock; the guard of the path ends the round."""
    trade = "3rk3/8/8/8/8/8/8/3RK3[Rr] w - - 0 1"
    engine, graph = searched(
        trade, 5000, "crazyhouse", backup=backup, merge="clock", stop=stop, evaluator="hash", solver=True
    )
    result = engine.result()
    assert result.statistics.simulations == 5000 or result.finish in ("solved", "idle")
    assert all(abs(node.value) <= 1.0 for node in graph.nodes)
    assert all(edge.in_flight == 0 for edge in graph.edges)


def test_leaks_in_whole_searches_and_the_printed_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eq. (9) as printed drives edges away from their targets: worse than no correction at all."""
    positions = [ENDGAME, "8/p3k3/8/8/8/8/P3K3/8 w - - 0 1", KNIGHTS]

    def leak(backup: Literal["naive", "paper"], stop: Literal["gap", "none"]) -> float:
        settings = dataclasses.replace(
            reference.ReferenceSettings(), backup=backup, stop=stop, urgency="reduction"
        )
        total = 0.0
        for position in positions:
            search = reference.Search(chess.Board(position), settings, hash_evaluator)
            search.run(simulations=600)
            total += reference.edge_leak(search.graph) / len(positions)
        return total

    corrected, naive = leak("paper", "gap"), leak("naive", "none")
    monkeypatch.setattr(
        "anabranch.reference.transposition.q_phi", lambda n, q, target: n * (q - target) + target
    )
    printed = leak("paper", "gap")
    assert corrected < 0.012
    assert 0.015 < naive < 0.08
    assert printed > 0.1


def test_leak_of_the_core_by_mode() -> None:
    """The same from the core: naive merging leaks, corrections close the gap, trees have none."""
    leaks: dict[str, float] = {}
    for backup in ("tree", "naive", "paper", "delta", "recompute"):
        stop = "gap" if backup in ("paper", "delta") else "none"
        total = 0.0
        for position in (ENDGAME, MIDDLEGAME, KNIGHTS):
            engine, _ = searched(
                position, 4000, backup=backup, stop=stop, evaluator="hash", urgency="reduction"
            )
            total += engine.result().statistics.leak / 3
        leaks[backup] = total
    assert leaks["tree"] < 1e-3
    assert leaks["naive"] > 0.015
    assert leaks["paper"] < leaks["naive"] / 2
    assert leaks["delta"] < leaks["naive"] / 2
    assert leaks["recompute"] < leaks["naive"] / 2
