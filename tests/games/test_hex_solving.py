"""Hex solved by virtual connections: known winners, and lines that end where the win is certain."""

import pytest
from tests.support.commands import Commands

from anabranch import Engine


@pytest.mark.parametrize(
    ("position", "result"),
    [("startpos", "win"), ("c3", "loss"), ("a1", "win"), ("e5", "win"), ("e1", "loss"), ("b2", "loss")],
)
def test_openings_of_five_columns(position: str, result: str) -> None:
    engine = Engine("hex:size=5")
    solution = engine.solve(position, positions=20_000)
    assert solution.result == result
    assert solution.line is not None
    engine.position = position
    for move in solution.line.moves:
        engine.play(move)
    assert not engine.is_over  # nobody has connected yet, but the winner cannot be stopped
    after = engine.solve(positions=20_000)
    is_same_side = len(solution.line.moves) % 2 == 0
    assert after.result == (result if is_same_side else {"win": "loss", "loss": "win"}[result])


def test_the_first_move_is_always_reported() -> None:
    solution = Engine("hex:size=3").solve(positions=1_000)
    assert (solution.result, solution.plies, solution.mate, solution.is_shortest) == (
        "win",
        None,
        None,
        False,
    )
    assert solution.line is not None
    assert len(solution.line.moves) == 1
    assert str(solution) == f"win: {solution.line.moves[0]}, and the rest is certain"


@pytest.mark.parametrize(("move", "result"), [("d3", "loss"), ("c2", "loss"), ("d1", "win"), ("b6", "win")])
def test_openings_of_six_columns(move: str, result: str) -> None:
    assert Engine("hex:size=6").solve(move, positions=500).result == result


def test_a_limit_ends_the_work() -> None:
    solution = Engine("hex:size=6").solve("a3", positions=20)
    assert (solution.result, solution.line, solution.positions) == (None, None, 20)
    assert Engine("hex:size=7").solve(time=0.05).time < 5


def test_the_command_needs_moves_alone(cli: Commands) -> None:
    found = cli.json("solve", "--game", "hex:size=5", "--moves", "c3")
    assert (found["result"], found["variant"]) == ("loss", "hex:size=5")
