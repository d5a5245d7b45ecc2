"""Games written in Python by name, module:Class: engines, commands, matches, and what is refused."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import Commands

import anabranch
from anabranch import Engine
from anabranch.errors import MatchError, SelfPlayError, VariantError
from anabranch.examples import ConnectFour
from anabranch.match.grid_board import GridBoard, canonical_name
from anabranch.named_games import class_name, is_loaded, is_reference, load_reference
from anabranch.selfplay.plan import LoopPlan, plan_of
from anabranch.selfplay.play import PlayJob, play_games
from anabranch.selfplay.records import GridSamples
from anabranch.selfplay.rows_records import game_of_rows

NUMBERS = itertools.count()
CONNECT_FOUR = "anabranch.examples:ConnectFour"
NIM = """
class Nim:
    players, can_recur = 2, False
    def __init__(self, stones=12, player=0):
        self.stones, self.player = stones, player
    def legal_moves(self):
        return [n for n in (1, 2, 3) if n <= self.stones]
    def play(self, move):
        return Nim(self.stones - move, 1 - self.player)
    def outcome(self):
        return None if self.stones else (-1.0 if self.player == 0 else 1.0)
    def key(self):
        return self.stones, self.player
    def __str__(self):
        return str(self.stones)
"""


@pytest.fixture
def nim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a game whose module lies in the current folder."""
    module = f"nim_{next(NUMBERS)}"
    (tmp_path / f"{module}.py").write_text(NIM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return f"{module}:Nim"


def test_an_engine_plays_a_game_by_name_as_it_plays_the_object() -> None:
    named, given = Engine(game=CONNECT_FOUR, seed=1), Engine(game=ConnectFour(), seed=1)
    assert named.variant == given.variant == "rows:ConnectFour"
    results = [engine.search("4 4 3", simulations=400).moves for engine in (named, given)]
    assert results[0] == results[1]


def test_the_current_folder_is_searched_and_arguments_are_passed(nim: str) -> None:
    lost = Engine(f"{nim}:stones=8").search(simulations=500).solved
    assert lost is not None
    assert lost.state == "loss"
    assert Engine(f"{nim}:stones=9").search(simulations=500).best_move == "1"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_module:Game", "no module is named no_such_module"),
        ("anabranch.examples:Chess", "has no Chess"),
        ("anabranch.examples:LeftRight:steps", "NAME=VALUE"),
        ("anabranch.examples:LeftRight:foo=1", "unexpected keyword"),
    ],
)
def test_names_of_nothing_are_refused_with_a_sentence(name: str, reason: str) -> None:
    with pytest.raises(VariantError, match=reason):
        Engine(game=name)


def test_names_of_games_that_ship_are_not_modules() -> None:
    assert not any(map(is_reference, ("hex:size=7", "chess", "connect-four", "rows:ConnectFour", "go:foo")))


def test_a_class_with_other_arguments_is_another_game(nim: str) -> None:
    """In both orders, by name and as an object."""
    assert Engine(f"{nim}:stones=5").position == "5 x"
    assert Engine(nim).position == "12 x"
    Engine(game=type(load_reference(nim).first)(7))  # type: ignore[call-arg]
    assert Engine(nim).position == "12 x"
    assert Engine(f"{nim}:stones=5").position == "5 x"


def test_the_folder_of_a_run_imports_nothing(cli: Commands, nim: str, tmp_path: Path) -> None:
    """A plan names a module that lies in the current folder; only the user can have it imported."""
    plan = {**plan_of(CONNECT_FOUR).as_dict(), "game": nim}
    document = {"format": 1, "version": anabranch.__version__, "plan": plan}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "selfplay.json").write_text(json.dumps(document))
    for command in ("run --generations 1", "play"):
        assert f"--game {nim}" in cli.refuses("selfplay", *command.split(), "--out", tmp_path / "run")
    assert nim.partition(":")[0] not in sys.modules
    assert not is_loaded(nim)
    assert class_name(load_reference(nim)) == nim


