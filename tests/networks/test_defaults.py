"""Settings that nobody has set: the same by every door for the same preset, variant and evaluator."""

from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any

import pytest
from tests.support.commands import Commands
from tests.support.engine_session import Session

from anabranch import Engine, Settings
from anabranch.cli.options import make_engine, read_changes
from anabranch.defaults import OUTSIDE, is_in_core, resolve, tuned
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.match.engine_player import EnginePlayer
from anabranch.match.player import PlayerSpec
from anabranch.networks.shipped import bundled
from anabranch.strength import Handicap
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.folder import circumstances
from anabranch.study.measure import engine_of
from anabranch.web.messages import Game, SearchConfig
from anabranch.web.searches import ClientSearches, Resources
from anabranch.web.server import ServerOptions, greeting


def by_engine(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    numbers: dict[str, Any] = {name: float(value) for name, value in changes.items()}
    return Engine(variant, preset, evaluator=evaluator, **numbers).settings


def by_changes(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    engine = Engine(variant, preset)
    numbers: dict[str, Any] = {name: float(value) for name, value in changes.items()}
    engine.configure(evaluator=evaluator, **numbers)
    return engine.settings


def by_command(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    words = [f"{name}={value}" for name, value in changes.items()]
    return make_engine(variant, preset, changes=read_changes(words, evaluator)).settings


def by_player(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    player = EnginePlayer(PlayerSpec("a", "preset", preset, {**changes, "evaluator": evaluator}), variant)
    player.new_game(0)
    assert player._engine is not None
    return player._engine.settings


def by_study(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    return engine_of(variant, preset, {**changes, "evaluator": evaluator}).settings


def by_uci(variant: str, preset: str, evaluator: str, changes: dict[str, str]) -> Settings:
    with Session() as session:
        options = {"UCI_Variant": variant, "Preset": preset, **changes}
        if evaluator == "material":
            options["Backend"] = "material"
        elif evaluator != "network":
            options["EvalFile"] = evaluator
        for name, value in options.items():
            session.send(f"setoption name {name} value {value}")
        session.send("isready")
        session.rest()
        return session.session.engine.settings


DOORS = [by_engine, by_changes, by_command, by_player, by_study, by_uci]
CHESS = str(bundled("chess"))
LC0 = str(Path(__file__).parents[1] / "data/lc0/tinygyal-8.pb.gz")
CASES = [
    ("chess", "default", "network", {}, 1.5),
    ("chess", "default", "material", {}, 2.5),
    ("chess", "default", CHESS, {}, 1.5),
    ("chess", "mcgs", "network", {}, 2.5),
    ("chess", "default", "network", {"c_init": "2.0"}, 2.0),
    ("chess", "default", "material", {"c_init": "1.0"}, 1.0),
    ("crazyhouse", "default", "network", {}, 2.5),
    ("antichess", "default", "material", {}, 2.5),
    ("chess", "default", LC0, {}, 1.75),
    ("chess", "default", LC0, {"c_init": "2.0"}, 2.0),
    ("chess", "mcgs", LC0, {}, 2.5),
]


@pytest.mark.parametrize(("variant", "preset", "evaluator", "changes", "expected"), CASES)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_leads_to_the_same_settings(
    door: Any, variant: str, preset: str, evaluator: str, changes: dict[str, str], expected: float
) -> None:
    if door in (by_command, by_player, by_study) and evaluator == CHESS:
        evaluator = "network"  # a name there
    found = door(variant, preset, evaluator, changes)
    assert found.c_init == expected
    assert resolve(preset, variant, evaluator, changes).c_init == expected


def test_networks_of_lc0_have_the_values_of_its_search(tmp_path: Path) -> None:
    expected = {"c_init": 1.75, "node_temperature": 1.36, "urgency_reduction": 0.33}
    opened = resolve_evaluator(LC0)
    assert isinstance(opened, OnnxNetwork)
    converted = tmp_path / "converted.onnx"
    converted.write_bytes(opened.file.content)
    for evaluator in (LC0, opened, converted):
        assert tuned("default", "chess", evaluator) == {**OUTSIDE, **expected}
    assert tuned("default", "crazyhouse", "crazyhouse-rise") == OUTSIDE
    # A network that somebody has trained is searched like that of the package.
    assert tuned("default", "chess", tmp_path / "mine.safetensors") == tuned("default", "chess", "network")
    settings = Engine("chess", evaluator=converted).settings
    assert {name: getattr(settings, name) for name in expected} == expected


def test_the_command_shows_what_it_searched_with(tmp_path: Path, cli: Commands) -> None:
    copy = tmp_path / "mine.safetensors"
    copyfile(CHESS, copy)
    for words, expected in [
        ([], 1.5),
        (["-e", "material"], 2.5),
        (["-e", "material", "--set", "c_init=1.7"], 1.7),
        (["--network", str(copy)], 1.5),
        (["--preset", "mcgs"], 2.5),
    ]:
        assert cli.json("analyse", "--simulations", "20", *words)["settings"]["c_init"] == expected, words


@pytest.mark.parametrize("recipe", ["default", "mcgs"])
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_the_board_in_the_browser_has_what_its_page_shows(recipe: str, variant: str) -> None:
    searches = ClientSearches(Resources(memory=64 << 20))
    game = Game.model_validate({"variant": variant, "fen": Engine(variant).position})
    plain = SearchConfig(preset=recipe)
    engine = searches._engine(0, game, plain)
    assert engine.settings.c_init == Engine(variant, recipe).settings.c_init
    shown = greeting(ServerOptions())["presets"][recipe][variant]
    assert shown["c_init"] == engine.settings.c_init
    changed = SearchConfig(preset=recipe, changes={"c_init": 3.0})
    assert searches._engine(0, game, changed).settings.c_init == 3.0
    assert searches._engine(0, game, plain).settings.c_init == shown["c_init"]
    engine.configure(evaluator="material")
    assert searches._engine(0, game, plain).settings.c_init == 2.5
    engine.configure(evaluator="network")
    assert searches._engine(0, game, plain).settings.c_init == shown["c_init"]


def test_a_living_engine_follows_its_evaluator_and_its_user_wins() -> None:
    engine = Engine("chess")
    for evaluator, expected in [("material", 2.5), ("network", 1.5), ("hash", 2.5), (CHESS, 1.5)]:
        engine.configure(evaluator=evaluator)
        assert engine.settings.c_init == expected
    engine.configure(c_init=2.0)
    for evaluator in ("material", "network"):
        engine.configure(evaluator=evaluator)
        assert engine.settings.c_init == 2.0


def test_a_living_uci_session_follows_its_evaluator_both_ways() -> None:
    with Session() as session:
        for option, value, expected in [
            ("Backend", "auto", 1.5),
            ("Backend", "material", 2.5),
            ("Backend", "auto", 1.5),
            ("Preset", "mcgs", 2.5),
            ("Preset", "standard", 1.5),
            ("c_init", "3.5", 3.5),
            ("Backend", "material", 3.5),
        ]:
            session.send(f"setoption name {option} value {value}")
            session.send("isready")
            session.rest()
            assert session.session.engine.settings.c_init == expected, (option, value)


def test_a_saved_search_keeps_its_settings(tmp_path: Path) -> None:
    for changes, c_init in [({}, 1.5), ({"c_init": 2.25}, 2.25)]:
        engine = Engine("chess", evaluator="material", **changes)  # type: ignore[arg-type]
        engine.search(simulations=20)
        engine.save(tmp_path / "saved")
        loaded = Engine.load(tmp_path / "saved")
        assert loaded.settings == engine.settings
        loaded.configure(evaluator="network")
        assert loaded.settings.c_init == c_init


def test_a_study_says_what_its_engines_had() -> None:
    cases: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({}, {"chess": {"c_init": 1.5}}),
        ({"evaluator": "network"}, {"chess": {"c_init": 1.5}}),
        ({"evaluator": "material"}, {}),
    ]
    for settings, expected in cases:
        study = EXPERIMENTS["regret"].study("tiny", settings=settings)
        assert circumstances(study, EXPERIMENTS["regret"].plan(study))["tuned"] == expected


def test_what_lives_in_the_core() -> None:
    assert is_in_core("material")
    assert is_in_core(Engine("chess").evaluator)
    assert is_in_core(None)
    assert not is_in_core(lambda planes: planes)
    assert not is_in_core("net.onnx")
    assert tuned("default", "chess", lambda planes: planes) == OUTSIDE
    assert tuned("mcgs", "chess", lambda planes: planes) == {}


def test_a_loaded_search_follows_its_evaluator_too(tmp_path: Path) -> None:
    def judge(planes: Any) -> Any:
        return [0.0] * len(planes), [[0.0] * Engine("chess").shape[1]] * len(planes)

    path = tmp_path / "search.anabranch"
    for saved, loaded, c_init, width in [
        ("network", "material", 2.5, Settings().width_visits),
        ("material", "network", 1.5, Settings().width_visits),
        ("network", judge, 2.5, 8),
        ("material", "material", 2.5, Settings().width_visits),
    ]:
        engine = Engine("chess", evaluator=saved)
        engine.search(simulations=50)
        engine.save(path)
        settings = Engine.load(path, loaded).settings  # type: ignore[arg-type]
        assert (settings.c_init, settings.width_visits) == (c_init, width)
    engine = Engine("chess", evaluator=LC0)
    engine.search(simulations=50)
    engine.save(path)
    engine = Engine.load(path, LC0)
    assert engine.settings.c_init == 1.75
    engine.configure(evaluator="network")
    assert (engine.settings.c_init, engine.settings.node_temperature) == (1.5, 1.0)
    engine = Engine("chess", c_init=3.5, width_visits=7)
    engine.search(simulations=50)
    engine.save(path)
    settings = Engine.load(path, "material").settings
    assert (settings.c_init, settings.width_visits) == (3.5, 7)


def test_limited_strength_searches_as_when_it_was_measured() -> None:
    engine = Engine("chess")
    engine.configure(**Handicap.of(1500).settings(Random(1)))
    assert (engine.settings.c_init, engine.settings.width_visits) == (2.5, 0)
