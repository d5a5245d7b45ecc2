"""The typed settings against the core's table."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import anabranch
from anabranch import Engine, Settings, _core, presets, settings_table
from anabranch.errors import SettingError
from anabranch.jobs.executor import cores

pytestmark = pytest.mark.usefixtures("material_by_default")


def test_the_mirror_is_true() -> None:
    rows = {row.name: row for row in settings_table()}
    types = get_type_hints(Settings)
    assert [field.name for field in fields(Settings)] == list(rows)
    for field in fields(Settings):
        row, kind = rows[field.name], types[field.name]
        assert field.default == row.default, field.name
        if get_origin(kind) is Literal:
            assert get_args(kind) == row.choices, field.name
        else:
            assert kind is type(row.default), field.name


def test_every_field_is_documented_as_in_the_core() -> None:
    assert anabranch.__file__ is not None
    source = (Path(anabranch.__file__).parent / "settings.py").read_text(encoding="utf-8")
    words = " ".join(source.split())
    for row in settings_table():
        assert f'"""{row.meaning}"""' in words, row.name


@pytest.mark.parametrize("name", presets())
def test_presets_are_those_of_the_core(name: str) -> None:
    assert asdict(Settings.preset(name)) == _core.preset(name)
    assert Engine(preset=name, threads=1).settings == Settings.preset(name)


BAD_VALUES = [
    ("c_init", -1.0), ("c_init", float("nan")), ("c_init", "much"), ("batch_size", 0), ("batch_size", 1.5),
    ("batch_size", 10**50), ("seed", -1), ("memory", 1), ("backup", "graph"), ("solver", 2), ("solver", None),
    ("threads", [1]), ("evaluator", "stockfish"), ("no_such_setting", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_bad_values_are_refused_and_change_nothing(name: str, value: Any) -> None:
    with pytest.raises(SettingError, match=name):
        Engine(**{name: value})
    engine = Engine(c_init=3.0)
    engine.search(simulations=50)
    if value is not None or name != "evaluator":
        with pytest.raises(SettingError, match=name):
            engine.configure(**{name: value})
    assert engine.settings == Settings(c_init=3.0, threads=cores())
    assert engine.search(simulations=50).finish == "limit"


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(SettingError, match="no preset 'paper'; the presets are alphazero"):
        Engine(preset="paper")


def test_words_are_read_as_on_the_command_line() -> None:
    changed = Settings().changed({"solver": "off", "batch_size": "32", "c_init": "2"})
    assert (changed.solver, changed.batch_size, changed.c_init) == (False, 32, 2.0)


def test_whole_numbers_become_what_the_type_says() -> None:
    assert type(Settings(c_init=2).c_init) is float


def test_configuration_keeps_the_graph_where_it_means_the_same() -> None:
    engine = Engine()
    engine.search(simulations=500)
    engine.configure(c_init=3.0)
    assert engine.result().statistics.root_visits > 400
    engine.configure(node_temperature=1.7)
    assert engine.result().statistics.root_visits == 0