def test_the_folder_of_a_study_imports_nothing(cli: Commands, nim: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    cli.run("study", "run", "games", "--scale", "tiny", "--game", CONNECT_FOUR, "-w", "0", "--out", folder)
    file = folder / "study.json"
    file.write_text(file.read_text().replace(CONNECT_FOUR, nim))
    assert f"--game {nim}" in cli.refuses("study", "run", "games", "--out", folder)
    assert nim.partition(":")[0] not in sys.modules


def test_modules_named_like_games_that_ship_are_refused_with_a_reason() -> None:
    with pytest.raises(VariantError, match="must not be named othello"):
        Engine(game="othello:Mine")
    assert plan_of("connect_four:Mine").games == LoopPlan("hex").games, "no defaults of the game that ships"


def test_a_saved_search_is_opened_with_its_game(cli: Commands, nim: str, tmp_path: Path) -> None:
    file = tmp_path / "nim.search"
    cli.run("analyse", "--game", nim, "-n", "20", "--save", file)
    assert "--game" in cli.refuses("analyse", "--load", file, "-n", "20")
    assert cli.json("analyse", "--load", file, "--game", nim, "-n", "20")["best_move"]


def test_analyse_takes_a_name(cli: Commands) -> None:
    found = cli.json("analyse", "--game", CONNECT_FOUR, "--moves", "4 3 4 3 4 3", "-n", "300")
    assert found["best_move"] == "4"
    assert "no module is named nowhere" in cli.refuses("analyse", "--game", "nowhere:Game", "-n", "9")


def test_a_match_is_played_by_name(cli: Commands, nim: str, tmp_path: Path) -> None:
    players = ["-p", "a=preset:default", "-p", "b=preset:mcgs"]
    command = ["match", "--game", f"{nim}:stones=21", *players, "--evaluations", "20", "--pairs", "2"]
    cli.run(*command, "--workers", "0", "--out", tmp_path / "match")
    assert len((tmp_path / "match" / "results.jsonl").read_text().splitlines()) == 4


def test_the_turn_of_a_game_whose_texts_do_not_tell_it() -> None:
    board = GridBoard("anabranch.examples.connect_four:ConnectFour", "4")
    turns = [board.turn]
    board.push("4")
    assert [*turns, board.turn] == [False, True]
    load_reference("anabranch.examples:LeftRight:steps=4")
    with pytest.raises(MatchError, match="two players"):
        canonical_name("anabranch.examples:LeftRight:steps=4")


def test_self_play_of_a_game_of_rows_records_states_that_lead_back() -> None:
    plan = plan_of(CONNECT_FOUR, games=2, evaluations=8, last_evaluations=8, full_share=1.0)
    done = play_games(PlayJob(plan, "uniform", 0, 0, 2))
    samples, adapter = done.samples, game_of_rows(CONNECT_FOUR)
    assert isinstance(samples, GridSamples)
    assert len(samples) > 4
    states, searched = adapter.states(samples.cells.tobytes()), samples.has_policy
    assert np.array_equal(adapter.legal(states)[searched], samples.legal[searched])
    assert np.allclose(samples.policy[searched].sum(1), 1.0)
    last = int(np.flatnonzero(searched)[-1])
    sign = 1.0 if adapter.player(states)[last] == 0 else -1.0
    assert samples.result[last] == sign * done.results[1]


def test_self_play_refuses_games_without_features_and_of_one_player(nim: str) -> None:
    with pytest.raises(SelfPlayError, match="one of objects"):
        game_of_rows(nim)
    with pytest.raises(SelfPlayError, match="one of one player"):
        game_of_rows("anabranch.examples:LeftRight:steps=4")
    with pytest.raises(SelfPlayError, match="begins from nothing"):
        plan_of(CONNECT_FOUR, initial="network", network="conv")
