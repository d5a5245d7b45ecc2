"""The experiment `moves`: what is compared, what a loss is, and which searches are shared."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anabranch import Engine
from anabranch.defaults import resolve
from anabranch.errors import StudyError
from anabranch.jobs.executor import Processes
from anabranch.match.openings import board_of, rules_of
from anabranch.study.choices import Choices
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.experiments.bars import COMPARISONS
from anabranch.study.experiments.measurements import FILES
from anabranch.study.experiments.moves import JUDGED, _row, undecided
from anabranch.study.measure import engine_of, measure
from anabranch.study.plan import VARIANTS, Measurement
from anabranch.study.run import run_study

SETTINGS = {"evaluator": "material", "seed": "1"}
HANGING = "4k3/8/8/3q4/8/8/3R4/3RK3 w - - 0 1"
"""White takes a queen."""
MATE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
CORNERED = "7k/8/8/8/8/8/5q2/7K b - - 0 1"
"""The queen can stalemate the king."""


def search(evaluations: int, **settings: str) -> dict[str, Any]:
    return {"preset": "default", "settings": {**SETTINGS, **settings}, "evaluations": evaluations}


BLIND = {"evaluator": "uniform", "mate_root": "0"}
"""A search of one evaluation plays any move."""


def compared(position: str, side: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    about = {**side, "position": position, "base": base, "judge": search(500)}
    return measure(Measurement("choice", "chess", "tried", 0, about))


def test_a_worse_move_loses_what_the_judge_says() -> None:
    found = compared(HANGING, search(1, **BLIND), search(300))
    assert found["base"] == "d2d5" != found["move"]
    board = board_of("chess", HANGING, False)
    values = []
    for move in (found["base"], found["move"]):
        board.push_uci(move)
        judge = engine_of("chess", "default", SETTINGS)
        values.append(-judge.search(board, evaluations=500).value)
        board.pop()
    assert found["loss"] == (values[0] - values[1]) / 2.0 > 0.1
    turned = compared(HANGING, search(300), search(1, **BLIND))
    assert turned == {"move": found["base"], "base": found["move"], "loss": -found["loss"]}


def test_equal_moves_lose_nothing() -> None:
    assert compared(HANGING, search(200), search(300)) == {"move": "d2d5", "base": "d2d5", "loss": 0.0}


def test_a_move_that_ends_the_game_has_its_exact_value() -> None:
    found = compared(MATE, search(1, **BLIND), search(300))
    assert found["base"] == "a1a8" != found["move"]
    assert 0.0 < found["loss"] < 1.0
    asked: list[str] = []

    def no_engine(variant: str, preset: str, settings: Mapping[str, str]) -> Engine:
        asked.append(preset)
        raise AssertionError

    choices = Choices(no_engine)
    assert choices._search_value("chess", MATE, "a1a8", "default", "{}", 10) == 1.0
    assert choices._search_value("chess", CORNERED, "f2g3", "default", "{}", 10) == 0.0
    assert asked == []


def test_measurements_of_a_position_share_their_searches() -> None:
    made: Counter[str] = Counter()

    def counted(variant: str, preset: str, settings: Mapping[str, str]) -> Engine:
        made[settings["seed"]] += 1
        return engine_of(variant, preset, settings)

    choices = Choices(counted)
    about = {"position": HANGING, "base": search(300, seed="7"), "judge": search(300, seed="8")}
    for seed in ("1", "2", "3"):
        assert choices.compare("chess", {**about, **search(1, seed=seed, **BLIND)})["move"] != "d2d5"
    assert made["7"] == 1
    assert made["1"] == made["2"] == made["3"] == 1
    moves = {
        choices.compare("chess", {**about, **search(1, seed=seed, **BLIND)})["move"]
        for seed in ("1", "2", "3")
    }
    assert made["8"] == 1 + len(moves)


def test_every_change_of_the_other_experiments_is_measured_against_its_base() -> None:
    study = EXPERIMENTS["moves"].study("tiny")
    plan = EXPERIMENTS["moves"].plan(study)
    for variant in VARIANTS:
        for name, bars in COMPARISONS.items():
            here = [one for one in plan.measurements if (one.variant, one.group) == (variant, f"{name} 16")]
            scales = ["half the evaluations", "twice the evaluations"]
            assert [one.name for one in here] == [*(side.name for side in bars.tried), *scales]
            for one in here:
                base, judge = one.about["base"], one.about["judge"]
                expected = {**bars.base.settings(study, variant), "seed": "0"}
                assert (base["preset"], base["settings"]) == (bars.base.preset, expected)
                assert (base["evaluations"], judge["evaluations"]) == (16, JUDGED * 16)
                assert judge["preset"] == "default"
            assert [one.about["evaluations"] for one in here[-3:]] == [16, 8, 32]
            assert {one.about["preset"] for one in here[-2:]} == {bars.base.preset}


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_change_differs_from_its_base(name: str) -> None:
    study = EXPERIMENTS[name].study("tiny")
    for variant in VARIANTS:
        base, *tried = [
            resolve(side.preset, variant, None, side.settings(study, variant))
            for side in (COMPARISONS[name].base, *COMPARISONS[name].tried)
        ]
        assert all(settings != base for settings in tried)
        assert len(set(map(repr, tried))) == len(tried)


def test_few_different_moves_have_no_error() -> None:
    def rows(different: int) -> dict[str, Any]:
        found = [{"move": "a", "base": "a", "loss": 0.0}] * (20 - different)
        found += [{"move": "a", "base": "b", "loss": 0.002}] * different
        return _row("tried", found)

    assert rows(9)["loss"] == {"value": pytest.approx(0.9), "error": None}
    assert rows(9)["differ"] == 0.45
    loss = rows(10)["loss"]
    assert loss["value"] == pytest.approx(1.0)
    assert loss["error"] == pytest.approx(1.96 * math.sqrt(20 / 19 / 20), abs=1e-3)


def test_a_folder_of_another_judge_is_refused(tmp_path: Path) -> None:
    study = EXPERIMENTS["moves"].study("tiny", settings={"evaluator": "material"})
    arguments = study, tmp_path, Processes(0), ("chess",), ("merge 16",)
    run_study(*arguments)
    journal = tmp_path / "measurements.jsonl"
    stored = journal.read_text()
    assert len(stored.splitlines()) == 3
    other = stored.replace(str(16 * JUDGED), "20")
    assert other != stored
    journal.write_text(other)
    with pytest.raises(StudyError, match=r"other settings: chess/merge 16/clock/0 differs in judge"):
        run_study(*arguments)
    journal.write_text(stored)
    assert run_study(*arguments).progress["measurements"] == 3


def test_positions_come_one_after_the_other() -> None:
    size = EXPERIMENTS["moves"].sizes["tiny"].changed("moves", {"positions": 3})
    plan = EXPERIMENTS["moves"].plan(EXPERIMENTS["moves"].study("tiny", size=size)).chosen(("chess",))
    places = [one.place for one in plan.measurements]
    assert places == sorted(places)
    assert set(places) == {0, 1, 2}


@pytest.mark.parametrize("variant", VARIANTS)
def test_undecided_positions_are_ordinary_ones(variant: str) -> None:
    lines = (FILES / f"undecided-{variant}.fen").read_text().splitlines()
    assert variant in lines[0]
    positions = undecided(variant)
    assert len(positions) == len(set(positions)) == len(lines) - 2 == 500
    boards = [rules_of(variant)(position) for position in positions]
    assert all(board.is_valid() and not board.is_game_over() for board in boards)
    assert 200 < sum(board.turn for board in boards) < 300
