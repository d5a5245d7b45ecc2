"""Saved graphs: the same after loading, and never anything from a damaged file."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import Commands

from anabranch import Engine, Result, errors
from anabranch.evaluators import Planes

pytestmark = pytest.mark.usefixtures("material_by_default")

OF_LATER_VERSIONS = (b"width_visits", b"width_linear", b"wave_least", b"mate_root")
MIDDLEGAME = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
CRAZYHOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"


WIDTH = Engine().shape[1]


def same(one: Result, other: Result) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in ("moves", "lines", "value", "solved"))


def mean_of_planes(planes: Planes) -> tuple[Any, Any]:
    """An evaluator of Python."""
    return planes.mean(axis=(1, 2, 3)), np.zeros((len(planes), WIDTH), np.float32)


@pytest.mark.parametrize(
    ("variant", "position", "settings"),
    [
        ("chess", MIDDLEGAME, {}),
        ("chess", "startpos moves e2e4 e7e5", {"preset": "alphazero"}),
        ("crazyhouse", CRAZYHOUSE, {"evaluator": "hash", "seed": 2**64 - 1}),
        ("3check", "startpos", {"backup": "recompute", "merge": "clock"}),
        ("crazyhouse", CRAZYHOUSE, {"pn_weight": 0.3}),
        ("chess960", "startpos", {"q_epsilon": 0.1 + 0.2}),
    ],
)
def test_both_go_on_alike(tmp_path: Path, variant: str, position: str, settings: dict[str, Any]) -> None:
    engine = Engine(variant, **settings)
    before = engine.search(position, simulations=1500)
    path = tmp_path / "search.anabranch"
    engine.save(path)
    loaded = Engine.load(str(path))
    assert (loaded.variant, loaded.chess960) == (engine.variant, engine.chess960)
    assert loaded.settings == engine.settings
    assert loaded.board() == engine.board()
    assert loaded.board().move_stack == engine.board().move_stack
    assert same(loaded.result(), before)
    assert loaded.graph(nodes=100_000) == engine.graph(nodes=100_000)
    assert same(loaded.search(simulations=1000), engine.search(simulations=1000))
    assert loaded.graph(nodes=100_000) == engine.graph(nodes=100_000)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_python_evaluators_are_given_again(tmp_path: Path) -> None:
    engine = Engine(evaluator=mean_of_planes)
    engine.search(MIDDLEGAME, simulations=500)
    path = tmp_path / "search.anabranch"
    engine.save(path)
    without = Engine.load(path)
    assert same(without.result(), engine.result())
    with pytest.raises(errors.EvaluatorError, match="given again"):
        without.search(simulations=10)
    loaded = Engine.load(path, evaluator=mean_of_planes)
    assert same(loaded.search(simulations=500), engine.search(simulations=500))
    assert Engine.load(path, evaluator="material").search(simulations=100).statistics.root_visits <= 100


MOST_VISITS = 2**32 - 1 - 2**18


def worn(engine: Engine, path: Path, *, node: int, edge: int) -> None:
    """Save a search as if its root and the first edge of it had so many visits."""
    engine.save(path)
    content = bytearray(path.read_bytes()[:-4])
    root = 12 + int.from_bytes(content[8:12], "little") + 12
    first = root + 41  # key 8, salt 4, visits 4, value 8, raw 4, six counts of 2, state 1
    content[root + 12 : root + 16] = node.to_bytes(4, "little")
    content[first + 12 : first + 16] = edge.to_bytes(4, "little")
    path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))


@pytest.mark.parametrize("external", [False, True])
def test_a_search_ends_before_visits_wrap(tmp_path: Path, external: bool) -> None:
    engine = Engine(evaluator=mean_of_planes if external else None)
    engine.search(MIDDLEGAME, simulations=300)
    path = tmp_path / "search.anabranch"
    worn(engine, path, node=MOST_VISITS - 200, edge=MOST_VISITS - 1000)
    loaded = Engine.load(path, evaluator=mean_of_planes if external else None)
    result = loaded.search(simulations=1_000_000)
    assert (result.finish, result.statistics.root_visits >= MOST_VISITS) == ("visits", True)
    assert result.statistics.simulations < 1000
    assert result.remark is not None
    assert "as many visits as can be counted" in result.remark
    assert sum(row.visits for row in result.moves) < result.statistics.root_visits < 2**32
    again = loaded.search(simulations=100)
    assert (again.finish, again.statistics.simulations, again.best_move) == ("visits", 0, result.best_move)
    loaded.forget()
    fresh = loaded.search(simulations=100)
    assert (fresh.finish, fresh.statistics.simulations, fresh.remark) == ("limit", 100, None)


def test_the_command_says_that_visits_are_spent(tmp_path: Path, cli: Commands) -> None:
    engine = Engine()
    engine.search(MIDDLEGAME, simulations=300)
    path = tmp_path / "search.anabranch"
    worn(engine, path, node=MOST_VISITS, edge=MOST_VISITS - 1000)
    assert "as many visits as can be counted" in " ".join(
        cli.shows("analyse", "--load", path, "--simulations", "50").split()
    )
    assert cli.json("analyse", "--load", path, "--simulations", "50")["finish"] == "visits"


def test_a_file_of_a_version_without_width_waves_and_mates_goes_on_without_them(tmp_path: Path) -> None:
    engine = Engine(preset="mcgs")
    engine.search(MIDDLEGAME, simulations=300)
    path = tmp_path / "search.anabranch"
    engine.save(path)
    content = path.read_bytes()[:-4]
    end = 12 + int.from_bytes(content[8:12], "little")
    lines = content[12:end].splitlines(keepends=True)
    later = tuple(b"setting.%b=" % name for name in OF_LATER_VERSIONS)
    header = b"".join(line for line in lines if not line.startswith(later))
    assert len(header) < end - 12
    content = content[:8] + len(header).to_bytes(4, "little") + header + content[end:]
    path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    loaded = Engine.load(path)
    settings = loaded.settings
    assert settings.width_visits == settings.width_linear == settings.wave_least == settings.mate_root == 0
    assert same(loaded.search(simulations=300), engine.search(simulations=300))


def test_counters_that_disagree_are_refused(tmp_path: Path) -> None:
    engine = Engine()
    engine.search(MIDDLEGAME, simulations=300)
    path = tmp_path / "search.anabranch"
    worn(engine, path, node=301, edge=2**32 - 1)
    with pytest.raises(errors.GraphFileError, match="the counters of a node disagree"):
        Engine.load(path)


def test_damage_is_always_noticed(tmp_path: Path) -> None:
    engine = Engine()
    engine.search(MIDDLEGAME, simulations=200)
    path, damaged = tmp_path / "search.anabranch", tmp_path / "damaged.anabranch"
    engine.save(path)
    whole = path.read_bytes()
    attempts = [
        whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        for place in range(0, len(whole), 97)
    ]
    attempts += [whole[:length] for length in range(0, len(whole), 997)]
    attempts += [whole + b"\0", b"\x89PNG\r\n\x1a\n" + bytes(100), b"", b"ANABRCH\x01"]
    for attempt in attempts:
        damaged.write_bytes(attempt)
        with pytest.raises(errors.GraphFileError, match="damaged or not a graph file"):
            Engine.load(damaged)
        with pytest.raises(errors.GraphFileError):
            engine._session.load(damaged)
    assert engine.search(simulations=50).statistics.root_visits > 200


def test_files_that_cannot_be_reached(tmp_path: Path) -> None:
    engine = Engine()
    for act in (
        lambda: Engine.load(tmp_path / "missing"),
        lambda: Engine.load(tmp_path),
        lambda: engine.save(tmp_path / "missing" / "search"),
        lambda: engine.save(tmp_path),
    ):
        with pytest.raises(errors.GraphAccessError):
            act()
        with pytest.raises(OSError, match=f"graph file {tmp_path}.* cannot be"):
            act()
    assert list(tmp_path.iterdir()) == []
    assert engine.search(simulations=50).finish == "limit"


def test_another_variant_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.anabranch"
    Engine("crazyhouse").save(path)
    engine = Engine()
    with pytest.raises(errors.GraphFileError, match="another variant"):
        engine._session.load(path)
    assert Engine.load(path).variant == "crazyhouse"
