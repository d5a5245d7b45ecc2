"""Clocks and budgets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.clock import Allocation, ClockHistory, SearchState, TimeManager, allocate, horizon

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


# Whole games, by arithmetic. No time passes here.

SHARES = (0.8, 1.0, 0.8, 0.8, 0.5, 0.2, 0.75, 0.45, 0.65, 1.65, 0.2, 1.9, 1.1, 0.2, 1.8, 0.65, 0.95)
"""Shares of their optimum that the moves of a game at 60+0.5 took: most searches end early, some go on."""


def clocks_of_a_game(
    base: float,
    increment: float,
    moves: int,
    *,
    variant: str = "chess",
    control: int | None = None,
    effort: float = 1.0,
    outside: float = 0.003,
    late: float = 0.002,
    overhead: float = 0.05,
) -> list[float]:
    """The clock after each move, with the increment; below nought where the flag fell.

    Moves take `effort` times the shares above. Each is `late` by so much, and loses as much again `outside`.
    With a `control` the base is added every so many moves, and what is there before counts.
    """
    clocks: list[float] = []
    spending, left = ClockHistory(), base
    for move in range(moves):
        to_go = None if control is None else control - move % control
        spending.begin(left)
        given = allocate(
            left,
            increment,
            to_go,
            played=move,
            variant=variant,
            overhead=overhead,
            lost=spending.lost(overhead),
            reserve=spending.reserve,
            use=spending.use,
        )
        spent = min(given.maximum, effort * SHARES[move % len(SHARES)] * given.optimum) + late
        spending.end(given.optimum, spent, left - spent + increment, late)
        left -= spent + outside
        if left <= 0.0:
            return [*clocks, left]
        left += increment
        clocks.append(left)
        if to_go == 1:
            left += base
    return clocks


@pytest.mark.parametrize("effort", [0.6, 1.0, 1.3])
@pytest.mark.parametrize(
    ("base", "increment"), [(60.0, 0.5), (60.0, 0.0), (180.0, 2.0), (600.0, 5.0), (10.0, 0.1), (6.0, 0.05)]
)
@pytest.mark.parametrize(("variant", "first", "last"), [("chess", 40, 60), ("crazyhouse", 28, 42)])
def test_about_a_tenth_is_left_at_the_end_of_an_ordinary_game(
    variant: str, first: int, last: int, base: float, increment: float, effort: float
) -> None:
    clocks = clocks_of_a_game(base, increment, last, variant=variant, effort=effort)
    ends = [clock / base for clock in clocks[first - 1 :]]
    assert len(clocks) == last
    assert 0.05 < min(ends) <= max(ends) < 0.27
    assert 0.07 < sum(ends) / len(ends) < 0.17


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_at_one_second_the_reserve_is_left_besides(variant: str) -> None:
    clocks = clocks_of_a_game(1.0, 0.01, 60, variant=variant)
    assert 0.15 < clocks[-1] < 0.3


def test_time_that_early_stops_save_is_spent_later() -> None:
    lazy, eager = (clocks_of_a_game(60.0, 0.5, 50, effort=effort) for effort in (0.6, 1.2))
    assert 0.0 < lazy[-1] - eager[-1] < 0.05 * 60.0


def test_a_long_game_keeps_more_than_the_increment_for_a_move_and_never_runs_out() -> None:
    for base, increment in ((60.0, 0.0), (60.0, 0.5), (180.0, 2.0), (10.0, 0.1), (3.0, 0.02)):
        for effort in (0.6, 1.3):
            clocks = clocks_of_a_game(base, increment, 120, effort=effort)
            assert len(clocks) == 120
            assert min(clocks) > 0.01 * base
            at_60 = allocate(clocks[59], increment, played=60, overhead=0.05, lost=0.005)
            assert at_60.optimum > increment


@pytest.mark.parametrize(("base", "increment"), [(60.0, 0.5), (10.0, 0.1), (1.0, 0.03)])
@pytest.mark.parametrize("outside", [0.003, 0.02])
def test_an_endless_game_lives_on_the_increment(base: float, increment: float, outside: float) -> None:
    clocks = clocks_of_a_game(base, increment, 600, outside=outside)
    assert len(clocks) == 600
    assert clocks[-1] > 0.1
    # It neither gathers time nor eats up what is kept: moves take the increment less what is lost.
    assert clocks[-1] == pytest.approx(clocks[-1 - 2 * len(SHARES)], rel=0.1)
    assert max(clocks[-100:]) < max(0.5, 0.15 * base)


@pytest.mark.parametrize(("base", "control"), [(60.0, 40), (300.0, 20), (60.0, 100), (1.0, 40), (5.0, 10)])
@pytest.mark.parametrize("effort", [0.5, 1.0, 2.0])
def test_every_control_is_reached_with_little_left(base: float, control: int, effort: float) -> None:
    clocks = clocks_of_a_game(base, 0.0, 4 * control, control=control, effort=effort)
    assert len(clocks) == 4 * control
    ends = [clock / base for clock in clocks[control - 1 :: control]]
    assert min(ends) > 0.0
    assert sum(ends) / len(ends) < 0.25


def test_delays_are_learned_and_kept_in_reserve() -> None:
    # Half as much again as the increment is lost on every move, and nothing was known of it.
    for overhead in (0.0, 0.05):
        clocks = clocks_of_a_game(1.0, 0.01, 80, outside=0.005, late=0.01, overhead=overhead)
        assert len(clocks) == 80
    # A connection that loses what `Move Overhead` says.
    for base, increment in ((60.0, 0.5), (60.0, 0.3), (180.0, 2.0)):
        clocks = clocks_of_a_game(base, increment, 150, outside=0.3, overhead=0.3)
        assert len(clocks) == 150
        assert min(clocks) > 0.3


def test_a_clock_that_is_set_anew_is_no_delay() -> None:
    spending = ClockHistory()
    for left in (10.0, 70.0, 5.0):
        spending.begin(left)
        spending.end(1.0, 1.0, left - 1.0)
    assert spending.lost(0.05) == 0.05
    assert spending.reserve == ClockHistory().reserve


@given(st.lists(st.tuples(st.floats(0.0, 1e4), st.floats(0.0, 1e5), st.floats(0.0, 1e5)), max_size=30))
def test_whatever_happened_the_next_move_stays_within_the_clock(
    moves: list[tuple[float, float, float]],
) -> None:
    spending = ClockHistory()
    for left, optimum, spent in moves:
        spending.begin(left)
        spending.end(optimum, spent, left, late=spent / 2)
    spending.begin(1.0)
    given = allocate(
        1.0, 0.1, overhead=0.05, lost=spending.lost(0.05), reserve=spending.reserve, use=spending.use
    )
    assert 0.0 < given.optimum <= given.maximum <= 0.4


def test_the_overhead_is_kept_for_every_move() -> None:
    for left in (0.2, 1.0, 60.0):
        plain, careful = (allocate(left, 0.5, overhead=overhead) for overhead in (0.0, 0.15))
        assert careful.optimum < plain.optimum
        assert careful.maximum < 0.4 * (left - 0.15)


def test_the_horizon_is_nearer_in_crazyhouse_and_never_gone() -> None:
    assert horizon(0, "crazyhouse") < horizon(0, "chess")
    for variant in ("chess", "crazyhouse", "atomic"):
        assert all(11.0 < horizon(played, variant) <= 60.0 for played in range(10_000))


def state(elapsed: float, best: str, *visits: tuple[str, int], value: float = 0.0) -> SearchState:
    return SearchState(elapsed, sum(number for _, number in visits), best, value, visits)


PLAN = Allocation(1.0, 4.0)


def test_stops_when_nothing_can_catch_up() -> None:
    settled = state(0.5, "a", ("a", 900), ("b", 100))
    open_race = state(0.5, "a", ("a", 510), ("b", 490))
    assert TimeManager(PLAN).stop_time(settled) == 0.0
    assert TimeManager(PLAN).stop_time(open_race) > 0.5


def test_a_slow_beginning_does_not_end_the_search() -> None:
    # 12,000 visits from the last move, and a search that has hardly begun: 250 simulations in 0.1 s, soon
    # 10,000 in a second.
    pace = TimeManager(Allocation(2.0, 8.0))
    begun = SearchState(0.1, 250, "a", 0.0, (("a", 12_200), ("b", 4_000)))
    assert pace.stop_time(begun) > 1.0
    under_way = SearchState(0.4, 3_250, "a", 0.0, (("a", 14_000), ("b", 4_900)))
    assert pace.stop_time(under_way) > 1.0
    settled = SearchState(1.0, 9_250, "a", 0.0, (("a", 19_000), ("b", 5_000)))
    assert pace.stop_time(settled) == 0.0


def test_goes_on_when_the_move_to_play_is_not_the_most_visited() -> None:
    torn = state(0.5, "b", ("a", 900), ("b", 100))
    agreed = state(0.5, "a", ("a", 510), ("b", 490))
    assert TimeManager(PLAN).stop_time(torn) > TimeManager(PLAN).stop_time(agreed) > 0.0


def test_more_time_when_the_best_move_wavers() -> None:
    calm, nervous = TimeManager(PLAN), TimeManager(PLAN)
    for step in range(1, 9):
        visits = (("a", 500), ("b", 499))
        calm_until = calm.stop_time(state(step / 10, "a", *visits))
        nervous_until = nervous.stop_time(state(step / 10, "ab"[step % 2], *visits))
    assert calm_until < nervous_until <= PLAN.maximum


def test_more_time_when_the_value_drops() -> None:
    seen = state(0.5, "a", ("a", 510), ("b", 490), value=-0.3)
    assert TimeManager(PLAN, last_value=0.2).stop_time(seen) > TimeManager(PLAN, last_value=-0.3).stop_time(
        seen
    )
    better = replace(seen, value=0.9)
    assert TimeManager(PLAN, last_value=0.2).stop_time(better) == TimeManager(PLAN).stop_time(better)


@given(st.lists(st.tuples(st.floats(0.0, 10.0), st.sampled_from("abc"), st.floats(-1, 1)), max_size=20))
def test_never_beyond_the_maximum(looks: list[tuple[float, str, float]]) -> None:
    pace = TimeManager(PLAN, 1.0)
    for elapsed, best, value in looks:
        until = pace.stop_time(state(elapsed, best, ("a", 10), ("b", 11), ("c", 12), value=value))
        assert 0.0 <= until <= PLAN.maximum
