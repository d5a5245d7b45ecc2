"""Positions drawn from games for a teacher, and the children of positions whose moves were scored."""

import shutil
from pathlib import Path
from typing import Any

import chess
import pytest
from tests.support.commands import Commands
from tests.support.fake_engine import FakeEngine

from anabranch.data.check import check_folders
from anabranch.data.shards import about, find_shards, read_shard, read_shards

GAMES = Path(__file__).parent.parent / "data" / "lichess.pgn"


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for _, table in read_shards([folder], "chess") for row in table.to_pylist()]


@pytest.fixture
def games(tmp_path: Path, cli: Commands) -> Path:
    cli.run("data", "from-pgn", GAMES, "--out", tmp_path / "games", "--positions-per-shard", "200")
    return tmp_path / "games"


def test_positions_of_games_and_beside_them(games: Path, tmp_path: Path, cli: Commands) -> None:
    call = (
        "data",
        "sample",
        games,
        "--per-game",
        "20",
        "--policy-share",
        "0.4",
        "--random-share",
        "0.3",
        "--out",
    )
    cli.run(*call, tmp_path / "drawn")
    played = {(row["game"], row["ply"]): row for row in rows_of(games)}
    rows = rows_of(tmp_path / "drawn")
    fens = [row["fen"] for row in rows]
    assert len(rows) > 50
    assert len(set(fens)) == len(fens)
    assert not any(chess.Board(fen).is_game_over() for fen in fens)
    kept = [row for row in rows if row["move"] is not None]
    assert 0.1 < len(kept) / len(rows) < 0.6
    for row in kept:
        source = played[row["game"], row["ply"]]
        assert all(row[name] == source[name] for name in ("fen", "move", "result"))
    assert {row["game"] for row in rows} <= {row["game"] for row in played.values()}
    # Two positions of a game may have the same ply: both are kept.
    assert len({(row["game"], row["ply"]) for row in rows}) < len(rows)
    assert all(row["ply"] == chess.Board(row["fen"]).ply() for row in rows)
    # Interrupted between two shards, the command goes on with the same positions.
    find_shards(tmp_path / "drawn")[-1].path.unlink()
    cli.run(*call, tmp_path / "drawn")
    assert rows_of(tmp_path / "drawn") == rows


def test_leaves_of_searches(games: Path, tmp_path: Path, cli: Commands) -> None:
    call = ("data", "sample", games, "--per-game", "3", "--policy-share", "0", "--random-share", "0")
    cli.run(*call, "--search-share", "1", "--search-evaluations", "20", "--out", tmp_path / "leaves")
    rows = rows_of(tmp_path / "leaves")
    played = {row["fen"] for row in rows_of(games)}
    assert len(rows) > 5
    assert all(row["move"] is None and row["result"] is None for row in rows)
    assert sum(row["fen"] in played for row in rows) < len(rows) / 2
    # Leaves of any depth have their true ply: all these games begin at the start position.
    assert all(row["ply"] == chess.Board(row["fen"]).ply() for row in rows)
    cli.run(*call, "--search-share", "1", "--search-evaluations", "20", "--out", tmp_path / "again")
    assert rows_of(tmp_path / "again") == rows


def test_dead_positions_are_not_walked_from(tmp_path: Path, cli: Commands) -> None:
    moves = "1. Ka2 Ke4 2. Ka1 Ke5 3. Ka2 Ke4 4. Kb3 Kd5 5. Kb4 Ke5 6. Kb5 Kd4 1/2-1/2"
    pgn = tmp_path / "dead.pgn"
    pgn.write_text(f'[SetUp "1"]\n[FEN "8/8/8/4k3/8/8/7p/K7 w - - 0 1"]\n[Result "1/2-1/2"]\n\n{moves}\n')
    bare = pgn.read_text().replace("7p", "8")
    pgn.write_text(f"{pgn.read_text()}\n{bare}")
    cli.run("data", "from-pgn", pgn, "--out", tmp_path / "games")
    call = ("data", "sample", tmp_path / "games", "--policy-share", "0.5", "--random-share", "0.5", "--out")
    cli.run(*call, tmp_path / "drawn")
    rows = rows_of(tmp_path / "drawn")
    assert {chess.Board(row["fen"]).is_insufficient_material() for row in rows} == {True, False}
    assert all(row["move"] for row in rows if chess.Board(row["fen"]).is_insufficient_material())
    cli.run(*call, tmp_path / "leaves", "--search-share", "1")
    leaves = [chess.Board(row["fen"]) for row in rows_of(tmp_path / "leaves") if row["move"]]
    assert leaves
    assert all(board.is_insufficient_material() for board in leaves)


