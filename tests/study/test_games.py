"""Studies of games besides chess: their games and positions, and experiments of chess in other games."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.study.conftest import HERE
from tests.support.commands import Commands

from anabranch import Engine, check_game
from anabranch.bench.exact import read_exact_task
from anabranch.errors import StudyError
from anabranch.study.experiments import EXPERIMENTS, solvers
from anabranch.study.left_right import LeftRightPosition
from anabranch.study.measure import measure
from anabranch.study.plan import Measurement, file_name
from anabranch.study.run import run_study
from anabranch.study.summary import figures_of, summarise


def test_an_experiment_of_chess_runs_in_another_game(tmp_path: Path, cli: Commands) -> None:
    games = ("--game", "tic-tac-toe", "--game", "Hex:size=4")
    document = cli.json("study", "run", "merge", "--scale", "tiny", *games, "-w", "0", "-o", tmp_path / "s")
    assert [row["variant"] for row in document["tables"][0]["rows"]] == ["tic-tac-toe", "hex:size=4"]
    assert [chart["name"] for chart in document["charts"]] == ["merge-tic-tac-toe", "merge-hex-size-4"]
    assert (tmp_path / "s" / "matches" / "hex-size-4").is_dir()
    assert json.loads((tmp_path / "s" / "study.json").read_text())["games"] == ["tic-tac-toe", "hex:size=4"]
    again = cli.json("study", "run", "merge", "-w", "0", "-o", tmp_path / "s")  # its games are its own
    assert again["tables"] == document["tables"]
    said = cli.refuses("study", "run", "merge", "--scale", "tiny", "-w", "0", "-o", tmp_path / "s")
    assert "its games was" in said


@pytest.mark.parametrize("name", ["scaling", "memory", "leak", "reuse"])
def test_plans_hold_the_games_of_the_study(name: str, tmp_path: Path) -> None:
    study = EXPERIMENTS[name].study("tiny", games=("hex:size=3",))
    results = run_study(study, tmp_path, HERE)
    assert results.variants == ["hex:size=3"]
    shown = figures_of(summarise(tmp_path))
    assert all(table.rows for table in shown.tables)


@pytest.mark.parametrize("name", ["regret", "proofs", "only-moves", "moves"])
def test_an_experiment_without_positions_of_a_game_is_refused(name: str) -> None:
    study = EXPERIMENTS[name].study("tiny", games=("hex:size=3",))
    with pytest.raises(StudyError, match=f"the experiment {name} has no positions of hex:size=3"):
        EXPERIMENTS[name].plan(study)


def test_a_game_that_there_is_not_is_refused(tmp_path: Path, cli: Commands) -> None:
    said = cli.refuses("study", "run", "merge", "--scale", "tiny", "--game", "hex:size=99", "-o", tmp_path)
    assert "size" in said
    assert "shogi" in cli.refuses(
        "study", "run", "merge", "--scale", "tiny", "--game", "shogi", "-o", tmp_path
    )


def test_a_game_against_itself_is_measured() -> None:
    about = {
        "preset": "default",
        "settings": {"seed": "0"},
        "position": "b2",
        "evaluations": 20,
        "plies": 50,
    }
    moves = measure(Measurement("game", "tic-tac-toe", "any", 0, about))["moves"]
    assert 4 <= len(moves) <= 8
    assert moves[0]["nodes"] > 1


def test_the_graph_and_the_cached_tree_have_the_same_positions(studies: Mapping[str, Path]) -> None:
    rows = summarise(studies["games"])["tables"][1]["rows"]
    for row in rows:
        if row["name"] == "tree+cache":
            assert row["nodes_ratio"] >= 1.0, "as many different positions, some of them several times"
        if row["name"] == "graph":
            assert (row["nodes_ratio"], row["bytes_ratio"]) == (1.0, 1.0)


def test_names_of_files() -> None:
    assert file_name("go:size=5,ko=simple") == "go-size-5-ko-simple"


def test_a_known_result_is_proven_and_one_that_is_wrong_is_noticed() -> None:
    about = {"preset": "default", "settings": {"seed": "0"}, "simulations": 5_000}
    found = measure(Measurement("exact", "hex:size=3", "any", 0, {**about, "position": "b2 -1"}))
    assert (found["result"], found["proven"], found["wrong"]) == ("loss", True, False)
    assert 0 < found["simulations"] < 5_000
    found = measure(Measurement("exact", "hex:size=3", "any", 0, {**about, "position": "b2 1"}))
    assert (found["proven"], found["wrong"]) == (False, True)


def test_positions_with_known_results_are_those_of_the_solver() -> None:
    assert len(solvers.positions("connect-four")) == 60
    engine = Engine("hex:size=4")
    tasks = [read_exact_task(one["position"], engine) for one in solvers.positions("hex:size=4")]
    assert len({task.position for task in tasks}) == 16
    for task in tasks:
        assert engine.solve(task.position, positions=20_000).result == task.result
    for one in solvers.positions("connect-four")[:6:3]:  # late ones
        task = read_exact_task(one["position"], four := Engine("connect-four"))
        solution = four.solve(task.position, positions=200_000)
        assert solution.result == task.result or (task.result == "draw" and solution.result is None)


def test_a_search_goes_to_the_left() -> None:
    assert check_game(LeftRightPosition(6)) == []
    about = {"preset": "ucd", "settings": {"seed": "0"}, "steps": 6, "simulations": 300}
    assert measure(Measurement("left-right", "left-right", "any", 0, about)) == {"lefts": 6}
    few = [
        measure(
            Measurement(
                "left-right",
                "left-right",
                "any",
                0,
                {**about, "settings": {"seed": str(seed)}, "simulations": 3},
            )
        )
        for seed in range(4)
    ]
    assert min(one["lefts"] for one in few) < 6


def test_what_the_searches_of_the_literature_differ_in() -> None:
    plan = EXPERIMENTS["ucd"].plan(EXPERIMENTS["ucd"].study("tiny"))
    depths = {
        tuple(match.spec.players[0].options.get(f"ucd_{name}") for name in ("value", "parent", "visits"))
        for match in plan.matches
    }
    assert {("0", "0", "0"), ("1", "0", "0"), ("255", "0", "0"), ("1", "1", "1"), (None,) * 3} <= depths
    plan = EXPERIMENTS["gumbel"].plan(EXPERIMENTS["gumbel"].study("small"))
    for match in plan.matches:
        tried, base = match.spec.players
        assert (tried.budget, tried.options["batch_size"]) == (base.budget, "1")
        assert base.options["gumbel"] == "off"
    assert {player.budget.evaluations for one in plan.matches for player in one.spec.players} == {
        8,
        16,
        32,
        64,
    }
    rules = {side.options.get("solver_rule") for side in solvers.SIDES}
    assert {"mcts-solver", "exact-win", "exact-win-2"} <= rules
