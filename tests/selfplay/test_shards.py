"""Positions of self-play as shards."""

import shutil
from pathlib import Path

import chess
import pytest
from tests.support.commands import Commands

from anabranch.data.check import check_folders
from anabranch.data.shards import find_shards, read_shards
from anabranch.formats.scores import centipawns
from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.shards import games_of


@pytest.fixture
def played(tmp_path: Path, cli: Commands) -> Path:
    small = ("--evaluations", "4", "--last-evaluations", "4", "--longest", "20", "--full-share", "1")
    cli.run(
        "selfplay", "play", "--game", "chess", "--games", "12", *small, "--out", tmp_path / "games",
        "--workers", "1", "--harvest", "0",
    )  # fmt: skip
    return tmp_path / "games"


def test_rows_are_those_of_the_games(played: Path, tmp_path: Path, cli: Commands) -> None:
    call = ("data", "from-selfplay", played, "--out", tmp_path / "shards")
    cli.run(*call)
    rows = [row for _, table in read_shards([tmp_path / "shards"], "chess") for row in table.to_pylist()]
    samples = ChessSamples.join(
        [ChessSamples.read(path) for path in sorted((played / "positions").rglob("*.npz"))]
    )
    assert [row["fen"] for row in rows] == samples.position.astype(str).tolist()
    assert [row["result"] for row in rows] == samples.result.tolist()
    assert [row["score"] for row in rows] == [centipawns(value) for value in samples.value.tolist()]
    # Two games are one where the second begins at a later ply than the first ended, with the same result.
    assert 10 <= len({row["game"] for row in rows}) <= 12
    begin = 0
    for row, count in zip(rows, samples.count.tolist(), strict=True):
        names, shares = samples.moves[begin : begin + count], samples.policy[begin : begin + count]
        assert dict(zip(row["moves"], row["weights"], strict=True)) == dict(
            zip(names.astype(str).tolist(), shares.tolist(), strict=True)
        )
        assert row["weights"] == sorted(row["weights"], reverse=True)
        assert row["ply"] == chess.Board(row["fen"]).ply()
        begin += count
    assert not check_folders([tmp_path / "shards"], every_position=True).faults
    # A shard that is missing is made again, and nothing else is.
    lost = find_shards(tmp_path / "shards")[0].path
    content = lost.read_bytes()
    lost.unlink()
    cli.run(*call)
    assert lost.read_bytes() == content
    assert "0 positions" in cli.shows(*call)


def test_other_games_are_refused(played: Path, tmp_path: Path, cli: Commands) -> None:
    call = ("data", "from-selfplay", played, "--out", tmp_path / "shards", "--variant", "crazyhouse")
    assert "has positions of chess, not of crazyhouse" in cli.refuses(*call)


def test_runs_of_one_seed_have_other_games(played: Path, tmp_path: Path, cli: Commands) -> None:
    small = ("--evaluations", "6", "--last-evaluations", "6", "--longest", "20", "--full-share", "1")
    other = ("selfplay", "play", "--game", "chess", "--games", "12", *small, "--workers", "1")
    cli.run(*other, "--out", tmp_path / "other")
    for name, source in (("one", played), ("two", tmp_path / "other")):
        cli.run("data", "from-selfplay", source, "--out", tmp_path / name)
    games = [
        {game for _, table in read_shards([tmp_path / name], "chess") for game in table["game"].to_pylist()}
        for name in ("one", "two")
    ]
    assert all(games)
    assert not games[0] & games[1]
    # Another run in the same place is another job.
    shutil.rmtree(played)
    shutil.copytree(tmp_path / "other", played)
    assert "another job" in cli.refuses("data", "from-selfplay", played, "--out", tmp_path / "one")


def test_folders_that_cannot_be_used(played: Path, tmp_path: Path, cli: Commands) -> None:
    assert "need one of their own" in cli.refuses("data", "from-selfplay", played, "--out", played)
    (played / "journal.jsonl").unlink()
    call = ("data", "from-selfplay", played, "--out", tmp_path / "shards")
    assert "has no positions yet" in cli.refuses(*call)
    assert not (tmp_path / "shards").exists()


def test_positions_that_a_game_adds_belong_to_it() -> None:
    assert games_of([10, 12, 5, 40, 2], [3, 3, 0, 0, 3], [1, 1, -1, 1, 1]) == [0, 0, 0, 0, 1]
    assert games_of([], [], []) == []
