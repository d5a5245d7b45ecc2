"""Proof numbers in selection: proofs come sooner, and the graph depends on nothing but seed and settings."""

from pathlib import Path
from typing import Any

import pytest

from anabranch import Engine

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
DATA = Path(__file__).parents[1] / "data" / "mates-crazyhouse.epd"
WEIGHT = 0.3


def whole(engine: Engine) -> Any:
    return engine.graph(visits=0, nodes=10**9)


def searched(variant: str, position: str, simulations: int, **settings: Any) -> Engine:
    engine = Engine(variant, **settings)
    engine.search(position, simulations=simulations)
    assert engine._session.in_flight_marks() == 0
    return engine


def test_proofs_come_sooner() -> None:
    positions = [line.split(" bm ")[0].split(" dm ")[0] for line in DATA.read_text().splitlines()]
    positions = [position + " 0 1" for position in positions if position and not position.startswith("#")]
    assert len(positions) > 10

    def cost(**settings: Any) -> int:
        engine = Engine("crazyhouse", **settings)
        results = [engine.search(position, simulations=2000) for position in positions]
        return sum(result.statistics.simulations for result in results)

    assert cost(pn_weight=WEIGHT) < 0.9 * cost()


@pytest.mark.parametrize("preset", ["default", "mcgs-combined", "alphazero+solver"])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_any_number_of_threads_gives_the_same_graph(preset: str, variant: str, position: str) -> None:
    base = {"preset": preset, "pn_weight": WEIGHT, "width_visits": 20}
    one, two, three = (
        whole(searched(variant, position, 1500, threads=threads, **base)) for threads in (1, 2, 3)
    )
    assert len(one.nodes) > 500
    assert one == two == three
    assert one != whole(searched(variant, position, 1500, **base | {"pn_weight": 0.0}))


@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_the_cap_holds_and_what_is_kept_goes_on(tmp_path: Path, variant: str, position: str) -> None:
    cap = 4 << 20
    engines = [Engine(variant, memory=cap, pn_weight=WEIGHT, urgency="reduction") for _ in range(2)]
    reclaims = 0
    for _ in range(3):
        results = [engine.search(position, simulations=25_000) for engine in engines]
        statistics = results[0].statistics
        assert 0 < statistics.bytes <= statistics.reserved_bytes <= cap
        assert results[0].moves == results[1].moves
        reclaims += statistics.reclaims
    assert reclaims > 0
    assert whole(engines[0]) == whole(engines[1])
    engines[0].save(tmp_path / "graph")
    loaded = Engine.load(tmp_path / "graph", evaluator="material")
    # More would need memory, and a graph that was loaded gives up other nodes.
    assert loaded.result().moves == engines[0].result().moves


def test_the_setting_starts_a_new_graph_and_a_weight_does_not() -> None:
    engine = Engine(evaluator="material")
    visits = []
    for weight in (0.0, 0.2, 0.4, 0.0):
        engine.configure(pn_weight=weight)
        visits.append(engine.search(CHESS, simulations=300).statistics.root_visits)
    assert visits[1] == visits[3] < visits[2], visits
    fresh = searched("chess", CHESS, 300)
    assert whole(engine) == whole(fresh)


def test_numbers_follow_the_game() -> None:
    """A move frees nodes, whose numbers are used again: the graph is that of an engine that kept its own."""
    engines = [Engine("crazyhouse", pn_weight=WEIGHT, threads=threads) for threads in (1, 2)]
    moves: list[str] = []
    for _ in range(4):
        results = [engine.search((HOUSE, moves), simulations=1500) for engine in engines]
        assert results[0].moves == results[1].moves
        moves.append(str(results[0].best_move))
    assert whole(engines[0]) == whole(engines[1])


def test_only_root_moves_are_searched() -> None:
    engine = Engine(pn_weight=WEIGHT)
    result = engine.search(CHESS, simulations=400, root_moves=["a2a3", "h2h3"])
    assert {str(move.move) for move in result.moves if move.visits} == {"a2a3", "h2h3"}
