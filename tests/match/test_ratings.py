"""Ratings of many players."""

import math
import random

import pytest

from anabranch.errors import MatchError
from anabranch.match.ratings import PairResult, rate
from anabranch.match.statistics import elo, score_of


def play(strengths: dict[str, float], pairs: int, seed: int) -> list[PairResult]:
    """Pairs of all against all, with draws, as often won as the strengths say."""
    source = random.Random(seed)
    results = []
    names = list(strengths)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            expected = score_of(strengths[first] - strengths[second])
            draw = 0.6 * min(expected, 1.0 - expected)
            shares = (1.0 - expected - draw / 2, draw, expected - draw / 2)
            for _ in range(pairs):
                points = sum(source.choices((0.0, 0.5, 1.0), shares, k=2))
                results.append(PairResult(first, second, points))
    return results


def test_two_players_differ_by_the_elo_of_their_match() -> None:
    tallies = [10, 25, 40, 35, 20]
    results = [PairResult("a", "b", place / 2) for place, number in enumerate(tallies) for _ in range(number)]
    found = rate(results, "b", 1500.0, rounds=400)
    expected = elo(tallies)
    assert found["a"].value - 1500.0 == pytest.approx(expected.value, rel=0.02)
    assert found["a"].error == pytest.approx(expected.error, rel=0.15)
    assert (found["b"].value, found["b"].error) == (1500.0, 0.0)


def test_known_strengths_are_found_within_their_errors() -> None:
    strengths = {"a": 0.0, "b": 90.0, "c": 210.0, "d": -150.0, "e": 40.0}
    inside = total = 0
    for seed in range(8):
        found = rate(play(strengths, 60, seed), "a", rounds=60)
        for name in "bcde":
            total += 1
            inside += abs(found[name].value - strengths[name]) <= found[name].error
            assert found[name].value == pytest.approx(strengths[name], abs=120)
    assert inside / total > 0.8


def test_the_anchor_shifts_all_alike() -> None:
    results = play({"a": 0.0, "b": 50.0, "c": 100.0}, 20, 3)
    low, high = rate(results, "a", 0.0), rate(results, "c", 2000.0)
    assert high["a"].value - high["b"].value == pytest.approx(low["a"].value - low["b"].value, abs=1e-6)
    assert high["c"].value == 2000.0


def test_ratings_do_not_depend_on_who_is_named_first() -> None:
    results = play({"a": 0.0, "b": 50.0, "c": 100.0}, 20, 4)
    turned = [PairResult(one.second, one.first, 2 - one.points) for one in results]
    before, after = rate(results, "a", rounds=2), rate(turned, "a", rounds=2)
    for name in "abc":
        assert before[name].value == pytest.approx(after[name].value, abs=1e-6)


def test_a_player_who_won_all_has_a_finite_rating_above_all() -> None:
    results = [PairResult("a", "b", 2.0)] * 10 + [PairResult("b", "c", 1.0)] * 10
    found = rate(results, "c")
    assert 300 < found["a"].value < 5000
    assert found["a"].error == math.inf
    assert abs(found["b"].value) < 50


def test_no_error_is_told_of_what_only_the_prior_knows() -> None:
    close = play({"a": 0.0, "b": 30.0}, 40, 1)
    beaten = [PairResult("giant", name, 2.0) for name in "ab"] * 20
    found = rate([*close, *beaten], "a", rounds=20)
    assert found["giant"].error == math.inf
    assert 0.0 < found["b"].error < math.inf
    assert rate([*close, *beaten, PairResult("giant", "b", 1.5)], "a", rounds=20)["giant"].error < math.inf
    seen_from_above = rate([*close, *beaten], "giant", rounds=20)
    assert {seen_from_above[name].error for name in "ab"} == {math.inf}


def test_players_who_never_met_cannot_be_compared() -> None:
    with pytest.raises(MatchError, match="a and c have not met, nor by way of others"):
        rate([PairResult("a", "b", 1.0), PairResult("c", "d", 1.0)], "a")
    with pytest.raises(MatchError, match="the anchor z has not played"):
        rate([PairResult("a", "b", 1.0)], "z")
    with pytest.raises(MatchError, match="from no point to as many as games"):
        rate([PairResult("a", "b", 3.0)], "a")
