"""Move choice, Eq. (12) to (15) and the other choosers: on hand-made numbers, and in the core's own table."""

import math
from typing import Any

import pytest
from tests.support.proofs import proof_of

from anabranch import Engine
from anabranch.reference import (
    lcb_policy,
    linear_policy,
    pi_corr,
    q_gap,
    q_value_policy,
    sharpen,
    visit_policy,
)
from anabranch.result import Result

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"


# Hand-made numbers


def test_shares_of_visits() -> None:
    assert visit_policy([1, 2, 5]) == [0.125, 0.25, 0.625]
    assert visit_policy([9]) == [1.0]


def test_the_correction_grows_with_gap_weight_and_share() -> None:
    assert q_gap(-0.5, 0.25) == 0.75
    assert pi_corr(2.0, 0.75, 0.4) == pytest.approx(0.6)
    base = q_value_policy([50, 30, 20], [0.0, 0.1, 0.9], 1.0)
    assert base == pytest.approx([0.5 / 1.05, 0.35 / 1.05, 0.2 / 1.05])
    assert q_value_policy([50, 30, 20], [0.0, 0.1, 0.9], 2.0)[1] > base[1]
    assert q_value_policy([50, 30, 20], [0.0, 0.3, 0.9], 1.0)[1] > base[1]


def test_only_the_second_most_visited_is_lifted_and_only_by_a_better_value() -> None:
    assert q_value_policy([50, 30, 20], [0.5, 0.1, 0.9], 2.0) == pytest.approx([0.5, 0.3, 0.2])
    assert q_value_policy([30, 50, 20], [0.6, 0.5, 0.9], 2.0)[0] > 0.3
    assert q_value_policy([50, 30], [0.5, 0.5], 2.0) == pytest.approx([0.625, 0.375])
    assert q_value_policy([50, 30], [0.0, 0.9], 0.0) == pytest.approx([0.625, 0.375])
    assert q_value_policy([7], [0.5], 2.0) == [1.0]


def test_the_temperature_comes_after_the_correction() -> None:
    pi = q_value_policy([60, 40], [0.0, 0.2], 2.0)
    assert pi == pytest.approx([0.6 / 1.24, 0.64 / 1.24])
    assert sharpen(pi, 0.0) == [0.0, 1.0]
    assert sharpen([0.5, 0.5], 0.0) == [1.0, 0.0]
    assert sharpen([0.6, 0.4], 1.0) == pytest.approx([0.6, 0.4])
    # Sharpened first, the share of the second is all but gone and no correction brings it back.
    assert sharpen(visit_policy([60, 40]), 0.0) == [1.0, 0.0]
    assert sharpen([0.5, 0.25, 0.25], 0.5) == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    assert sharpen([0.5, 0.25, 0.25], 1e9) == pytest.approx([1 / 3] * 3)


def test_a_bound_needs_visits_and_a_mix_weighs_values() -> None:
    assert lcb_policy([1000, 400, 3], [0.30, 0.50, 0.99]) == [0.0, 1.0, 0.0]
    assert lcb_policy([1000, 101], [0.30, 0.31]) == [1.0, 0.0]
    assert lcb_policy([10, 10], [1.0, 0.99]) == [1.0, 0.0]
    assert linear_policy([50, 50], [1.0, -1.0]) == pytest.approx([0.15 + 0.7, 0.15])
    assert linear_policy([80, 20], [0.0, 0.0], weight=0.0) == pytest.approx([0.8, 0.2])
    assert linear_policy([75, 25], [0.0, 0.5]) == pytest.approx([0.225 + 0.28, 0.075 + 0.42])
    assert linear_policy([3, 1], [-1.0, -1.0]) == [0.75, 0.25]


# The core's table


def table(position: str, variant: str, simulations: int, **settings: Any) -> Result:
    return Engine(variant, preset="mcgs", evaluator="hash", **settings).search(
        position, simulations=simulations
    )


def expected_policy(chooser: str, visits: list[int], q: list[float]) -> list[float]:
    if chooser == "q":
        return q_value_policy(visits, q, 2.0)
    if chooser == "linear":
        return linear_policy(visits, q)
    return lcb_policy(visits, q) if chooser == "lcb" else visit_policy(visits)


