"""What the engine plans for a move, as `debug on` shows it; nothing here measures time.

The arithmetic itself is tested in tests/unit/test_clock.py. Here it is seen that it gets what it needs: the
variant, the number of the move, the overhead, and how the moves before were spent.
"""

import pytest
from tests.support.engine_session import Session, answers, number_after, set_option

MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATE_IN_1_AT_30 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 30"
ONE_MOVE = "7k/8/8/8/8/8/1q6/K7 w - - 0 1"
GO = "go wtime 600000 btime 600000"


def plan(session: Session, *lines: str) -> tuple[float, float]:
    """Optimum and maximum of a search that ends soon, because there is a mate."""
    said = answers(session, "debug on", *lines)
    return number_after(said, "optimum"), number_after(said, "maximum")


def test_short_searches_make_the_next_plan_longer_until_a_new_game(session: Session) -> None:
    position = f"position fen {MATE_IN_1}"
    first, _ = plan(session, "ucinewgame", position, GO)
    second, _ = plan(session, position, GO)
    third, _ = plan(session, position, GO)
    assert first < second < third
    assert plan(session, "ucinewgame", position, GO)[0] == pytest.approx(first)


@pytest.mark.parametrize("limit", ["nodes 20", "movetime 20", "depth 1"])
def test_searches_that_the_clock_did_not_end_do_not_count(session: Session, limit: str) -> None:
    first, _ = plan(session, "ucinewgame", f"{GO} {limit}")
    second, _ = plan(session, f"{GO} {limit}")
    assert second == pytest.approx(first)


def test_a_search_that_was_stopped_does_not_count(session: Session) -> None:
    session.send("debug on", "ucinewgame")
    session.ask(GO, "stop")
    session.ask(GO, "stop")
    plans = [line.split()[3] for line in session.said("info") if "optimum" in line]
    assert len(plans) == 2
    assert plans[0] == plans[1]


def test_a_clock_that_loses_more_than_was_spent_makes_the_next_plan_shorter(session: Session) -> None:
    position = f"position fen {MATE_IN_1}"
    plans = {}
    for gone in (0, 4000):  # milliseconds from one `go` to the next, of which the search takes a small part
        plan(session, "ucinewgame", position, f"go wtime {10_000 + gone} btime 10000")
        plans[gone] = plan(session, position, "go wtime 10000 btime 10000")[1]
    assert plans[4000] < plans[0] / 2


def test_the_number_of_the_move_and_the_variant_count(session: Session) -> None:
    opening, _ = plan(session, "ucinewgame", f"position fen {MATE_IN_1}", GO)
    later, _ = plan(session, "ucinewgame", f"position fen {MATE_IN_1_AT_30}", GO)
    assert later > opening
    set_option(session, "UCI_Variant", "crazyhouse")
    dropped = MATE_IN_1.replace(" w", "[] w", 1)
    assert plan(session, "ucinewgame", f"position fen {dropped}", GO)[0] > opening


def test_the_overhead_is_taken_off(session: Session) -> None:
    position = f"position fen {MATE_IN_1}"
    before = plan(session, "ucinewgame", position, GO)
    set_option(session, "Move Overhead", 5000)
    after = plan(session, "ucinewgame", position, GO)
    assert after[0] < before[0] - 5.0
    assert after[1] < before[1] - 5.0


def test_a_single_move_gets_a_tenth(session: Session) -> None:
    usual, _ = plan(session, "ucinewgame", f"position fen {MATE_IN_1}", GO)
    single, _ = plan(
        session, "ucinewgame", f"position fen {ONE_MOVE}", "go wtime 600000 btime 600000 nodes 50"
    )
    assert single == pytest.approx(usual / 10, abs=0.001)