def test_shards_that_are_new_are_drawn_from_and_none_twice(
    games: Path, tmp_path: Path, cli: Commands
) -> None:
    first, *others = (shard.path for shard in find_shards(games))
    early, late = tmp_path / "early", tmp_path / "late"
    for folder, files in ((early, [first]), (late, others)):
        folder.mkdir()
        for file in files:
            file.rename(folder / file.name)
    call = ("data", "sample", early, late, "--per-game", "3", "--out", tmp_path / "drawn")
    cli.run(*call)
    before = find_shards(tmp_path / "drawn")
    # A new shard of the first folder moves those of the second to later places.
    added = early / first.name.replace("000000", "000001")
    shutil.copy(early / first.name, added)
    cli.run(*call)
    after = find_shards(tmp_path / "drawn")
    assert set(before) < set(after)
    assert len({shard.number for shard in after}) == len(after)
    origins = [about(read_shard(shard))["drawn_from"] for shard in after]
    assert sorted(origins) == sorted(path.stem for path in (early / first.name, added, *others))
    fens = [row["fen"] for shard in after for row in read_shard(shard).to_pylist()]
    assert len(set(fens)) == len(fens)


def test_a_sample_is_refused_where_it_makes_no_sense(games: Path, tmp_path: Path, cli: Commands) -> None:
    call = ("data", "sample", games, "--out", tmp_path / "drawn")
    assert "more than all" in cli.run(*call, "--policy-share", "0.8", "--random-share", "0.3", code=2).err
    assert "not a network of the family sparse" in cli.run(*call, "-e", "material", code=2).err
    assert "has positions of chess" in cli.run(*call, "--variant", "crazyhouse", code=2).err


def test_children_have_the_scores_of_their_moves(
    games: Path, tmp_path: Path, cli: Commands, fake: FakeEngine
) -> None:
    cli.run("data", "sample", games, "--per-game", "2", "--out", tmp_path / "drawn")
    label = ("data", "label", tmp_path / "drawn", "--engine", fake(""), "--workers", "0", "--out")
    cli.run(*label, tmp_path / "labels")
    cli.run(*label, tmp_path / "blocks", "--block", "7")
    labels = rows_of(tmp_path / "labels")
    assert rows_of(tmp_path / "blocks") == labels
    cli.run("data", "expand", tmp_path / "labels", "--least", "1", "--out", tmp_path / "children")
    rows = rows_of(tmp_path / "children")
    by_fen = {row["fen"]: row for row in rows}
    parents = [row for row in rows if row["moves"]]
    assert [row["fen"] for row in parents] == [row["fen"] for row in labels]
    assert len(rows) > len(labels)
    for row in labels:
        for move, score in zip(row["moves"], row["scores"], strict=True):
            board = chess.Board(row["fen"])
            board.push_uci(move)
            child = by_fen.get(board.fen(en_passant="fen"))
            assert child is None or child["moves"] or (child["score"], child["game"]) == (-score, row["game"])
    assert check_folders([tmp_path / "children"], every_position=True).faults == []
    call = ("data", "expand", tmp_path / "labels", "--least", "1", "--no-parents", "--out")
    cli.run(*call, tmp_path / "only")
    assert rows_of(tmp_path / "only") == [row for row in rows if not row["moves"]]
