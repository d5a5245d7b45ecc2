"""Ways to run self-play that are compared: what is refused, what is said, without learning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands

from anabranch.errors import SelfPlayError
from anabranch.jobs.executor import Processes
from anabranch.match.player import PlayerSpec
from anabranch.selfplay.compare import (
    ComparedGeneration,
    compare,
    compared_text,
    differing,
    draw_compared,
)
from anabranch.selfplay.folder import RunFolder, open_run
from anabranch.selfplay.judge import player_of
from anabranch.selfplay.plan import plan_of


def run_of(path: Path, game: str = "hex:size=3", **changes: Any) -> RunFolder:
    """A run that says that it has learned one generation."""
    with open_run(path, plan_of(game, **changes)) as folder:
        folder.journal.add(("learn", 0, ""), {})
        return folder


def test_all_runs_are_checked(tmp_path: Path) -> None:
    first = [run_of(tmp_path / "a1"), run_of(tmp_path / "a2", seed=2, games=99)]
    second = [run_of(tmp_path / "b1", backup="tree"), run_of(tmp_path / "b2", seed=2, backup="tree")]
    assert differing(first, second) == [
        "backup: recompute against tree",
        f"runs of one way differ in games: 512 in {tmp_path / 'a1'}, 99 in {tmp_path / 'a2'}",
    ]
    second[1] = run_of(tmp_path / "b3", "tic-tac-toe")
    for call in (
        lambda: differing(first, second),
        lambda: compare(first, second, 1, 1, tmp_path / "out", Processes(0)),
    ):
        with pytest.raises(SelfPlayError, match=r"a1 is a run of hex:size=3 .*b3, one of tic-tac-toe"):
            call()
    with pytest.raises(SelfPlayError, match="a1 is given twice"):
        differing(first, [second[0], first[0]])


def test_pairs_of_all_runs_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []

    def rollout(name: str, evaluator: str, evaluations: int, simulations: float) -> PlayerSpec:
        budgets.append(evaluations)
        return player_of(name, "rollout", evaluations, simulations)

    monkeypatch.setattr("anabranch.selfplay.compare.player_of", rollout)
    ways = [[run_of(tmp_path / f"{way}{seed}", seed=seed) for seed in (1, 2)] for way in "ab"]
    [row] = compare(ways[0], ways[1], 2, 3, tmp_path / "out", Processes(0))
    assert (row.generation, sum(row.counts)) == (0, 4)
    assert [sum(counts) for counts in row.runs] == [2, 2]
    assert set(budgets) == {3}
    [again] = compare(ways[0], ways[1], 2, 3, tmp_path / "out", Processes(0))
    assert again == row
    draw_compared([row, replace(row, generation=1, elo=2000.0, error=None)], tmp_path / "elo.svg")
    drawn = (tmp_path / "elo.svg").read_text()
    assert "<!-- Elo of the first way against the second -->" in drawn
    assert "<!-- a pair of runs -->" in drawn


def test_numbers_that_allow_no_game_are_refused(tmp_path: Path, cli: Commands) -> None:
    run_of(tmp_path / "a")
    run_of(tmp_path / "b", backup="tree")
    ways = ("--first", tmp_path / "a", "--second", tmp_path / "b")
    call = ("selfplay", "compare", *ways, "--out", tmp_path / "out")
    assert cli.refuses(*call, "-n", "0") == "anabranch: evaluations must be at least 1, not 0\n"
    assert cli.refuses(*call, "--pairs", "0") == "anabranch: pairs must be at least 1, not 0\n"
    refused = cli.refuses(*call, "--plot", tmp_path / "elo")
    assert refused == "anabranch: curves are drawn as .png or .svg, not as elo\n"
    assert not (tmp_path / "out").exists()


def test_elo_is_written_as_in_the_table_of_a_run() -> None:
    row = ComparedGeneration(3, (0, 0, 0, 0, 4), ((0, 0, 0, 0, 4),), 2000.0, None, (1000, 2000))
    assert compared_text(row).startswith("generation   3: 8 of 8 points, all won; evaluations")
    runs = ((0, 0, 0, 0, 2), (0, 1, 1, 1, 0))
    row = ComparedGeneration(3, (0, 1, 2, 2, 0), runs, 35.2, 61.0, (1000, 2000))
    assert ", +35 ± 61 Elo (by run all won, +0); " in compared_text(row)
