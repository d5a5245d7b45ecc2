"""Recipes: complete, valid, and about what they say."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import pytest

from anabranch.errors import StudyError
from anabranch.match.engine_player import read_settings
from anabranch.match.openings import rules_of
from anabranch.match.player import PlayerSpec
from anabranch.match.runner import check_match
from anabranch.settings import Settings, presets
from anabranch.study import paper
from anabranch.study.measure import KINDS
from anabranch.study.plan import SCALES, VARIANTS, Size, Study
from anabranch.study.recipes import RECIPES, find_recipe
from anabranch.study.recipes.only_moves import FILES, only_moves
from anabranch.study.recipes.proofs import mates
from anabranch.study.recipes.regret import endings

OF_PAPER = {"mcgs-vs-tree", "scaling", "ablation", "memory", "reuse"}
OURS = {
    "settings",
    "leave-one-out",
    "backups",
    "merge",
    "virtual",
    "q-epsilon",
    "leak",
    "proofs",
    "regret",
    "only-moves",
}
DATA = Path(__file__).parent.parent / "data"


def test_every_experiment_has_a_recipe() -> None:
    assert set(RECIPES) == OF_PAPER | OURS
    assert {name for name, recipe in RECIPES.items() if recipe.of_paper} == OF_PAPER
    with pytest.raises(StudyError, match=r"there is no recipe albation; there are .*ablation"):
        find_recipe("albation")


@pytest.mark.parametrize("name", sorted(OF_PAPER | OURS))
@pytest.mark.parametrize("scale", SCALES)
def test_a_recipe_can_be_played(name: str, scale: str) -> None:
    recipe = RECIPES[name]
    plan = recipe.plan(recipe.study(scale))
    keys = [part.key for part in plan.contests] + [part.key for part in plan.measurements]
    assert keys
    assert len(set(keys)) == len(keys)
    for contest in plan.contests:
        check_match(contest.spec)
        assert contest.spec.games == 2 * (recipe.sizes[scale].pairs or 0)
        assert len(contest.spec.openings) >= 500
    for measurement in plan.measurements:
        about = measurement.about
        read_settings(PlayerSpec("any", "preset", about["preset"], about["settings"]))
        assert measurement.kind in KINDS
        assert json.loads(json.dumps(about)) == about
    variants = {part.variant for part in plan.contests} | {part.variant for part in plan.measurements}
    assert variants == ({"chess"} if name == "regret" else set(VARIANTS))


def test_scales_grow() -> None:
    for recipe in RECIPES.values():
        tiny, small, full = (recipe.sizes[scale].to_dict() for scale in SCALES)
        for name in full:
            least, middle, most = (
                max(size[name]) if isinstance(size[name], list) else size[name]
                for size in (tiny, small, full)
            )
            assert least <= middle <= most
            assert least < most


def test_the_ablation_tries_every_preset_against_alphazero() -> None:
    recipe = RECIPES["ablation"]
    plan = recipe.plan(recipe.study("full"))
    for variant in VARIANTS:
        tried = [contest for contest in plan.contests if contest.variant == variant]
        assert {contest.name for contest in tried} == set(presets()) - {"alphazero"}
        assert {contest.spec.players[1].target for contest in tried} == {"alphazero"}
    assert {player.budget.evaluations for one in plan.contests for player in one.spec.players} == {3_000}
    assert plan.contests[0].spec.pairs >= 250


def test_scaling_has_stockfish_as_the_paper_has_it() -> None:
    recipe = RECIPES["scaling"]
    plan = recipe.plan(recipe.study("full"))
    found = {
        (contest.variant, player.target, player.budget.nodes)
        for contest in plan.contests
        for player in contest.spec.players
        if player.kind == "uci"
    }
    assert found == {("chess", "stockfish", 10_000), ("crazyhouse", "fairy-stockfish", 1_000_000)}
    without = recipe.study("tiny", size=recipe.sizes["tiny"].changed("scaling", {"reference_nodes": 0}))
    players = [player for one in recipe.plan(without).contests for player in one.spec.players]
    assert {player.kind for player in players} == {"preset"}


def test_what_is_tried_differs_from_the_base_in_what_it_says() -> None:
    for name, setting in (("merge", "merge"), ("virtual", "virtual_"), ("q-epsilon", "q_epsilon")):
        recipe = RECIPES[name]
        for contest in recipe.plan(recipe.study("tiny")).contests:
            tried, base = contest.spec.players
            assert (tried.target, base.target, base.options) == ("mcgs-combined", "mcgs-combined", {})
            assert tried.options
            assert all(option.startswith(setting) for option in tried.options)
    recipe = RECIPES["backups"]
    tried_pairs = set()
    for contest in recipe.plan(recipe.study("tiny")).contests:
        checked = Settings.preset("mcgs-combined").changed(contest.spec.players[0].options)
        tried_pairs.add((checked.backup, checked.stop))
    assert len(tried_pairs) == 9
    assert {backup for backup, _ in tried_pairs} == {
        "tree",
        "tree+cache",
        "naive",
        "paper",
        "delta",
        "recompute",
    }
    assert ("paper", "gap") not in tried_pairs


def test_our_settings_lead_from_the_paper_to_the_default_and_each_part_can_be_left_out() -> None:
    def settings_tried(name: str) -> list[tuple[Settings, Settings]]:
        plan = RECIPES[name].plan(RECIPES[name].study("tiny"))
        return [
            (Settings.preset(tried.target).changed(tried.options), Settings.preset(base.target))
            for tried, base in (contest.spec.players for contest in plan.contests)
        ]

    default = Settings.preset("default")
    together: dict[str, Any] = {}
    for tried, base in settings_tried("settings"):
        changed = {key: value for key, value in asdict(tried).items() if value != getattr(base, key)}
        if tried != default:
            assert len(changed) == 1
            together |= changed
    assert Settings.preset("mcgs-combined").changed(together) == default
    for tried, base in settings_tried("leave-one-out"):
        assert base == default != tried


def test_settings_of_a_study_reach_every_engine_but_not_over_what_is_tried() -> None:
    for recipe in RECIPES.values():
        settings = {"c_init": "2.0", "backup": "tree"}
        plan = recipe.plan(recipe.study("tiny", settings=settings))
        for contest in plan.contests:
            for player in contest.spec.players:
                assert player.options.get("c_init") == ("2.0" if player.kind == "preset" else None)
        assert all(one.about["settings"]["c_init"] == "2.0" for one in plan.measurements)
    tried = [
        one.about["settings"]["backup"]
        for one in RECIPES["leak"].plan(RECIPES["leak"].study("tiny", settings=settings)).measurements
    ]
    assert set(tried) == {"tree", "naive", "paper", "delta", "recompute"}


def test_tables_are_for_chess() -> None:
    recipe = RECIPES["ablation"]
    for contest in recipe.plan(recipe.study("tiny", tablebases="tables")).contests:
        expected = "tables" if contest.variant == "chess" else None
        assert contest.spec.adjudication.tablebases == expected
        assert {player.options.get("tablebases") for player in contest.spec.players} == {expected}


def test_sizes_that_a_recipe_has_not_are_refused() -> None:
    size = RECIPES["memory"].sizes["tiny"]
    with pytest.raises(StudyError, match="the recipe memory has no pairs; it has positions, simulations"):
        size.changed("memory", {"pairs": 3})
    with pytest.raises(StudyError, match="positions are numbers from 1 on, not 0"):
        size.changed("memory", {"positions": 0})
    with pytest.raises(StudyError, match="there is no scale huge; there are tiny, small, full"):
        RECIPES["memory"].study("huge")


def test_a_study_is_what_was_stored() -> None:
    for recipe in RECIPES.values():
        study = recipe.study("full", settings={"c_init": "2.0"}, seed=3)
        assert Study.from_dict(json.loads(json.dumps(study.to_dict()))) == study
    assert Size.from_dict({"evaluations": [1, 2]}).evaluations == (1, 2)


def test_the_numbers_of_the_paper() -> None:
    assert paper.ABLATION == {
        ("crazyhouse", "mcgs"): 110,
        ("crazyhouse", "alphazero+epsilon"): 100,
        ("crazyhouse", "mcgs-combined"): 310,
        ("chess", "mcgs-combined"): 69,
    }
    assert paper.MEMORY_SAVED == (0.3, 0.7)


def test_the_mates_are_the_known_ones() -> None:
    known = (DATA / "known-mates.epd").read_text().splitlines()
    for variant in VARIANTS:
        lines = [line for line in known if f'id "{variant} ' in line and " dm -" not in line]
        assert sorted(mates(variant)) == sorted(lines)
        lengths = [int(line.split(" dm ")[1].partition(";")[0]) for line in mates(variant)]
        assert lengths[:5] == [1, 2, 3, 4, 5]
        assert len(lengths) == 64


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_moves_are_legal_and_far_ahead(variant: str) -> None:
    lines = [
        line for line in (FILES / f"only-moves-{variant}.epd").read_text().splitlines() if line[0] != "#"
    ]
    found = only_moves(variant)
    assert len(set(found)) == len(found) == len(lines) == 100
    for line, (position, move) in zip(lines, found, strict=True):
        board = rules_of(variant)(position)
        assert board.is_valid()
        assert board.legal_moves.count() >= 10
        assert board.san(chess.Move.from_uci(move)) in line
        best = int(line.partition("; ce ")[2].partition(";")[0])
        second, less = line.partition('c0 "')[2].partition('"')[0].split(" ")
        assert board.parse_san(second).uci() != move
        ahead = [1.0 / (1.0 + 10.0 ** (-worth / 400.0)) for worth in (best, int(less))]
        assert ahead[0] - ahead[1] >= 0.15


def test_tablebases_agree_on_the_endings() -> None:
    folder = Path(sys.prefix) / "share" / "syzygy"
    assert folder.is_dir(), f"'make test' installs tablebases; or: anabranch tablebases fetch --to {folder}"
    assert len(endings()) == 200
    value = {2: 1, -2: -1}
    with chess.syzygy.open_tablebase(str(folder)) as tables:
        for ending in endings()[::5]:
            board = chess.Board(ending["position"])
            assert board.is_valid()
            assert {move.uci() for move in board.legal_moves} == set(ending["values"])
            assert len(set(ending["values"].values())) > 1
            # The value of the position is that of its best move.
            assert value.get(tables.probe_wdl(board), 0) == max(ending["values"].values())
            for move, worth in ending["values"].items():
                board.push_uci(move)
                if not board.is_game_over():
                    assert -value.get(tables.probe_wdl(board), 0) == worth
                board.pop()
