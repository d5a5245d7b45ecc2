"""Targets of self-play on numbers made by hand."""

import math

import numpy as np
import pytest

from anabranch.selfplay.targets import (
    RootStatistics,
    completed_q,
    improved_policy,
    policy_target,
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
        "q": np.array([0.4, -0.2, NAN]),
        "prior": np.array([0.5, 0.3, 0.2]),
        "proven": np.full(3, NAN),
        "value": 0.2,
        "raw": 0.1,
    }
    return RootStatistics(**{**parts, **changes})  # type: ignore[arg-type]


def test_moves_without_a_value_get_the_mixed_one() -> None:
    mean = (0.5 * 0.4 - 0.3 * 0.2) / 0.8
    assert completed_q(root()) == pytest.approx([0.4, -0.2, (0.1 + 9.0 * mean) / 10.0])
    assert completed_q(root(q=np.full(3, NAN), visits=np.zeros(3))) == pytest.approx([0.1] * 3)


def test_a_proven_move_has_its_exact_value() -> None:
    assert completed_q(root(proven=np.array([NAN, 1.0, NAN])))[1] == 1.0


def test_the_improved_policy_moves_from_the_prior_towards_good_moves() -> None:
    policy = improved_policy(root())
    assert policy.sum() == pytest.approx(1.0)
    assert policy[0] > 0.5
    assert policy[1] < 0.3
    # By hand: logits log(p) + (50 + 6) * 0.1 * (q + 1) / 2.
    weights = [p * math.exp(5.6 * (q + 1.0) / 2.0) for p, q in zip([0.5, 0.3], [0.4, -0.2], strict=True)]
    assert policy[0] / policy[1] == pytest.approx(weights[0] / weights[1])


def test_equal_values_leave_the_prior() -> None:
    assert improved_policy(root(q=np.full(3, 0.1))) == pytest.approx([0.5, 0.3, 0.2])


def test_small_budgets_have_completed_q_and_large_ones_visits() -> None:
    assert policy_target(root(), "auto", 400, True) == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert policy_target(root(), "auto", 32, True) == pytest.approx(improved_policy(root()))
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
