"""The script that measures handicaps: its fit finds the ratings behind games, its pairings tell something."""

import importlib.util
import json
import sys
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import chess
import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "calibrate_elo.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("calibrate_elo", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["calibrate_elo"] = module
    spec.loader.exec_module(module)
    return module


def make_pairs(script: ModuleType, truth: list[float], number: int) -> list[Any]:
    """Pairs whose results follow from true ratings."""
    random = Random(5)
    pairs: list[Any] = []
    while len(pairs) < number:
        level, opponent = script.next_pairing(pairs, truth, range(len(truth)))
        kind, name = opponent.split()
        facing = truth[int(name)] if kind == "level" else float(name)
        chance = 1 / (1 + 10 ** ((facing - truth[level]) / 400))
        scores = tuple(float(random.random() < chance) for _ in range(2))
        pairs.append(script.Pair(level, opponent, len(pairs), scores, 0.0))
    return pairs


def test_the_fit_finds_the_ratings_behind_the_games(script: ModuleType) -> None:
    truth = [1000.0, 1300.0, 1700.0, 2100.0]
    pairs = make_pairs(script, truth, 1200)
    found, error = script.fit(pairs, [1500.0] * 4)
    for rating, true, deviation in zip(found, truth, error, strict=True):
        assert 5 < deviation < 60
        assert abs(rating - true) < 4 * deviation


def test_clean_scores_have_a_finite_rating(script: ModuleType) -> None:
    won = [script.Pair(0, "stockfish 1350", number, (1.0, 1.0), 0.0) for number in range(20)]
    found, _ = script.fit(won, [1350.0])
    assert 1600 < found[0] < 3000


def test_the_level_with_the_fewest_games_plays_somebody_near(script: ModuleType) -> None:
    truth = [1000.0, 1330.0, 2100.0]
    first = script.next_pairing([], truth, range(3))
    assert first == (0, "level 1")
    pairs = [script.Pair(0, "level 1", 0, (0.0, 1.0), 0.0)]
    assert script.next_pairing(pairs, truth, range(3)) == (2, "stockfish 2100")


def test_pairs_survive_the_file(script: ModuleType) -> None:
    pair = script.Pair(0, "level 1", 0, (0.0, 1.0), 1.5)
    again = script.Pair(**json.loads(json.dumps(pair._asdict())))
    assert sum(again.scores) == 1.0
    assert again.opponent == pair.opponent


def test_openings_are_the_same_every_time_and_playable(script: ModuleType) -> None:
    board = script.opening(3)
    assert board.fen() == script.opening(3).fen()
    assert not board.is_game_over()
    assert 4 <= len(board.move_stack) <= 8


def test_a_game_ends_by_the_rules(script: ModuleType) -> None:
    class Fool:
        def play(self, board: chess.Board) -> chess.Move:
            return chess.Move.from_uci(("f2f3", "e7e5", "g2g4", "d8h4")[board.ply()])

    assert script.play_game(Fool(), Fool(), chess.Board()) == 0.0
