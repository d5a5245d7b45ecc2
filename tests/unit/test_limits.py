"""Clocks and budgets."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from anabranch.limits import Allocation, Look, Pace, allocate

seconds = st.floats(0.0, 20_000.0)


@given(seconds, st.floats(0.0, 100.0), st.none() | st.integers(-3, 200))
def test_never_more_than_the_clock_has(left: float, increment: float, moves: int | None) -> None:
    given = allocate(left, increment, moves)
    assert 0.0 <= given.optimum <= given.maximum <= 0.85 * left


@given(seconds, seconds, st.floats(0.0, 10.0), st.none() | st.integers(1, 60))
def test_more_on_the_clock_is_not_less_for_the_move(
    one: float, other: float, increment: float, moves: int | None
) -> None:
    less, more = sorted((one, other))
    assert allocate(less, increment, moves).maximum <= allocate(more, increment, moves).maximum + 1e-9


def test_a_whole_game_never_runs_out() -> None:
    for left, increment in ((60.0, 0.0), (1.0, 0.01), (0.1, 0.0), (5.0, 2.0)):
        clock = left
        for _ in range(400):
            used = allocate(clock, increment).maximum
            clock -= used
            assert clock > 0.0 or left == 0.0
            clock += increment


def test_moves_to_go_are_all_served() -> None:
    clock = 60.0
    for moves in range(40, 0, -1):
        clock -= allocate(clock, 0.0, moves).maximum
        assert clock > 0.0


def test_the_last_move_before_the_control_may_use_most_of_it() -> None:
    assert allocate(10.0, 0.0, 1).optimum > 5.0
    assert allocate(10.0, 0.0, 30).optimum < 1.0


def look(elapsed: float, best: str, *visits: tuple[str, int], value: float = 0.0) -> Look:
    return Look(elapsed, sum(number for _, number in visits), best, value, visits)


PLAN = Allocation(1.0, 4.0)


def test_stops_when_nothing_can_catch_up() -> None:
    settled = look(0.5, "a", ("a", 900), ("b", 100))
    open_race = look(0.5, "a", ("a", 510), ("b", 490))
    assert Pace(PLAN).until(settled) == 0.0
    assert Pace(PLAN).until(open_race) > 0.5


def test_goes_on_when_the_move_to_play_is_not_the_most_visited() -> None:
    torn = look(0.5, "b", ("a", 900), ("b", 100))
    agreed = look(0.5, "a", ("a", 510), ("b", 490))
    assert Pace(PLAN).until(torn) > Pace(PLAN).until(agreed) > 0.0


def test_more_time_when_the_best_move_wavers() -> None:
    calm, nervous = Pace(PLAN), Pace(PLAN)
    for step in range(1, 9):
        visits = (("a", 500), ("b", 499))
        calm_until = calm.until(look(step / 10, "a", *visits))
        nervous_until = nervous.until(look(step / 10, "ab"[step % 2], *visits))
    assert calm_until < nervous_until <= PLAN.maximum


def test_more_time_when_the_value_drops() -> None:
    seen = look(0.5, "a", ("a", 510), ("b", 490), value=-0.3)
    assert Pace(PLAN, last_value=0.2).until(seen) > Pace(PLAN, last_value=-0.3).until(seen)
    better = replace(seen, value=0.9)
    assert Pace(PLAN, last_value=0.2).until(better) == Pace(PLAN).until(better)


@given(st.lists(st.tuples(st.floats(0.0, 10.0), st.sampled_from("abc"), st.floats(-1, 1)), max_size=20))
def test_never_beyond_the_maximum(looks: list[tuple[float, str, float]]) -> None:
    pace = Pace(PLAN, 1.0)
    for elapsed, best, value in looks:
        until = pace.until(look(elapsed, best, ("a", 10), ("b", 11), ("c", 12), value=value))
        assert 0.0 <= until <= PLAN.maximum
