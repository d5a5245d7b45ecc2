"""Handicaps: ordered by Elo, and applied as they say."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import Engine
from anabranch.strength import HIGHEST, LEVELS, LOWEST, Handicap

pytestmark = pytest.mark.usefixtures("material_by_default")

elos = st.floats(LOWEST, HIGHEST)


@given(elos, elos)
def test_more_elo_is_no_harder_handicap(one: float, other: float) -> None:
    low, high = (Handicap.of(elo) for elo in sorted((one, other)))
    assert low.simulations <= high.simulations
    assert low.temperature >= high.temperature
    assert low.blunders >= high.blunders


def test_the_table_is_in_order_and_covers_the_scale() -> None:
    for (low, weak), (high, strong) in pairwise(LEVELS):
        assert low < high
        assert weak.simulations < strong.simulations
        assert weak.temperature >= strong.temperature
        assert weak.blunders >= strong.blunders
    assert LEVELS[0][0] <= LOWEST
    assert LEVELS[-1][0] >= HIGHEST


def test_rows_of_the_table_are_what_they_say() -> None:
    for elo, handicap in LEVELS:
        if LOWEST <= elo <= HIGHEST:
            assert Handicap.of(elo) == handicap


def test_the_scale_has_ends() -> None:
    assert Handicap.of(-1000) == Handicap.of(LOWEST)
    assert Handicap.of(4000) == Handicap.of(HIGHEST)


def test_handicaps_differ_all_along_the_scale() -> None:
    assert len({Handicap.of(elo) for elo in range(LOWEST, HIGHEST + 1, 50)}) == (HIGHEST - LOWEST) // 50 + 1


def test_strays_come_as_often_as_the_handicap_says() -> None:
    random = Random(1)
    handicap = Handicap(10, 1.0, 0.25)
    strays = [handicap.stray(["e2e4", "d2d4"], random) for _ in range(4000)]
    assert sum(move is not None for move in strays) == pytest.approx(1000, abs=100)
    assert {move for move in strays if move} == {"e2e4", "d2d4"}
    assert handicap.stray([], random) is None


def test_a_handicapped_search_begins_anew_and_varies() -> None:
    random = Random(1)
    handicap = Handicap(40, 2.0, 0.0)
    engine = Engine()
    played = set()
    for _ in range(12):
        engine.configure(**handicap.settings(random))
        result = engine.search("startpos", simulations=handicap.simulations)
        assert result.statistics.root_visits <= handicap.simulations + 1
        played.add(result.best_move)
    assert len(played) > 2
