"""Elo, LOS and SPRT against published figures, their own laws, and simulated matches."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import MatchError
from anabranch.match.statistics import (
    NORMALISED_SCALE,
    Sprt,
    elo,
    elo_of,
    fit_advantage,
    fit_mean,
    logistic_ratio,
    normalised_elo,
    normalised_ratio,
    points_of,
    sample_of,
    score_of,
    superiority,
)

Counts = list[int]
pairs = st.lists(st.integers(0, 2000), min_size=5, max_size=5)
games = st.lists(st.integers(0, 2000), min_size=3, max_size=3)
some = st.one_of(pairs, games).filter(lambda tallies: sum(tallies) > 0)


def test_published_figures() -> None:
    assert Sprt(0.0, 2.0, model="normalised").ratio([365, 16618, 36229, 16974, 390]) == pytest.approx(
        2.25, abs=0.005
    )
    assert Sprt(-1.75, 0.25, model="normalised").ratio([127, 4883, 10712, 5150, 104]) == pytest.approx(
        3.01, abs=0.005
    )
    found = elo([96, 111, 136])
    assert found.value == pytest.approx(40.70, abs=0.005)
    assert found.error == pytest.approx(30.43, abs=0.005)


def test_the_bounds_of_a_test_are_those_of_wald() -> None:
    test = Sprt(0.0, 5.0)
    assert test.upper == pytest.approx(2.944, abs=0.001)
    assert test.lower == pytest.approx(-2.944, abs=0.001)
    assert Sprt(0.0, 5.0, alpha=0.01, beta=0.1).upper == pytest.approx(math.log(0.9 / 0.01))


@settings(deadline=None)
@given(some)
def test_the_other_side_sees_the_opposite(tallies: Counts) -> None:
    other = tallies[::-1]
    assert elo(other).value == pytest.approx(-elo(tallies).value)
    assert normalised_elo(other).value == pytest.approx(-normalised_elo(tallies).value)
    assert superiority(other) == pytest.approx(1.0 - superiority(tallies))


@settings(deadline=None)
@given(some, st.floats(-300, 300), st.floats(0.5, 200))
def test_ratios_turn_round_with_their_hypotheses(tallies: Counts, low: float, step: float) -> None:
    for ratio in (logistic_ratio, normalised_ratio):
        assert ratio(tallies, low, low + step) == pytest.approx(-ratio(tallies, low + step, low), abs=1e-6)
        mirrored = ratio(tallies[::-1], -low - step, -low)
        assert ratio(tallies, low, low + step) == pytest.approx(-mirrored, abs=1e-4, rel=1e-4)


@settings(deadline=None)
@given(st.floats(-2000, 2000))
def test_elo_and_score_are_inverse(difference: float) -> None:
    assert elo_of(score_of(difference)) == pytest.approx(difference, abs=1e-3)


@settings(deadline=None)
@given(pairs.filter(lambda tallies: min(tallies) > 0), st.floats(0.2, 0.8))
def test_a_fit_has_the_mean_and_no_neighbour_is_likelier(tallies: Counts, mean: float) -> None:
    points = points_of(tallies)
    shares = np.array(tallies) / sum(tallies)
    fitted = np.array(fit_mean(list(shares), points, mean))
    assert fitted.sum() == pytest.approx(1.0)
    assert fitted @ points == pytest.approx(mean, abs=1e-9)
    # Along every direction that keeps sum and mean, the likelihood has its top here.
    likelihood = float(shares @ np.log(fitted))
    for direction in ([1, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]):
        for step in (1e-4, -1e-4):
            moved = fitted + step * float(fitted.min()) * np.array(direction)
            assert float(shares @ np.log(moved)) <= likelihood + 1e-12


@settings(deadline=None)
@given(pairs.filter(lambda tallies: min(tallies) > 0), st.floats(-0.6, 0.6))
def test_a_fit_has_the_advantage_and_is_stationary(tallies: Counts, advantage: float) -> None:
    points = np.array(points_of(tallies))
    shares = np.array(tallies) / sum(tallies)
    fitted = np.array(fit_advantage(list(shares), list(points), advantage))
    mean = float(fitted @ points)
    deviation = math.sqrt(float(fitted @ (points - mean) ** 2))
    assert (mean - 0.5) / deviation == pytest.approx(advantage, abs=1e-6)
    # Lagrange: share / fitted is a combination of 1 and the slope of the condition.
    slope = points - advantage * ((points - mean) ** 2) / (2.0 * deviation)
    matrix = np.stack([np.ones(5), slope], axis=1)
    quotient = shares / fitted
    weight = np.sqrt(fitted)[:, None]
    solution = np.linalg.lstsq(matrix * weight, quotient * weight[:, 0], rcond=None)[0]
    assert matrix @ solution == pytest.approx(quotient, rel=1e-4, abs=1e-4)


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 400))
def test_more_of_the_same_is_surer(losses: int, draws: int, wins: int) -> None:
    few, many = elo([losses, draws, wins]), elo([4 * losses, 4 * draws, 4 * wins])
    assert many.value == pytest.approx(few.value)
    assert many.error < few.error
    ratio = logistic_ratio([losses, draws, wins], 0, 10)
    assert logistic_ratio([4 * losses, 4 * draws, 4 * wins], 0, 10) == pytest.approx(4 * ratio, abs=1e-6)


def test_pairs_see_through_openings_that_favour_a_colour() -> None:
    # Every opening is won by White: no information in single games, and the pairs know it.
    assert elo([500, 0, 500]).error > 20
    assert elo([0, 1, 498, 1, 0]).error < 1
    assert elo([0, 0, 500, 0, 0]).error == math.inf  # that would be too good
    assert superiority([0, 0, 500, 0, 0]) == 0.5


def test_extremes_are_infinite_not_wrong() -> None:
    assert elo([0, 0, 9]).value == math.inf
    assert elo([9, 0, 0]).value == -math.inf
    assert elo([0, 0, 0]).error == math.inf
    assert normalised_elo([0, 0, 0, 0, 4]).value == math.inf
    assert superiority([0, 0, 0, 0, 4]) == 1.0
    assert logistic_ratio([0, 0, 0], 0, 5) == 0.0
    assert math.isfinite(normalised_ratio([0, 0, 0, 0, 4], 0, 10))
    assert normalised_ratio([0, 0, 0, 0, 4], 0, 10) > 0


def test_the_interval_of_elo_holds_the_truth_nineteen_times_of_twenty() -> None:
    source = np.random.default_rng(7)
    shares = [0.08, 0.2, 0.4, 0.22, 0.1]
    truth = elo_of(float(np.dot(shares, points_of(shares))))
    normalised = normalised_elo([1e6 * share for share in shares]).value
    inside = normalised_inside = 0
    rounds = 2000
    for tallies in source.multinomial(300, shares, size=rounds):
        found, other = elo(tallies.tolist()), normalised_elo(tallies.tolist())
        inside += abs(found.value - truth) <= found.error
        normalised_inside += abs(other.value - normalised) <= other.error
    assert 0.93 < inside / rounds < 0.97
    assert 0.93 < normalised_inside / rounds < 0.97


@pytest.mark.parametrize("model", ["logistic", "normalised"])
def test_an_sprt_is_wrong_as_seldom_as_it_says(model: str) -> None:
    test = Sprt(0.0, 60.0, 0.1, 0.1, model)  # type: ignore[arg-type]
    source = np.random.default_rng(11)
    shares = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    points = points_of(shares.tolist())
    if model == "logistic":
        other = fit_mean(shares.tolist(), points, score_of(60.0))
    else:
        other = fit_advantage(shares.tolist(), points, 60.0 / NORMALISED_SCALE * math.sqrt(2.0))

    def accepted(truth: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        wins = 0
        rounds = 100
        for _ in range(rounds):
            tallies = np.zeros(5)
            while test.verdict(tallies.tolist()) == "continue":
                tallies += source.multinomial(10, truth)
            wins += test.verdict(tallies.tolist()) == "accepted"
        return wins / rounds

    assert accepted(shares) < 0.18
    assert accepted(np.array(other)) > 0.82


def test_normalised_elo_counts_standard_deviations_of_a_game() -> None:
    # Independent games: pairs and single games give the same.
    source = random.Random(5)
    losses, draws, wins = 0.3, 0.3, 0.4
    tallies, paired = [0, 0, 0], [0] * 5
    for _ in range(40_000):
        first, second = source.choices((0, 1, 2), (losses, draws, wins), k=2)
        tallies[first] += 1
        tallies[second] += 1
        paired[first + second] += 1
    assert normalised_elo(tallies).value == pytest.approx(normalised_elo(paired).value, abs=1.0)
    sample = sample_of(tallies)
    assert normalised_elo(tallies).value == pytest.approx(
        NORMALISED_SCALE * (sample.mean - 0.5) / math.sqrt(sample.variance)
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: elo([1, 2]), "three counts of games or five of pairs"),
        (lambda: elo([1, -2, 3]), "counts are numbers from 0 on"),
        (lambda: Sprt(5, 0), "the smaller first"),
        (lambda: Sprt(0, 5, alpha=0.7), "probabilities"),
        (
            lambda: Sprt(0, 5, model="other"),  # type: ignore[arg-type]
            "'logistic' or 'normalised'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, sentence: str) -> None:
    assert callable(make)
    with pytest.raises(MatchError, match=sentence):
        make()
