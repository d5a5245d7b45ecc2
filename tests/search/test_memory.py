"""The cap on memory holds while visits go on rising, and reuse keeps exactly what is reachable."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from anabranch import Engine
from anabranch.graph import SearchGraph

pytestmark = pytest.mark.usefixtures("material_by_default")

CAP = 4 << 20
CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"


def whole(engine: Engine) -> SearchGraph:
    return engine.graph(visits=0, nodes=10**9)


@pytest.mark.parametrize("preset", ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined"])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_visits_rise_under_the_cap(preset: str, variant: str, position: str) -> None:
    engine = Engine(variant, preset=preset, memory=CAP, urgency="reduction")
    last = reclaims = 0
    for _ in range(4):
        result = engine.search(position, simulations=26_000)
        numbers = result.statistics
        assert result.finish == "limit"
        assert 0 < numbers.bytes <= numbers.reserved_bytes <= CAP
        risen = numbers.root_visits - last
        assert numbers.simulations - numbers.explorations <= risen <= numbers.simulations == 26_000
        assert engine._session.in_flight_marks() == 0
        reclaims += numbers.reclaims
        last = numbers.root_visits
        assert numbers.nodes < 60_000
        # Every visit of the root is still on one of its edges, though most nodes below are gone.
        assert sum(move.visits for move in result.moves) == last - 1
        assert all(move.q is None or abs(move.q) <= 1.0 for move in result.moves)
    assert last > 100_000
    assert reclaims > 0


def quick(size: int) -> Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """An evaluator of Python with some opinion on every position and every move."""

    def evaluate(planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        weights = np.linspace(-1.0, 1.0, planes[0].size, dtype=np.float32)
        values = np.sin(planes.reshape(len(planes), -1) @ weights)
        return values, np.sin(values[:, None] * 50 + np.arange(size, dtype=np.float32)[None, :])

    return evaluate


@pytest.mark.parametrize("is_python", [False, True])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_a_reclaim_keeps_much_of_the_graph(is_python: bool, variant: str, position: str) -> None:
    engine = Engine(variant, evaluator="material", memory=CAP)
    if is_python:
        engine.configure(evaluator=quick(engine._session.shape("v3")[1]))
    nodes = reclaims = 0
    for _ in range(160):
        numbers = engine.search(position, simulations=250).statistics
        assert numbers.reserved_bytes <= CAP
        if numbers.reclaims:
            reclaims += 1
            assert numbers.nodes > 0.4 * nodes
        nodes = numbers.nodes
    assert reclaims > 1


def test_bytes_follow_the_graph() -> None:
    engine = Engine(preset="mcgs")
    sizes = [engine.search(CHESS, simulations=2000).statistics for _ in range(3)]
    assert sizes[0].bytes < sizes[1].bytes < sizes[2].bytes
    for size in sizes:
        assert 60 * size.nodes < size.bytes < 500 * size.nodes
        assert size.bytes <= size.reserved_bytes
    # Nodes that only draws of a path have reached have no visits, and are not exported.
    assert 0 <= sizes[2].nodes - len(whole(engine).nodes) < 10
    # The table keeps its slots for the next graph; all else is free.
    engine.forget()
    assert engine.result().statistics.bytes < sizes[0].bytes / 3


def reachable(graph: SearchGraph, start: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for edge in graph.edges:
        children.setdefault(edge.source, []).append(edge.target)
    seen, stack = {start}, [start]
    while stack:
        for child in children.get(stack.pop(), []):
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return seen


def content(graph: SearchGraph, numbers: set[int]) -> list[object]:
    """What nodes and edges say, without numbers and depths, which follow the root."""
    nodes = {node.id: node for node in graph.nodes}
    rows: list[object] = []
    for number in numbers:
        node = nodes[number]
        rows.append(
            (node.position.rsplit(" ", 2)[0], node.visits, node.value, node.raw, node.state, node.plies)
        )
    for edge in graph.edges:
        if edge.source in numbers:
            rows.append((edge.move, edge.visits, edge.q, edge.prior, edge.child_value, edge.pruned))
    return sorted(rows, key=repr)


@pytest.mark.parametrize("preset", ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined"])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_reuse_keeps_exactly_what_is_reachable(preset: str, variant: str, position: str) -> None:
    engine = Engine(variant, preset=preset)
    engine.search(position, simulations=3000)
    for _ in range(2):
        before = whole(engine)
        move = engine.result().best_move
        child = next(edge.target for edge in before.edges if edge.source == 0 and edge.move == move)
        kept = reachable(before, child)
        assert len(kept) < len(before.nodes)
        engine.play(move)
        after = whole(engine)
        numbers = engine.result().statistics
        assert len(after.nodes) == len(kept) == numbers.nodes
        assert content(after, {node.id for node in after.nodes}) == content(before, kept)
        assert numbers.root_visits == before.nodes[child].visits
        assert engine.search(simulations=200).statistics.root_visits > before.nodes[child].visits


def test_what_a_stopped_search_left_is_freed_later() -> None:
    for _ in range(20):  # a stop may come when all is freed already
        engine = Engine(preset="mcgs", memory=256 << 20)
        move = engine.search(CHESS, simulations=40_000).best_move
        engine.position = (CHESS, [move])
        stopped = engine.search(time=1e-6)
        assert stopped.finish == "time"
        assert stopped.best_move in engine.legal_moves
        engine.position = (CHESS, [move])
        numbers = engine.result().statistics
        # Nodes that only draws of a path have reached have no visits, and are not exported.
        assert 0 <= numbers.nodes - len(whole(engine).nodes) < 10
        assert numbers.nodes <= stopped.statistics.nodes
        if numbers.nodes < stopped.statistics.nodes:
            return
    pytest.fail("every search had freed all before it stopped")


def test_without_reuse_or_below_an_unknown_move_a_new_graph_starts() -> None:
    engine = Engine(preset="mcgs", reuse=False)
    move = engine.search(CHESS, simulations=500).best_move
    engine.play(move)
    assert engine.result().statistics.root_visits == 0
    engine = Engine(preset="mcgs")
    result = engine.search(CHESS, simulations=60)
    unseen = next(row.move for row in result.moves if row.visits == 0)
    engine.play(unseen)
    assert engine.result().statistics.nodes == 1


def test_a_position_that_continues_the_game_keeps_the_graph() -> None:
    engine = Engine(preset="mcgs")
    move = engine.search(f"{CHESS} moves a2a3", simulations=1000).best_move
    kept = next(row.child_visits for row in engine.result().moves if row.move == move)
    result = engine.search(f"{CHESS} moves a2a3 {move}", simulations=100)
    assert result.statistics.root_visits == kept + 100


@pytest.mark.parametrize("preset", ["alphazero", "alphazero+cache", "mcgs-combined"])
def test_stops_at_the_cap_leave_a_whole_graph(preset: str, tmp_path: Path) -> None:
    """Stops fall into the reclaiming of memory as well: what they leave is a graph that a file can hold, and
    that goes on growing.
    """
    engine = Engine("crazyhouse", preset=preset, evaluator="material", memory=CAP)
    rng = random.Random(preset)
    engine.search(HOUSE, simulations=30_000)
    reclaims = 0
    for number in range(60):
        # The stop flag is set at the deadline, wherever the core is then.
        result = engine.search(HOUSE, time=rng.uniform(0.001, 0.03))
        assert result.finish == "time"
        reclaims += result.statistics.reclaims
        assert result.statistics.reserved_bytes <= CAP
        assert engine._session.in_flight_marks() == 0
        assert sum(move.visits for move in result.moves) == result.statistics.root_visits - 1
        if number % 15 == 0:
            engine.configure(memory=64 << 20)  # a file is read into arenas of another shape
            engine.save(tmp_path / "graph")
            engine.configure(memory=CAP)
            loaded = Engine.load(tmp_path / "graph", evaluator="material")
            assert loaded.result().moves == engine.result().moves
    assert reclaims > 0
    visits = engine.result().statistics.root_visits
    assert engine.search(simulations=5000).statistics.root_visits > visits
