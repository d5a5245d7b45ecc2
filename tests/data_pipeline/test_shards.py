"""Shards: files that prove themselves, and what is found wrong with others."""

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.data.check import check_folders
from anabranch.data.shards import (
    Damage,
    find_shards,
    game_number,
    held_out,
    read_shard,
    read_shards,
    remove_repeated_games,
    replace_shard,
    write_shard,
)
from anabranch.data.stats import collect
from anabranch.errors import DataError
from anabranch.optional import lacking

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
NOTES = {"variant": "chess"}


def game(number: int, result: int = 1, score: int = 20) -> list[dict[str, Any]]:
    common = {"game": number, "source": "test", "scores": [score, 0], "score": score, "value": 0.1}
    return [
        {**common, "ply": 0, "fen": START, "move": "e2e4", "moves": ["e2e4", "d2d4"], "weights": [0.75, 0.25],
         "result": result},
        {**common, "ply": 1, "fen": AFTER, "move": "e7e5", "moves": ["e7e5", "c7c5"], "weights": [0.5, 0.5],
         "result": -result, "score": -score},
    ]  # fmt: skip


def reasons(folder: Path) -> list[str]:
    return [fault.reason for fault in check_folders([folder], every_position=True).faults]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write_shard(tmp_path, 3, game(7), NOTES)
    assert path.name == f"000003-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}.parquet"
    (shard,) = find_shards(tmp_path)
    rows = read_shard(shard).to_pylist()
    assert rows[0]["moves"] == ["e2e4", "d2d4"]
    assert rows[1]["result"] == -1
    assert reasons(tmp_path) == []


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(b""),
        lambda path: path.rename(path.with_name("000001-0123456789abcdef.parquet")),
        lambda path: path.rename(path.with_name("games.parquet")),
    ],
    ids=["bit", "short", "empty", "wrong checksum", "wrong name"],
)
def test_damaged_shards_are_named_and_left_out(
    tmp_path: Path, damage: Callable[[Path], object], cli: Commands
) -> None:
    write_shard(tmp_path, 0, game(7), NOTES)
    damage(write_shard(tmp_path, 1, game(8), NOTES))
    write_shard(tmp_path, 2, game(9), NOTES)
    found: list[Damage] = []
    games = [table.column("game")[0].as_py() for _, table in read_shards([tmp_path], "chess", found.append)]
    assert games == [7, 9]
    assert len(found) == 1
    assert str(found[0].path) in found[0].reason
    assert str(found[0].path) in cli.run("data", "check", tmp_path, code=2).out
    said = cli.run("data", "stats", tmp_path, "--json")
    assert json.loads(said.out)["games"] == 2
    assert said.err.strip() == found[0].reason


def test_a_shard_of_another_variant_is_refused(tmp_path: Path) -> None:
    write_shard(tmp_path, 0, game(7), NOTES)
    with pytest.raises(DataError, match="positions of chess, not of crazyhouse"):
        list(read_shards([tmp_path], "crazyhouse"))


def test_no_game_is_read_twice(tmp_path: Path) -> None:
    write_shard(tmp_path, 0, game(7) + game(8), NOTES)
    write_shard(tmp_path, 1, game(9) + game(7), NOTES)
    read = [row["game"] for _, table in read_shards([tmp_path]) for row in table.to_pylist()]
    assert read == [7, 7, 8, 8, 9, 9]
    assert reasons(tmp_path) == ["has 1 games that other shards have too"]
    assert remove_repeated_games(tmp_path) == 1
    assert [shard.number for shard in find_shards(tmp_path)] == [0, 1]
    assert reasons(tmp_path) == []
    assert remove_repeated_games(tmp_path) == 0


def test_rewriting_that_was_interrupted_is_done_again(tmp_path: Path) -> None:
    write_shard(tmp_path, 0, game(7), NOTES)
    write_shard(tmp_path, 1, game(9) + game(7), NOTES)
    write_shard(tmp_path, 1, game(9), NOTES)
    remove_repeated_games(tmp_path)
    assert [row["game"] for _, table in read_shards([tmp_path]) for row in table.to_pylist()] == [7, 7, 9, 9]
    assert len(find_shards(tmp_path)) == 2


