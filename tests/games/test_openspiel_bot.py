"""The search as a bot of OpenSpiel, in games against OpenSpiel's own bots."""

from __future__ import annotations

from typing import Any

import pyspiel
import pytest

from anabranch.errors import GameError, LimitError
from anabranch.openspiel_bot import SearchBot, native_name


def play(game: Any, bot: Any, other: Any, bot_first: bool, seed: int) -> float:
    bot.restart()
    bots = [bot, other] if bot_first else [other, bot]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
    return float(returns[0 if bot_first else 1])


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("connect_four", "connect-four"),
        ("tic_tac_toe", "tic-tac-toe"),
        ("hex(board_size=4)", "hex:size=4"),
        ("breakthrough(rows=5,columns=4)", "breakthrough:width=4,height=5"),
        ("othello", "othello"),
        ("nim", "object:OpenSpielGame"),
        ("connect_four(rows=4,columns=4)", "object:OpenSpielGame"),
    ],
)
def test_the_bot_beats_random_moves(name: str, variant: str) -> None:
    game = pyspiel.load_game(name)
    bot = SearchBot(game, simulations=60)
    assert bot.engine.variant == variant
    results = [
        play(game, bot, pyspiel.make_uniform_random_bot(int(first), 5), first, seed)
        for seed, first in enumerate([True, False])
    ]
    assert sum(results) >= (0 if "tic" in name or "rows=4" in name else 1)


def test_the_bot_holds_its_own_against_the_search_of_openspiel() -> None:
    game = pyspiel.load_game("connect_four")
    bot = SearchBot(game, simulations=800)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 3)
    results = []
    for seed in range(6):
        other = pyspiel.MCTSBot(game, evaluator, 2.0, 40, 10, True, seed, False)
        results.append(play(game, bot, other, seed % 2 == 0, seed))
    assert sum(results) >= 2


def test_policies_and_the_middle_of_a_game() -> None:
    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state()
    for action in (3, 2, 3, 2, 3, 2):
        state.apply_action(action)
    for native in (True, False):
        bot = SearchBot(game, simulations=400, native=native, merge=True)
        bot.restart_at(state)
        policy, action = bot.step_with_policy(state)
        assert action == 3
        assert [legal for legal, _ in policy] == state.legal_actions()
        assert sum(share for _, share in policy) == pytest.approx(1)
        assert bot.step(game.new_initial_state()) in range(7)


def test_what_a_bot_refuses() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    with pytest.raises(GameError, match="takes a game"):
        SearchBot("tic_tac_toe")
    with pytest.raises(GameError, match="chance"):
        SearchBot(pyspiel.load_game("pig"))
    with pytest.raises(LimitError):
        SearchBot(game, simulations=0)
    bot = SearchBot(game, simulations=10)
    with pytest.raises(GameError, match="plays tic_tac_toe"):
        bot.step(pyspiel.load_game("nim").new_initial_state())
    state = game.new_initial_state()
    for action in (0, 3, 1, 4, 2):
        state.apply_action(action)
    with pytest.raises(GameError, match="over"):
        bot.step(state)


def test_games_with_other_rules_are_not_native() -> None:
    for name in ("hex(board_size=5,swap=true)", "connect_four(x_in_row=3)", "go(board_size=5)", "chess"):
        assert native_name(pyspiel.load_game(name)) is None
