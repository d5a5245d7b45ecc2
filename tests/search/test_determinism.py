"""The same seed gives the same graph, whatever the threads; and a search that was stopped can go on."""

import threading
import time
from typing import Any

import pytest

from anabranch import Engine, presets
from anabranch.graph import SearchGraph

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
ENDGAME = "8/8/3k4/3p4/8/3PK3/8/8 w - - 0 1"


def graph_of(variant: str, position: str, preset: str, simulations: int, **settings: Any) -> SearchGraph:
    engine = Engine(variant, preset=preset, **settings)
    engine.search(position, simulations=simulations)
    assert engine._session.in_flight_marks() == 0
    return engine.graph(visits=0, nodes=10**9)


@pytest.mark.parametrize("preset", presets())
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_any_number_of_threads_gives_the_same_graph(preset: str, variant: str, position: str) -> None:
    explores = preset != "update-all"  # its backup allows no explorations
    for evaluator in ("material", "hash"):
        one, two, three = (
            graph_of(
                variant,
                position,
                preset,
                1200,
                threads=threads,
                evaluator=evaluator,
                epsilon_greedy=0.1 if explores else 0.0,
            )
            for threads in (1, 2, 3)
        )
        assert len(one.nodes) > 500
        assert one == two == three


@pytest.mark.parametrize("width_visits", [1, 10, 100])
def test_any_number_of_threads_gives_the_same_graph_while_the_width_grows(width_visits: int) -> None:
    graphs = [
        graph_of(
            "crazyhouse", HOUSE, "default", 1500, width_visits=width_visits, width_linear=0, threads=threads
        )
        for threads in (1, 2, 3, 8)
    ]
    assert len(graphs[0].nodes) > 500
    assert all(graph == graphs[0] for graph in graphs[1:])


@pytest.mark.parametrize("backup", ["tree+cache", "paper", "recompute"])
@pytest.mark.parametrize(
    ("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE), ("chess", ENDGAME)]
)
def test_waves_give_the_same_graph_on_any_number_of_threads(backup: str, variant: str, position: str) -> None:
    """With explorations and proofs, and with the other cores busy: the threads come and go as they can."""
    settings = {
        "backup": backup,
        "width_visits": 10,
        "width_linear": 0,
        "wave_least": 2,
        "epsilon_greedy": 0.05,
    }
    is_over = threading.Event()
    load = [threading.Thread(target=_spin, args=(is_over,)) for _ in range(2)]
    for thread in load:
        thread.start()
    graphs = [
        graph_of(variant, position, "default", 3000, threads=threads, **settings)
        for threads in (1, 2, 3, 8, 16)
    ]
    is_over.set()
    for thread in load:
        thread.join()
    assert len(graphs[0].nodes) > 500
    assert all(graph == graphs[0] for graph in graphs[1:])


@pytest.mark.parametrize(
    "settings",
    [
        {"skip_draws": True},
        {"pn_weight": 0.2},
        {"mate_growth": 1.0, "mate_start": 16},
        {"root_moves": ["e3d4", "d3d4", "e3f4"]},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_waves_by_other_rules_give_the_same_graph_on_any_number_of_threads(settings: dict[str, Any]) -> None:
    """And another graph than simulations one by one: they are waves."""
    changes = dict(settings)
    moves = changes.pop("root_moves", None)
    graphs = []
    for threads, least in [(1, 2), (2, 2), (3, 2), (8, 2), (1, 0)]:
        changes |= {
            "width_visits": 10,
            "width_linear": 0,
            "wave_least": least,
            "epsilon_greedy": 0.02,
            "threads": threads,
        }
        engine = Engine("chess", **changes)
        engine.search(ENDGAME, simulations=2500, root_moves=moves)
        assert engine._session.in_flight_marks() == 0
        graphs.append(engine.graph(visits=0, nodes=10**9))
        if moves is not None:
            assert {edge.move for edge in graphs[-1].edges if edge.source == 0} <= set(moves)
    assert len(graphs[0].nodes) > 200
    assert all(graph == graphs[0] for graph in graphs[1:4])
    assert graphs[4] != graphs[0]


def test_waves_at_the_memory_cap_give_the_same_graph_on_any_number_of_threads() -> None:
    settings: dict[str, Any] = {
        "width_visits": 50,
        "width_linear": 0,
        "memory": 4 << 20,
        "epsilon_greedy": 0.05,
    }
    engines = [Engine("crazyhouse", threads=threads, **settings) for threads in (1, 2, 8)]
    results = [engine.search(HOUSE, simulations=60_000) for engine in engines]
    assert results[0].statistics.reclaims > 2
    assert all(result.statistics.reserved_bytes <= 4 << 20 for result in results)
    graphs = [engine.graph(visits=0, nodes=10**9) for engine in engines]
    assert len(graphs[0].nodes) > 5000
    assert graphs[0] == graphs[1] == graphs[2]


def _spin(is_over: threading.Event) -> None:
    while not is_over.is_set():
        sum(range(1000))


@pytest.mark.parametrize("evaluator", ["material", "hash", "uniform"])
@pytest.mark.parametrize("backup", ["naive", "delta", "recompute"])
def test_the_same_seed_gives_the_same_graph(evaluator: str, backup: str) -> None:
    graphs = [
        graph_of(
            "chess",
            ENDGAME,
            "mcgs-combined",
            1500,
            evaluator=evaluator,
            backup=backup,
            threads=threads,
            seed=5,
        )
        for threads in (1, 2)
    ]
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon_greedy": 0.1},
        {"epsilon_checks": 0.1},
        {"epsilon_captures": 0.1},
        {"epsilon_threats": 0.1},
        {"dirichlet_epsilon": 0.25},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_another_seed_explores_elsewhere(settings: dict[str, float]) -> None:
    one, other, same = (graph_of("chess", CHESS, "mcgs", 800, seed=seed, **settings) for seed in (1, 2, 1))
    assert one != other
    assert one == same


def test_without_chance_the_seed_means_nothing() -> None:
    assert graph_of("chess", CHESS, "mcgs", 800, seed=1) == graph_of("chess", CHESS, "mcgs", 800, seed=2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("preset", ["alphazero", "mcgs-combined"])
def test_a_stopped_search_leaves_no_marks_and_goes_on(preset: str, threads: int) -> None:
    engine = Engine(preset=preset, evaluator="hash", hash_cost_us=2000, threads=threads)
    timer = threading.Timer(0.08, engine.stop)
    timer.start()
    begun = time.monotonic()
    result = engine.search(CHESS, simulations=10**9)
    timer.join()
    assert result.finish == "stopped"
    assert time.monotonic() - begun < 5.0
    assert engine._session.in_flight_marks() == 0
    assert all(edge.in_flight == 0 for edge in engine.graph(visits=0, nodes=10**9).edges)
    visits = result.statistics.root_visits
    again = engine.search(simulations=40)
    assert again.finish == "limit"
    assert again.statistics.root_visits >= visits + 40 - again.statistics.explorations
    assert engine._session.in_flight_marks() == 0


def test_a_search_in_parts_counts_like_a_whole_one() -> None:
    engine = Engine(preset="mcgs")
    total = 0
    for _ in range(5):
        total += engine.search(CHESS, simulations=200).statistics.simulations
        assert engine._session.in_flight_marks() == 0
    assert engine.result().statistics.root_visits == total == 1000