def test_a_shard_takes_the_place_of_another(tmp_path: Path) -> None:
    replace_shard(tmp_path, 0, game(7), NOTES)
    replace_shard(tmp_path, 0, game(7) + game(8), NOTES)
    (shard,) = find_shards(tmp_path)
    assert read_shard(shard).num_rows == 4


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fen": "8/8 w"}, "has 1 position that cannot be read"),
        ({"moves": ["e2e5", "d2d4"]}, "has 1 position with illegal moves"),
        ({"move": "e2e5"}, "has 1 position with illegal moves"),
        ({"moves": ["Nf3", "d2d4"]}, "has 1 position with illegal moves"),
        ({"weights": [0.5, 0.4]}, "sum is not 1"),
        ({"weights": [1.5, -0.5]}, "negative"),
        ({"weights": [1.0]}, "numbers of weights"),
        ({"weights": [float("nan"), 1.0]}, "sum is not 1"),
        ({"scores": [1]}, "numbers of scores"),
        ({"moves": [], "weights": [], "scores": [], "score": None}, "without a target move or a score"),
        ({"value": 1.5}, "outside [-1, 1]"),
        ({"value": float("nan")}, "outside [-1, 1]"),
        ({"value": None}, "scores without a value"),
        ({"result": 3}, "results other than"),
        ({"fen": None}, "without fen"),
        ({"ply": 2}, "twice, or its plies"),
        ({"ply": 1, "fen": game(7)[1]["fen"]}, "has a position of a game twice"),
    ],
)
def test_unsound_rows_are_found(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    rows = game(7)
    rows[0] |= changes
    write_shard(tmp_path, 0, rows, NOTES)
    assert any(reason in found for found in reasons(tmp_path)), reasons(tmp_path)


def test_files_left_behind_are_found(tmp_path: Path) -> None:
    write_shard(tmp_path, 0, game(7), NOTES)
    part = tmp_path / ".000001.99.part"
    part.write_bytes(b"x")
    assert reasons(tmp_path) == []
    os.utime(part, (1, 1))
    assert reasons(tmp_path) == ["was left behind by something interrupted"]


def test_an_unknown_variant_is_found(tmp_path: Path) -> None:
    write_shard(tmp_path, 0, game(7), {"variant": "go"})
    assert reasons(tmp_path) == ["names no known variant, but go"]


def test_the_split_is_a_property_of_the_game() -> None:
    games = [game_number("chess", START, [str(number)]) for number in range(4000)]
    held = held_out(np.array(games, np.uint64), 0.1)
    assert 0.08 < held.mean() < 0.12
    assert held_out(np.array(games, np.uint64)[held], 0.2).all()


def test_the_value_scale_is_found_again(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    rows = []
    for number in range(6000):
        score = int(chance.normal(0, 300))
        wins = chance.random() < 1 / (1 + np.exp(-score / 250))
        rows += game(number + 1, 1 if wins else -1, score)
    write_shard(tmp_path, 0, rows, NOTES)
    document = collect([tmp_path], lambda damage: None)
    assert document["value_scale"] == pytest.approx(250, rel=0.1)
    assert document["games"] == 6000
    assert document["repeated_positions"] == pytest.approx(1 - 2 / 12000)
    assert document["legal_moves"] == 20
    assert 0.9 < document["undecided"] < 1


def test_the_table_of_statistics(tmp_path: Path, cli: Commands) -> None:
    write_shard(tmp_path, 0, game(7), NOTES)
    text = cli.shows("data", "stats", tmp_path)
    assert "undecided" in text
    assert "100.0 %" in text


def test_an_empty_folder_has_nothing_to_count(tmp_path: Path, cli: Commands) -> None:
    assert run(["data", "stats", str(tmp_path)]) == 2
    assert "is not a folder" in cli.refuses("data", "check", tmp_path / "none")


def test_without_pyarrow_there_is_a_sentence(
    tmp_path: Path, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pyarrow" else find(name, *rest)
    )
    expected = lacking("training data needs the package pyarrow", "data")
    assert cli.refuses("data", "stats", tmp_path) == f"anabranch: {expected}\n"
