"""How long it will take, said beforehand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.match.matches import QUICK, openings, quick, spec
from tests.support.commands import Commands

from anabranch.match import estimate
from anabranch.match.adjudication import Adjudication
from anabranch.match.estimate import (
    NODES_PER_SECOND,
    OVERHEAD,
    PLIES,
    seconds_of_clock,
    seconds_of_games,
    simulations_per_second,
)
from anabranch.match.game import GameRecord, play_game
from anabranch.match.player import read_player
from anabranch.match.schedule import MatchSpec
from anabranch.study.estimate import Remaining
from anabranch.study.experiments import EXPERIMENTS

MOVES = PLIES["chess"] / 2


def seconds(*players: str, longest: int | None = None, pairs: int = 1) -> float:
    asked = spec(*map(read_player, players), pairs=pairs, adjudication=Adjudication(longest=longest))
    return seconds_of_games(list(asked.schedule()))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine of which the speed is known."""
    monkeypatch.setattr(estimate, "simulations_per_second", lambda *_: 1000.0)


def test_times_and_clocks_are_taken_as_they_are() -> None:
    assert seconds("a=preset:mcgs,time=2", "b=uci:stockfish,time=0.5") == pytest.approx(2 * MOVES * 2.5)
    timed = seconds("a=preset:mcgs,clock=60+1", "b=uci:stockfish,clock=60+1", pairs=5)
    assert timed == pytest.approx(10 * 2 * seconds_of_clock(60.0, 1.0, MOVES))
    assert 60.0 < seconds_of_clock(60.0, 1.0, MOVES) < 60.0 + MOVES


@pytest.mark.usefixtures("slow")
def test_budgets_are_taken_by_the_speed_of_the_engine() -> None:
    ours = MOVES * (0.8 + OVERHEAD)
    theirs = MOVES * 10_000 / NODES_PER_SECOND
    assert seconds("a=preset:mcgs,evaluations=800", "b=uci:stockfish,nodes=10000") == pytest.approx(
        2 * (ours + theirs)
    )
    both = "preset:mcgs,evaluations=800,time=0.1"  # the first limit that is met
    assert seconds(f"a={both}", f"b={both}") == pytest.approx(2 * 2 * MOVES * 0.1)


@pytest.mark.usefixtures("slow")
def test_games_that_end_early_take_less() -> None:
    players = ("a=preset:mcgs,time=1", "b=preset:mcgs,time=1")
    assert seconds(*players, longest=10) == pytest.approx(2 * 10.0)
    assert seconds(*players, longest=400) == seconds(*players)


def test_games_that_were_played_decide() -> None:
    asked = spec(quick("a"), quick("b"), pairs=10)
    games = list(asked.schedule())
    played = [replace(play_game(game), seconds=7.0) for game in games[:4]]
    assert seconds_of_games(games[4:], played) == pytest.approx(16 * 7.0)
    assert seconds_of_games(games[3:], played[:3]) < 17 * 7.0  # too few to go by


def test_the_speed_is_measured_here() -> None:
    measured = simulations_per_second("chess", (("evaluator", "material"),))
    assert measured > 100.0
    assert simulations_per_second("chess", (("evaluator", "nowhere.onnx"),)) == 30_000.0


@pytest.mark.usefixtures("slow")
def test_measurements_of_a_study_are_counted() -> None:
    study = EXPERIMENTS["leak"].study("tiny")
    plan = EXPERIMENTS["leak"].plan(study)
    rest = Remaining([], plan.measurements)
    assert rest.seconds == pytest.approx(len(plan.measurements) * (0.4 + OVERHEAD))
    for experiment in EXPERIMENTS.values():  # every kind of measurement, and of match
        plan = experiment.plan(experiment.study("tiny"))
        played: list[GameRecord] = []
        matches = [(list(match.spec.schedule()), played) for match in plan.matches]
        assert Remaining(matches, plan.measurements).seconds > 0.0


def test_the_command_says_it_and_for_the_rest_only(tmp_path: Path, cli: Commands) -> None:
    call = ["match", "-p", f"a={QUICK}", "-p", f"b={QUICK}", "--longest", "4", "-w", "0", "-o", str(tmp_path)]
    said = cli.run(*call, "--pairs", "2").err
    assert "4 games to do, roughly less than a minute on 1 core\n" in said
    shown, said = cli.run(*call, "--pairs", "3", "--json")
    assert json.loads(shown)["games"] == 6
    assert "2 games to do, roughly " in said
    assert "to do" not in cli.run(*call, "--pairs", "3").err


def test_a_test_that_may_stop_takes_at_most_that(tmp_path: Path, cli: Commands) -> None:
    call = ["match", "-p", f"a={QUICK}", "-p", f"b={QUICK}", "--longest", "4", "-w", "0", "-o", str(tmp_path)]
    said = cli.run(*call, "--pairs", "1", "--sprt-elo0", "0", "--sprt-elo1", "10").err
    assert "2 games to do, at most roughly " in said


def test_a_study_says_it_too(tmp_path: Path, cli: Commands) -> None:
    call = ["study", "run", "leak", "--scale", "tiny", "--set", "evaluator=material", "-w", "0"]
    said = cli.run(*call, "-o", tmp_path / "s", "--variant", "chess").err
    assert "5 measurements to do, roughly less than a minute on 1 core\n" in said
    assert "5 measurements to do, roughly " in cli.run(*call, "-o", tmp_path / "s", "--json").err


def test_long_matches_are_long() -> None:
    players = tuple(read_player(f"{name}=preset:mcgs,time=5") for name in "ab")
    asked = MatchSpec(players, openings("chess", 5), 500)
    assert estimate.in_words(seconds_of_games(list(asked.schedule()))) == "5 days"
