"""The rules of the games on a grid against OpenSpiel's, move by move in random games."""

from collections.abc import Callable
from random import Random
from typing import Any

import pyspiel
import pytest

from anabranch import Engine

GAMES = 200
FEWER = {"hex": 4, "hex:size=19": 20, "breakthrough": 4, "go": 5}
"""So many times fewer games where a game has many moves."""


def _cell(action: str) -> str:
    return action.lower()


def _upside_down(rows: int) -> Callable[[str], str]:
    """A move of Breakthrough where the first player begins at the top, as a move from the bottom."""

    def turned(action: str) -> str:
        return f"{action[0]}{rows + 1 - int(action[1])}{action[2]}{rows + 1 - int(action[3])}"

    return turned


def _of_go(action: str) -> str:
    return action.split()[1].lower()


NAMES: list[tuple[str, str, Callable[[str], str] | None]] = [
    ("connect-four", "connect_four", None),
    ("tic-tac-toe", "tic_tac_toe", None),
    ("othello", "othello", _cell),
    ("hex:size=2", "hex(board_size=2)", _cell),
    ("hex:size=5", "hex(board_size=5)", _cell),
    ("hex", "hex(board_size=11)", _cell),
    ("hex:size=19", "hex(board_size=19)", _cell),
    ("breakthrough", "breakthrough", _upside_down(8)),
    ("breakthrough:width=5,height=6", "breakthrough(rows=6,columns=5)", _upside_down(6)),
    ("go:size=3,komi=0", "go(board_size=3,komi=0.0,max_game_length=2000)", _of_go),
    ("go:size=5", "go(board_size=5,komi=7.5,max_game_length=2000)", _of_go),
    ("go", "go(board_size=9,komi=7.5,max_game_length=2000)", _of_go),
]


def _text(name: str, state: Any, action: int, read: Callable[[str], str] | None) -> str:
    """An action of OpenSpiel as the core writes it."""
    if name == "connect-four":
        return str(action + 1)
    if name == "tic-tac-toe":
        return f"{'abc'[action % 3]}{action // 3 + 1}"
    assert read is not None
    return read(state.action_to_string(action))


@pytest.mark.parametrize(("name", "theirs", "read"), NAMES, ids=[row[0] for row in NAMES])
def test_random_games_agree_move_by_move(name: str, theirs: str, read: Callable[[str], str] | None) -> None:
    engine, game = Engine(name, evaluator="uniform"), pyspiel.load_game(theirs)
    is_go = name.startswith("go")
    random = Random(name)
    results = set()
    for _ in range(GAMES // FEWER.get(name, 1)):
        engine.reset()
        state = game.new_initial_state()
        while not state.is_terminal():
            actions = {_text(name, state, action, read): action for action in state.legal_actions()}
            assert engine.ending is None, engine.position
            player = "xo".index(engine.position.split()[1])
            assert player == state.current_player()
            own = engine.legal_moves
            assert len(set(own)) == len(own)
            # Positional superko forbids what ends the game there.
            for extra in actions.keys() - set(own):
                assert is_go, (engine.position, extra)
                after = state.child(actions[extra])
                assert after.is_terminal()
                assert after.returns() == [0.0, 0.0]
            assert set(own) <= actions.keys(), engine.position
            is_late = is_go and state.move_number() > 3 * len(engine.position)
            move = "pass" if is_late and random.random() < 0.5 else random.choice(own)
            state.apply_action(actions[move])
            engine.play(move)
        player = "xo".index(engine.position.split()[1])
        assert engine.ending == state.returns()[player], engine.position
        results.add(state.returns()[0])
    assert len(results) >= 2, "games of both results"


@pytest.mark.parametrize(
    ("name", "theirs", "depth"),
    [
        ("connect-four", "connect_four", 5),
        ("tic-tac-toe", "tic_tac_toe", 7),
        ("othello", "othello", 5),
        ("hex:size=4", "hex(board_size=4)", 4),
        ("breakthrough:width=6,height=6", "breakthrough(rows=6,columns=6)", 4),
        ("go:size=3", "go(board_size=3)", 4),
    ],
)
def test_move_sequences_are_as_many(name: str, theirs: str, depth: int) -> None:
    def count(state: Any, depth: int) -> int:
        if state.is_terminal():
            return 0
        if depth == 1:
            return len(state.legal_actions())
        return sum(count(state.child(action), depth - 1) for action in state.legal_actions())

    engine, start = Engine(name, evaluator="uniform"), pyspiel.load_game(theirs).new_initial_state()
    assert sum(engine.perft(depth).values()) == count(start, depth)
