"""Positions of searches: drawn for a teacher, or with the values of longer searches."""

from pathlib import Path
from typing import Any

import pytest
from scripts.search_positions import main, score

from anabranch import Engine
from anabranch.data.shards import find_shards, read_shard, write_shard
from anabranch.formats.scores import mate_of, value_of

MATE_IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/R5K1[] w - - 0 1"
BETTER = "rnb1k2r/pppp1ppp/5n2/4p3/1b2P3/2N5/PPPP1PPP/R1BQKBNR[] w KQkq - 0 5"
QUIET = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR[] w KQkq - 2 3"


@pytest.fixture
def games(tmp_path: Path) -> Path:
    folder = tmp_path / "games"
    folder.mkdir()
    rows = [
        {"game": game, "ply": 7, "fen": fen, "moves": [], "weights": []}
        for game, fen in enumerate((BETTER, QUIET, MATE_IN_ONE), 1)
    ]
    write_shard(folder, 0, rows, {"variant": "crazyhouse"})
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for shard in find_shards(folder) for row in read_shard(shard).to_pylist()]


def test_positions_for_a_teacher_are_nodes_of_searches(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "positions"
    main(["positions", str(games), "--out", str(out), "--keep", "5", "--off-share", "0"])
    rows = rows_of(out)
    assert 8 <= len(rows) <= 15
    assert len({row["fen"].rsplit(" ", 2)[0] for row in rows}) == len(rows)
    assert {row["game"] for row in rows} >= {1, 2}
    assert all(row["score"] is None and row["ply"] >= 7 for row in rows)
    assert any(row["ply"] > 8 for row in rows)


def test_values_are_those_of_the_search(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "values"
    numbers = ["--evaluations", "20", "60", "--visits", "5", "--keep", "2", "--decided-share", "1"]
    main(["values", str(games), "--out", str(out), "--off-share", "0", *numbers])
    rows = rows_of(out)
    assert len(rows) > 6
    open_ = [row for row in rows if row["game"] == 1 and mate_of(row["score"]) is None]
    assert len(open_) >= 5
    assert {row["fen"].split()[1] for row in open_} == {"w", "b"}
    engine = Engine("crazyhouse", threads=1)
    values = [engine.search(row["fen"], evaluations=60).value for row in open_]
    assert sum(abs(value) > 0.3 for value in values) >= 5
    for row, value in zip(open_, values, strict=True):
        assert value_of(row["score"], "crazyhouse") == pytest.approx(value, abs=0.15)


def test_a_proven_mate_is_the_score() -> None:
    engine = Engine("crazyhouse", threads=1)
    engine.reset(MATE_IN_ONE)
    engine.search(evaluations=50)
    root = engine.graph(visits=1, nodes=1).nodes[0]
    assert mate_of(score(root, "crazyhouse")) == 1


def test_bad_arguments_are_refused(games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, sentence in (
        (["positions", str(games), "--out", str(games)], "has shards already"),
        (["positions", str(tmp_path / "none"), "--out", str(tmp_path / "a")], "not a folder with shards"),
        (["values", str(games), "--out", str(tmp_path / "b"), "--part", "2/2"], "not 2/2"),
        (["values", str(games), "--out", str(tmp_path / "c"), "--part", "1/2"], "has no positions"),
        (["values", str(games), "--out", str(tmp_path / "d"), "--keep", "0"], "--keep"),
        (["values", str(games), "--out", str(tmp_path / "f"), "--variant", "chess"], "of crazyhouse, not"),
        (["values", str(games), "--out", str(tmp_path / "e"), "--evaluator", "none.onnx"], "none.onnx"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        assert sentence in capsys.readouterr().err