@pytest.mark.parametrize("chooser", ["visits", "q", "linear", "lcb"])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_the_core_follows_the_equations(chooser: str, variant: str, position: str) -> None:
    for simulations in (40, 150, 700):
        engine = Engine(variant, preset="mcgs", evaluator="hash", chooser=chooser)
        result = engine.search(position, simulations=simulations)
        by_move = {row.move: row for row in result.moves}
        # In the order of the edges, which decides between equals.
        order = [edge.move for edge in engine.graph(depth=1).edges if edge.source == 0]
        rows = [by_move[move] for move in order if by_move[move].visits > 0]
        assert len(rows) == sum(row.visits > 0 for row in result.moves)
        q = [row.q for row in rows if row.q is not None]
        expected = expected_policy(chooser, [row.visits for row in rows], q)
        assert [row.policy for row in rows] == pytest.approx(expected, abs=1e-9)
        assert sum(row.policy for row in result.moves) == pytest.approx(1.0)
        best = max(rows, key=lambda row: row.policy)
        assert next(row.policy for row in rows if row.move == result.best_move) == best.policy
        assert result.moves[0].move == result.best_move


def test_the_q_value_chooser_changes_moves_and_the_others_too() -> None:
    """Over some searches each chooser decides differently from plain visits at least once."""
    differs = dict.fromkeys(("q", "linear", "lcb"), 0)
    for simulations in range(20, 420, 20):
        plain = table(CHESS, "chess", simulations, chooser="visits").best_move
        for chooser in differs:
            differs[chooser] += table(CHESS, "chess", simulations, chooser=chooser).best_move != plain
    assert all(differs.values()), differs


def test_a_temperature_draws_by_seed() -> None:
    engine = Engine(preset="mcgs", evaluator="hash")
    engine.search(CHESS, simulations=300)
    drawn: dict[str, int] = {}
    for seed in range(60):
        result = table(CHESS, "chess", 300, temperature=1.0, seed=seed)
        drawn[result.best_move] = drawn.get(result.best_move, 0) + 1
    assert len(drawn) > 3
    shares = {row.move: row.policy for row in engine.result().moves}
    assert all(shares[move] > 0.0 for move in drawn)
    favourite = max(shares, key=lambda move: shares[move])
    assert drawn.get(favourite, 0) / 60 == pytest.approx(shares[favourite], abs=0.2)


# Proofs come first

MATE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
# Some moves of the knight allow mate on the back rank.
LUFT = "6k1/6pp/8/8/N7/8/r4PPP/6K1 w - - 0 1"


@pytest.mark.parametrize("chooser", ["visits", "q", "linear", "lcb"])
@pytest.mark.parametrize("temperature", [0.0, 10.0])
def test_a_proven_win_is_taken(chooser: str, temperature: float) -> None:
    for seed in range(5):
        engine = Engine(
            preset="mcgs-combined", chooser=chooser, temperature=temperature, seed=seed, evaluator="hash"
        )
        result = engine.search(MATE, simulations=2000)
        assert result.best_move == "a1a8"
        assert (proof_of(result).state, proof_of(result).plies) == ("win", 1)


@pytest.mark.parametrize("temperature", [0.0, 10.0])
def test_a_proven_loss_is_left_alone(temperature: float) -> None:
    for seed in range(8):
        engine = Engine(preset="mcgs-combined", temperature=temperature, seed=seed, urgency="reduction")
        result = engine.search(LUFT, simulations=1500)
        losing = {row.move for row in result.moves if row.state == "loss"}
        assert losing
        assert result.best_move not in losing
        assert all(row.policy == 0.0 for row in result.moves if row.state == "loss")


def test_with_the_solver_off_nothing_is_forced() -> None:
    result = Engine(preset="mcgs", urgency="reduction").search(LUFT, simulations=1500)
    assert result.solved is None
    visited = [row for row in result.moves if row.visits > 0]
    assert all(row.policy > 0.0 for row in visited)
    assert math.isclose(sum(row.policy for row in visited), 1.0)


def test_where_all_moves_lose_the_longest_is_played() -> None:
    engine = Engine(preset="mcgs-combined", urgency="reduction")
    result = engine.search("8/8/4R3/Q7/2k5/8/1K6/8 b - - 0 1", simulations=5000)
    assert (proof_of(result).state, proof_of(result).plies, result.best_move) == ("loss", 4, "c4d4")
    assert {row.move: row.plies for row in result.moves} == {"c4d3": 2, "c4d4": 4}
    assert engine.legal_moves[0] == "c4d3"
