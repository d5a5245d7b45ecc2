"""Targets of self-play on numbers made by hand."""

import math

import numpy as np
import pytest

from anabranch.selfplay.search import GameSearch
from anabranch.selfplay.targets import (
    RootStatistics,
    completed_policy,
    policy_target,
    root_statistics,
    surprise_of,
    surprise_weights,
    value_target,
    visit_policy,
    with_proofs,
)

NAN = float("nan")


def root(**changes: object) -> RootStatistics:
    parts: dict[str, object] = {
        "visits": np.array([6.0, 3.0, 0.0]),
        "improved": np.array([0.6, 0.3, 0.1]),
        "noisy": np.array([0.5, 0.3, 0.2]),
        "prior": np.array([0.5, 0.3, 0.2]),
        "proven": np.full(3, NAN),
        "value": 0.2,
    }
    return RootStatistics(**{**parts, **changes})  # type: ignore[arg-type]


def test_completed_q_is_the_improved_policy_of_the_core_without_the_noise() -> None:
    assert completed_policy(root()) == pytest.approx([0.6, 0.3, 0.1])
    # Noise gave the last move four times its prior: it has a quarter of its share.
    noisy = root(noisy=np.array([0.1, 0.1, 0.8]), improved=np.array([0.2, 0.2, 0.6]))
    weights = np.array([0.2 * 5.0, 0.2 * 3.0, 0.6 / 4.0])
    assert completed_policy(noisy) == pytest.approx(weights / weights.sum())


def test_the_core_has_the_completed_q_of_the_paper() -> None:
    """softmax(log prior + (50 + max N) * 0.1 * q), with q in [0, 1] and v_mix for moves without a visit."""
    game = GameSearch("connect-four", "uniform", epsilon_greedy=0.0, epsilon_checks=0.0)
    game.session.set_position(None, ["4", "4", "4"])
    report = game.search(5)
    rows = report["moves"]
    visited = [row for row in rows if row["visits"]]
    assert 0 < len(visited) < len(rows)
    visits, mass = sum(row["visits"] for row in visited), sum(row["prior"] for row in visited)
    mean = sum(row["prior"] * row["q"] for row in visited) / mass
    mixed = visits * mean / (1.0 + visits)  # the evaluator's own value is 0
    most = max(row["visits"] for row in rows)
    q = [mixed if row["q"] is None else row["q"] for row in rows]
    logits = [
        math.log(row["prior"]) + (50.0 + most) * 0.1 * (value + 1.0) / 2.0
        for row, value in zip(rows, q, strict=True)
    ]
    weights = np.exp(np.array(logits) - max(logits))
    assert completed_policy(root_statistics(report)) == pytest.approx(weights / weights.sum())


def test_a_mate_of_chess_is_the_target() -> None:
    game = GameSearch("chess", "material")
    game.session.set_position("7k/8/5K2/8/8/8/8/R5R1 w - - 0 1", [])
    report = game.search(60)
    found = root_statistics(report)
    assert found.solved == 1.0
    target = policy_target(found, "visits", 100, proofs=True)
    assert report["moves"][int(target.argmax())]["move"] == report["best_move"]
    assert target[found.proven != 1.0].sum() == 0.0


def test_small_budgets_have_completed_q_and_large_ones_visits() -> None:
    assert policy_target(root(), "auto", 400, True) == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert policy_target(root(), "auto", 32, True) == pytest.approx([0.6, 0.3, 0.1])
    assert policy_target(root(), "visits", 32, True) == pytest.approx(visit_policy(root()))


def test_a_solved_root_has_its_target_on_moves_that_keep_the_result() -> None:
    won = root(proven=np.array([NAN, 1.0, -1.0]), solved=1.0)
    assert with_proofs(visit_policy(won), won) == pytest.approx([0.0, 1.0, 0.0])
    drawn = root(proven=np.array([0.0, -1.0, 0.0]), solved=0.0)
    target = with_proofs(visit_policy(drawn), drawn)
    assert target[1] == 0.0
    assert target[0] > target[2] > 0.0
    assert target.sum() == pytest.approx(1.0)
    lost = root(proven=np.full(3, -1.0), solved=-1.0)
    assert with_proofs(visit_policy(lost), lost) == pytest.approx(visit_policy(lost))
    assert policy_target(won, "visits", 100, proofs=False) == pytest.approx(visit_policy(won))


def test_a_losing_move_gets_nothing_where_there_is_another() -> None:
    one = root(proven=np.array([-1.0, NAN, NAN]), visits=np.array([6.0, 0.0, 0.0]))
    assert with_proofs(visit_policy(one), one) == pytest.approx([0.0, 0.5, 0.5])


def test_value_and_weights() -> None:
    assert value_target(0.5, -1.0, 0.0) == 0.5
    assert value_target(0.5, -1.0, 1.0) == -1.0
    assert surprise_of(np.array([1.0, 0.0]), np.array([0.25, 0.75])) == pytest.approx(math.log(4.0))
    weights = surprise_weights(np.array([0.0, 2.0, 1.0]), 0.5)
    assert weights.mean() == pytest.approx(1.0)
    assert weights[1] > weights[2] > weights[0] == 0.5
    assert surprise_weights(np.zeros(4), 0.5).tolist() == [1.0] * 4
