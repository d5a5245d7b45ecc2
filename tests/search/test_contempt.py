"""Contempt: what a draw is worth, to whom, and for how long."""

from pathlib import Path

import pytest

from anabranch import Engine

BEFORE = "7k/8/5K2/8/6Q1/8/8/8 w - - 0 1"
"""Qg6 stalemates."""
BARE = "8/8/8/8/5k2/5p2/8/5K2 w - - 97 90"
MIDDLEGAME = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"


def value_of(engine: Engine, move: str) -> float | None:
    return next(row.child_value for row in engine.result().moves if row.move == move)


@pytest.mark.parametrize("contempt", [0.0, 0.3, -0.6])
def test_a_stalemate_costs_it(contempt: float) -> None:
    engine = Engine("chess", evaluator="material", contempt=contempt)
    engine.search(BEFORE, simulations=50, root_moves=["g4g6"])
    assert value_of(engine, "g4g6") == pytest.approx(-contempt)
    assert engine.result().value == pytest.approx(-contempt)


@pytest.mark.parametrize("side", ["w", "b"])
def test_draws_of_the_path_cost_it_whoever_moves(side: str) -> None:
    """With one ply left on the clock every quiet move draws."""
    position = f"8/8/4k3/8/8/3QK3/8/8 {side} - - 99 90"
    plain = Engine("chess", preset="mcgs", evaluator="uniform").search(position, simulations=300)
    proud = Engine("chess", preset="mcgs", evaluator="uniform", contempt=0.5).search(
        position, simulations=300
    )
    assert plain.value == pytest.approx(0.0, abs=1e-9)
    assert proud.value == pytest.approx(-0.5, abs=0.01)


def test_without_contempt_nothing_changes() -> None:
    plain, settled = (
        Engine("chess", evaluator="material"),
        Engine("chess", evaluator="material", contempt=0.0),
    )
    assert plain.search(BARE, simulations=500).moves == settled.search(BARE, simulations=500).moves


def test_the_graph_is_forgotten_with_the_side_and_with_the_setting(tmp_path: Path) -> None:
    engine = Engine("chess", evaluator="material", contempt=0.2)
    move = engine.search(MIDDLEGAME, simulations=2000).best_move
    engine.play(move)
    assert engine.result().statistics.root_visits > 100, "not before somebody searches"
    engine.save(tmp_path / "graph")
    for one in (engine, Engine.load(tmp_path / "graph")):
        # Explorations do not visit the root.
        statistics = one.search(simulations=100).statistics
        assert statistics.root_visits == 100 - statistics.explorations
    # Two plies on, the same side is to move, and the graph is kept.
    engine.forget()
    engine.search(simulations=3000)
    reply = engine.result().lines[0].moves
    engine.play(reply[0])
    engine.play(reply[1])
    kept = engine.result().statistics.root_visits
    assert kept > 1
    assert engine.search(simulations=100).statistics.root_visits > kept
    engine.configure(contempt=0.3)
    assert engine.result().statistics.root_visits == 0
