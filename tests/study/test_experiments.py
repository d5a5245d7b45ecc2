"""Experiments: complete, valid, and about what they say."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import pytest
from tests.support.tables import TABLES

from anabranch.errors import StudyError
from anabranch.match.engine_player import read_settings
from anabranch.match.openings import rules_of
from anabranch.match.player import PlayerSpec
from anabranch.match.runner import check_match
from anabranch.settings import Settings, presets
from anabranch.study import paper
from anabranch.study.experiments import EXPERIMENTS, find_experiment, gumbel, solvers, ucd
from anabranch.study.experiments.games import GAMES
from anabranch.study.experiments.matches import WIDTH
from anabranch.study.experiments.measurements import FILES
from anabranch.study.experiments.only_moves import only_moves
from anabranch.study.experiments.proofs import mates
from anabranch.study.experiments.regret import endings
from anabranch.study.measure import KINDS
from anabranch.study.plan import SCALES, VARIANTS, Size, Study

OF_PAPER = {"mcgs-vs-tree", "scaling", "ablation", "memory", "reuse"}
OURS = {
    "settings", "leave-one-out", "backups", "merge", "virtual", "q-epsilon", "leak", "proofs", "regret",
    "only-moves", "games", "ucd", "solvers", "gumbel", "dose", "width", "tuning", "moves",
}  # fmt: skip
OF_LITERATURE = {"gumbel", "uct", "uct+solver", "ucd", "update-all"}
"""Presets that other experiments compare."""
OWN_VARIANTS = {
    "regret": ("chess",),
    "games": GAMES,
    "ucd": (*ucd.GAMES, ucd.LEFT_RIGHT),
    "solvers": solvers.GAMES,
    "gumbel": gumbel.GAMES,
}
DATA = Path(__file__).parent.parent / "data"


def test_every_experiment_is_listed() -> None:
    assert set(EXPERIMENTS) == OF_PAPER | OURS
    assert {name for name, experiment in EXPERIMENTS.items() if experiment.of_paper} == OF_PAPER
    with pytest.raises(StudyError, match=r"there is no experiment albation; there are .*ablation"):
        find_experiment("albation")


@pytest.mark.parametrize("name", sorted(OF_PAPER | OURS))
@pytest.mark.parametrize("scale", SCALES)
def test_an_experiment_can_be_played(name: str, scale: str) -> None:
    experiment = EXPERIMENTS[name]
    plan = experiment.plan(experiment.study(scale))
    keys = [part.key for part in plan.matches] + [part.key for part in plan.measurements]
    assert keys
    assert len(set(keys)) == len(keys)
    for match in plan.matches:
        check_match(match.spec)
        assert match.spec.games == 2 * (experiment.sizes[scale].pairs or 0)
        # All there are after two plies of tic-tac-toe.
        assert len(match.spec.openings) >= (72 if match.variant == "tic-tac-toe" else 500)
    for measurement in plan.measurements:
        about = measurement.about
        read_settings(PlayerSpec("any", "preset", about["preset"], about["settings"]))
        assert measurement.kind in KINDS
        assert json.loads(json.dumps(about)) == about
    variants = {part.variant for part in plan.matches} | {part.variant for part in plan.measurements}
    assert variants == set(OWN_VARIANTS.get(name, VARIANTS))


def test_scales_grow() -> None:
    for experiment in EXPERIMENTS.values():
        tiny, small, full = (experiment.sizes[scale].to_dict() for scale in SCALES)
        for name in full:
            least, middle, most = (
                max(size[name]) if isinstance(size[name], list) else size[name]
                for size in (tiny, small, full)
            )
            assert least <= middle <= most
            assert least < most


def test_the_ablation_tries_every_preset_against_alphazero() -> None:
    experiment = EXPERIMENTS["ablation"]
    plan = experiment.plan(experiment.study("full"))
    for variant in VARIANTS:
        tried = [match for match in plan.matches if match.variant == variant]
        assert {match.name for match in tried} == set(presets()) - {"alphazero"} - OF_LITERATURE
        assert {match.spec.players[1].target for match in tried} == {"alphazero"}
    assert {player.budget.evaluations for one in plan.matches for player in one.spec.players} == {3_000}
    assert plan.matches[0].spec.pairs >= 250


def test_scaling_has_stockfish_as_the_paper_has_it() -> None:
    experiment = EXPERIMENTS["scaling"]
    plan = experiment.plan(experiment.study("full"))
    found = {
        (match.variant, player.target, player.budget.nodes)
        for match in plan.matches
        for player in match.spec.players
        if player.kind == "uci"
    }
    assert found == {
        *(("chess", "stockfish", nodes) for nodes in (1_000, 10_000)),
        *(("crazyhouse", "fairy-stockfish", 10**digits) for digits in (3, 4, 5, 6)),
    }
    without = experiment.study(
        "tiny", size=experiment.sizes["tiny"].changed("scaling", {"reference_nodes": (0,)})
    )
    players = [player for one in experiment.plan(without).matches for player in one.spec.players]
    assert {player.kind for player in players} == {"preset"}


def test_scaling_connects_all_searches_and_numbers_of_nodes() -> None:
    experiment = EXPERIMENTS["scaling"]
    size = experiment.sizes["tiny"].changed("scaling", {"reference_nodes": (50, 200)})
    plan = experiment.plan(experiment.study("tiny", size=size)).chosen(("chess",))
    found = {tuple(player.name for player in match.spec.players) for match in plan.matches}
    assert found == {
        ("mcgs-combined 8", "alphazero 8"), ("mcgs-combined 16", "alphazero 16"),
        ("default 8", "mcgs-combined 8"), ("default 16", "mcgs-combined 16"),
        ("alphazero 16", "alphazero 8"), ("mcgs-combined 16", "mcgs-combined 8"), ("default 16", "default 8"),
        *(
            (f"{preset} {budget}", f"stockfish {nodes} nodes")
            for preset in ("mcgs-combined", "default") for budget in (8, 16) for nodes in (50, 200)
        ),
    }  # fmt: skip
    assert len(found) == len(plan.matches)


def test_what_is_tried_differs_from_the_base_in_what_it_says() -> None:
    for name, setting in (("merge", "merge"), ("virtual", "virtual_"), ("q-epsilon", "q_epsilon")):
        experiment = EXPERIMENTS[name]
        for match in experiment.plan(experiment.study("tiny")).matches:
            tried, base = match.spec.players
            assert (tried.target, base.target) == ("mcgs-combined", "mcgs-combined")
            assert set(base.options) == set(WIDTH)
            own = {name: value for name, value in tried.options.items() if name not in base.options}
            assert own
            assert tried.options == {**base.options, **own}
            assert all(option.startswith(setting) for option in own)
    experiment = EXPERIMENTS["backups"]
    tried_pairs = set()
    for match in experiment.plan(experiment.study("tiny")).matches:
        checked = Settings.preset("mcgs-combined").changed(match.spec.players[0].options)
        tried_pairs.add((checked.backup, checked.stop))
    assert len(tried_pairs) == 9
    modes = ["tree", "tree+cache", "naive", "paper", "delta", "recompute"]
    assert {backup for backup, _ in tried_pairs} == set(modes)
    assert ("paper", "gap") not in tried_pairs


def test_doses_and_widths_are_what_their_names_say() -> None:
    plan = EXPERIMENTS["dose"].plan(EXPERIMENTS["dose"].study("tiny"))
    for tried, base in (match.spec.players for match in plan.matches):
        kind, dose = tried.name.split()
        settings = Settings.preset(tried.target).changed(tried.options)
        other = {"greedy": "epsilon_checks", "checks": "epsilon_greedy"}[kind]
        assert (getattr(settings, f"epsilon_{kind}"), getattr(settings, other)) == (float(dose), 0.0)
        assert settings.changed({f"epsilon_{kind}": 0}) == Settings.preset(base.target).changed(base.options)
    plan = EXPERIMENTS["width"].plan(EXPERIMENTS["width"].study("tiny"))
    for tried, base in (match.spec.players for match in plan.matches):
        alone = Settings.preset(base.target).changed(base.options)
        assert (alone.width_visits, alone.batch_size, alone.batches_in_flight) == (0, 1, 1)
        settings = Settings.preset(tried.target).changed(tried.options)
        if tried.name != "default":
            most = settings.batch_size * settings.batches_in_flight
            assert (settings.width_visits, most) == (0, int(tried.name.split()[0]))


def test_our_settings_lead_from_the_paper_to_the_default_and_each_part_can_be_left_out() -> None:
    def settings_tried(name: str) -> list[tuple[Settings, ...]]:
        plan = EXPERIMENTS[name].plan(EXPERIMENTS[name].study("tiny"))
        return [
            tuple(Settings.preset(player.target).changed(player.options) for player in match.spec.players)
            for match in plan.matches
        ]

    default = Settings.preset("default")
    together: dict[str, Any] = {}
    for tried, base in settings_tried("settings"):
        changed = {key: value for key, value in asdict(tried).items() if value != getattr(base, key)}
        if tried != default:
            assert changed
            assert together.items() >= changed.items() or not together.keys() & changed.keys()
            together |= changed
    assert Settings.preset("mcgs-combined").changed(together) == default
    for tried, base in settings_tried("leave-one-out"):
        assert base == default != tried


def test_both_sides_have_the_leaves_in_flight_of_the_default() -> None:
    def width(preset: str, options: dict[str, str]) -> list[int]:
        settings = Settings.preset(preset).changed(options)
        return [getattr(settings, name) for name in WIDTH]

    for name in ("ablation", "scaling", "mcgs-vs-tree", "dose", "backups", "merge", "q-epsilon"):
        plan = EXPERIMENTS[name].plan(EXPERIMENTS[name].study("tiny"))
        for match in plan.matches:
            for player in match.spec.players:
                if player.kind == "preset":
                    assert width(player.target, player.options) == width("default", {})
    for name in ("memory", "leak", "proofs", "regret", "reuse", "only-moves"):
        for one in EXPERIMENTS[name].plan(EXPERIMENTS[name].study("tiny")).measurements:
            assert width(one.about["preset"], one.about["settings"]) == width("default", {})
    for one in EXPERIMENTS["moves"].plan(EXPERIMENTS["moves"].study("tiny")).measurements:
        if one.group in ("ablation 16", "dose 16"):
            for search in (one.about, one.about["base"], one.about["judge"]):
                assert width(search["preset"], search["settings"]) == width("default", {})
    for side in solvers.SIDES:
        if side.preset == "mcgs":
            assert width(side.preset, side.options) == width("mcgs", {})
    plan = EXPERIMENTS["settings"].plan(EXPERIMENTS["settings"].study("tiny", settings={"width_visits": "0"}))
    tried = [match.spec.players[0] for match in plan.matches if match.name == "width"]
    assert [width(player.target, player.options) for player in tried] == [width("default", {})] * 2
    for name in ("virtual", "settings"):
        plan = EXPERIMENTS[name].plan(EXPERIMENTS[name].study("tiny"))
        for base in (match.spec.players[1] for match in plan.matches):
            assert width(base.target, base.options) == width("mcgs-combined", {}) != width("default", {})
    given = EXPERIMENTS["ablation"].study("tiny", settings={"width_visits": "0"})
    for match in EXPERIMENTS["ablation"].plan(given).matches:
        assert {player.options["width_visits"] for player in match.spec.players} == {"0"}


def test_settings_of_a_study_reach_every_engine_but_not_over_what_is_tried() -> None:
    for experiment in EXPERIMENTS.values():
        settings = {"c_init": "2.1", "backup": "tree"}
        plan = experiment.plan(experiment.study("tiny", settings=settings))
        for match in plan.matches:
            for player in match.spec.players:
                if not player.name.startswith("c_init "):
                    assert player.options.get("c_init") == ("2.1" if player.kind == "preset" else None)
        for one in plan.measurements:
            if not one.name.startswith("c_init "):
                assert one.about["settings"]["c_init"] == "2.1"
    tried = [
        one.about["settings"]["backup"]
        for one in EXPERIMENTS["leak"].plan(EXPERIMENTS["leak"].study("tiny", settings=settings)).measurements
    ]
    assert set(tried) == {"tree", "naive", "paper", "delta", "recompute"}


def test_tables_are_for_chess() -> None:
    experiment = EXPERIMENTS["ablation"]
    for match in experiment.plan(experiment.study("tiny", tablebases="tables")).matches:
        expected = "tables" if match.variant == "chess" else None
        assert match.spec.adjudication.tablebases == expected
        assert {player.options.get("tablebases") for player in match.spec.players} == {expected}


def test_sizes_that_an_experiment_has_not_are_refused() -> None:
    size = EXPERIMENTS["memory"].sizes["tiny"]
    with pytest.raises(StudyError, match="the experiment memory has no pairs; it has positions, simulations"):
        size.changed("memory", {"pairs": 3})
    with pytest.raises(StudyError, match="positions are numbers from 1 on, not 0"):
        size.changed("memory", {"positions": 0})
    with pytest.raises(StudyError, match="there is no scale huge; there are tiny, small, full"):
        EXPERIMENTS["memory"].study("huge")


def test_a_study_is_what_was_stored() -> None:
    for experiment in EXPERIMENTS.values():
        study = experiment.study("full", settings={"c_init": "2.0"}, seed=3)
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
        assert sorted(one["position"] for one in mates(variant)) == sorted(lines)
        lengths = [
            int(line.split(" dm ")[1].partition(";")[0])
            for line in (one["position"] for one in mates(variant))
        ]
        assert lengths[:5] == [1, 2, 3, 4, 5]
        assert len(lengths) == 64


@pytest.mark.parametrize("variant", VARIANTS)
def test_only_moves_are_legal_and_far_ahead(variant: str) -> None:
    lines = [
        line for line in (FILES / f"only-moves-{variant}.epd").read_text().splitlines() if line[0] != "#"
    ]
    found = only_moves(variant)
    assert len({one["position"] for one in found}) == len(found) == len(lines) == 100
    for line, one in zip(lines, found, strict=True):
        board, move = rules_of(variant)(one["position"]), one["move"]
        assert board.is_valid()
        assert board.legal_moves.count() >= 10
        assert board.san(chess.Move.from_uci(move)) in line
        best = int(line.partition("; ce ")[2].partition(";")[0])
        second, less = line.partition('c0 "')[2].partition('"')[0].split(" ")
        assert board.parse_san(second).uci() != move
        ahead = [1.0 / (1.0 + 10.0 ** (-worth / 400.0)) for worth in (best, int(less))]
        assert ahead[0] - ahead[1] >= 0.15


def test_tablebases_agree_on_the_endings() -> None:
    assert len(endings()) == 200
    value = {2: 1, -2: -1}
    with chess.syzygy.open_tablebase(str(TABLES)) as tables:
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
