"""Labels: positions from anywhere with what a teacher says about them."""

import time
from pathlib import Path
from typing import Any

import chess
import pytest
from tests.data_pipeline.test_generate import hurry, plays_games
from tests.support.commands import Commands
from tests.support.fake_engine import FakeEngine
from tests.support.interrupted import kill_at_work

from anabranch.cli import run
from anabranch.data.check import check_folders
from anabranch.data.shards import find_shards, game_number, read_shards
from anabranch.data.teacher import Teacher

LIST = """\ufeff4k3/8/8/8/8/8/4P3/4K3 w - - 0 1
# a comment

8/8/8/8/8/4k3/4p3/4K3 w - - 0 1
nonsense
4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id "again";
r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3
"""


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for _, table in read_shards([folder], "chess") for row in table.to_pylist()]


def label(engine: str, out: Path, *sources: Path, workers: int = 0) -> list[str]:
    call = ["data", "label", *map(str, sources), "--engine", engine, "--out", str(out)]
    return [*call, "--workers", str(workers), "--positions-per-shard", "20"]


def test_a_list_of_positions(fake: FakeEngine, tmp_path: Path, cli: Commands) -> None:
    path = tmp_path / "list.epd"
    path.write_text(LIST)
    teacher = fake("")
    said = cli.run(*label(teacher, tmp_path / "out", path)).err
    assert f"{path}, line 4: the game is over there" in said
    assert f"{path}, line 5: " in said
    rows = rows_of(tmp_path / "out")
    assert [row["fen"].split()[0] for row in rows] == [
        "4k3/8/8/8/8/8/4P3/4K3",
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R",
    ]
    assert all(row["move"] is None and row["result"] is None for row in rows)
    assert rows[0]["game"] == game_number("chess", rows[0]["fen"], [])
    with Teacher(teacher, "chess") as judge:
        for row in rows:
            judgements = judge.judge(f"fen {row['fen']}", 1)
            assert list(zip(row["moves"], row["scores"], strict=True)) == judgements
    assert check_folders([tmp_path / "out"], every_position=True).faults == []


def test_games_keep_moves_and_results_and_shards_can_be_labelled_again(
    fake: FakeEngine, tmp_path: Path
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Event "x"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
    teacher = fake("")
    assert run(label(teacher, tmp_path / "games", path)) == 0
    rows = rows_of(tmp_path / "games")
    assert [row["move"] for row in rows] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert [row["result"] for row in rows] == [-1, 1, -1, 1]
    assert {row["game"] for row in rows} == {
        game_number("chess", chess.STARTING_FEN, ["f2f3", "e7e5", "g2g4", "d8h4"])
    }
    assert run(label(teacher, tmp_path / "again", tmp_path / "games")) == 0
    assert rows_of(tmp_path / "again") == rows


def test_no_game_is_cut_in_two(fake: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    moves = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O"
    path.write_text(
        "".join(f'[Event "x"]\n\n{moves} 6. {move} 1-0\n\n' for move in ("Nf3", "Rc1", "Bd3", "Qc2"))
    )
    teacher = fake("")
    assert run(label(teacher, tmp_path / "out", path, path)) == 0
    sizes = [shard.path for shard in find_shards(tmp_path / "out")]
    assert len(sizes) == 2
    assert len(rows_of(tmp_path / "out")) == 44
    assert check_folders([tmp_path / "out"]).faults == []
    assert run(label(teacher, tmp_path / "again", tmp_path / "out", sizes[0])) == 0
    assert rows_of(tmp_path / "again") == rows_of(tmp_path / "out")


def test_games_without_a_result_have_none(fake: FakeEngine, tmp_path: Path) -> None:
    path = tmp_path / "openings.pgn"
    path.write_text('[Event "x"]\n[Result "*"]\n\n1. d4 d5 2. c4 *\n')
    assert run(label(fake(""), tmp_path / "out", path)) == 0
    assert [(row["move"], row["result"]) for row in rows_of(tmp_path / "out")] == [
        ("d2d4", None),
        ("d7d5", None),
        ("c2c4", None),
    ]


def line_of_play(plies: int) -> list[str]:
    """The positions of a game."""
    board = chess.Board()
    lines = []
    for number in range(plies):
        lines.append(board.fen())
        board.push(sorted(board.legal_moves, key=str)[number % 3])
    return lines


def test_kill_and_go_on(fake: FakeEngine, tmp_path: Path) -> None:
    path, lines = tmp_path / "list.fen", line_of_play(60)
    path.write_text("\n".join(lines))
    teacher = fake("slow")
    for _ in range(2):
        call = label(teacher, tmp_path / "broken", path, workers=2)
        kill_at_work(call, plays_games(tmp_path / "broken"), 0.2)
        time.sleep(0.3)
    hurry(teacher)
    assert run(label(teacher, tmp_path / "broken", path)) == 0
    assert run(label(teacher, tmp_path / "whole", path)) == 0
    names = [[shard.path.name for shard in find_shards(tmp_path / name)] for name in ("whole", "broken")]
    assert names[0] == names[1]
    assert len(rows_of(tmp_path / "whole")) == len(set(lines))


def test_positions_that_break_the_teacher_are_dropped(
    fake: FakeEngine, tmp_path: Path, cli: Commands
) -> None:
    path = tmp_path / "list.fen"
    path.write_text("\n".join(line_of_play(20)))
    assert "2 dropped" in cli.shows(*label(fake("illegal"), tmp_path / "out", path))
    assert len(rows_of(tmp_path / "out")) == 18


HOUSE = '[Event "x"]\n[Variant "Crazyhouse"]\n[Result "1-0"]\n\n1. e4 d5 2. exd5 Qxd5 3. P@e4 1-0\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [("games.pgn", HOUSE), ("list.epd", "rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3\n")],
)
def test_another_variant_is_named_and_does_not_block(
    fake: FakeEngine, tmp_path: Path, cli: Commands, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    command = label(fake(""), tmp_path / "out", path)
    said = cli.run(*command, code=2)
    assert said.out == ""
    assert (
        f"there is no position of chess to label in {path}; it is crazyhouse, so give --variant" in said.err
    )
    assert run([*command, "--variant", "crazyhouse"]) == 0
    rows = [row for _, table in read_shards([tmp_path / "out"], "crazyhouse") for row in table.to_pylist()]
    assert len(rows) == (5 if name == "games.pgn" else 1)


def test_games_that_are_left_out_are_counted(fake: FakeEngine, tmp_path: Path, cli: Commands) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(f'[Event "x"]\n\n1. d4 d5 1-0\n\n{HOUSE}\n[Event "x"]\n\n1. d4 d4 1-0\n')
    said = cli.run(*label(fake(""), tmp_path / "out", path)).err
    assert f"{path}: games left out: another variant 1, illegal moves 1" in said
    assert len(rows_of(tmp_path / "out")) == 2


def test_nothing_labelled_is_a_failure_that_does_not_block(
    fake: FakeEngine, tmp_path: Path, cli: Commands
) -> None:
    path = tmp_path / "list.fen"
    path.write_text("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n")
    assert "no position was labelled, because the teacher failed" in cli.refuses(
        *label(fake("always illegal"), tmp_path / "out", path)
    )
    assert run(label(fake(""), tmp_path / "out", path)) == 0
    assert len(rows_of(tmp_path / "out")) == 1
