"""Games without scores train a network: from PGN to a file that plays."""

import json
import random
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
from tests.support.commands import Commands

from anabranch.cli import run
from anabranch.errors import DataError
from anabranch.formats.scores import RESULT_SCALE
from anabranch.train.checkpoint import find_checkpoints, read_checkpoint
from anabranch.train.positions import choose_scale
from anabranch.train.recipe import Recipe

OPTIONS = [
    "--policy-width", "32", "--value-width", "32", "--batch", "64", "--held-out", "0.2", "--threads",
    "1",
]  # fmt: skip


def games(count: int, comments: bool = False) -> str:
    """Random games; with comments, engines count the material, and who has more at the end has won."""
    chance = random.Random(4)
    texts = []
    for _ in range(count):
        game = chess.pgn.Game()
        node: chess.pgn.GameNode = game
        board = chess.Board()
        for _ in range(30):
            score = _material(board)
            move = chance.choice(sorted(board.legal_moves, key=str))
            node = node.add_variation(move, comment=f"{score:+.2f}/1 0.1s" if comments else "")
            board.push(move)
        white = _material(board) * (1 if board.turn else -1)
        game.headers["Result"] = "1-0" if white > 0 else "0-1" if white < 0 else "1/2-1/2"
        texts.append(str(game))
    return "\n\n".join(texts) + "\n"


def _material(board: chess.Board) -> float:
    worth = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
    return float(
        sum(worth.get(piece.piece_type, 0) * (1 if piece.color == board.turn else -1)
            for piece in board.piece_map().values())
    )  # fmt: skip


def test_from_pgn_to_a_network_that_plays(tmp_path: Path, cli: Commands) -> None:
    (tmp_path / "games.pgn").write_text(games(12))
    data, out, file = str(tmp_path / "data"), str(tmp_path / "run"), str(tmp_path / "net.safetensors")
    assert run(["data", "from-pgn", str(tmp_path / "games.pgn"), "--out", data]) == 0
    new = ["train", "run", "--variant", "chess", "--data", data, "--steps", "4", *OPTIONS]
    said = cli.run(*new, "--out", out).err
    assert said.count("no position has a score, so the value is learned from the results alone") == 1
    assert "values from results" in said
    saved = read_checkpoint(find_checkpoints(Path(out))[0])
    assert saved["recipe"]["result_share"] == 1.0
    assert saved["value_scale"] == RESULT_SCALE["chess"]
    assert "value_mse" not in saved["metrics"]
    assert saved["metrics"]["value_loss"] > 0.0
    assert run([*new, "--out", f"{out}-1", "--result-share", "1"]) == 0
    assert run(["train", "evaluate", out]) == 0
    assert run(["train", "export", out, file]) == 0
    for option in ("--evaluator", "--network"):  # as docs/training.md says, and as it was
        assert cli.json("analyse", option, file, "--evaluations", "20")["statistics"]["evaluations"] == 20


def test_scores_of_matches_are_learned(tmp_path: Path, cli: Commands) -> None:
    (tmp_path / "games.pgn").write_text(games(20, comments=True))
    data, out = str(tmp_path / "data"), str(tmp_path / "run")
    assert run(["data", "from-pgn", str(tmp_path / "games.pgn"), "--out", data, "--evaluated"]) == 0
    command = ["train", "run", "--variant", "chess", "--data", data, "--out", out, "--steps", "2", *OPTIONS]
    assert "no position has a score" not in cli.run(*command).err
    saved = read_checkpoint(find_checkpoints(Path(out))[0])
    assert saved["recipe"]["result_share"] == 0.5
    assert "value_mse" in saved["metrics"]


def test_a_run_that_failed_does_not_block(tmp_path: Path, cli: Commands) -> None:
    (tmp_path / "games.pgn").write_text(games(12))
    data, out = str(tmp_path / "data"), str(tmp_path / "run")
    assert run(["data", "from-pgn", str(tmp_path / "games.pgn"), "--out", data]) == 0
    command = ["train", "run", "--variant", "chess", "--data", data, "--out", out, "--steps", "6", *OPTIONS]
    wrong = ["--rate", "1e30", "--clip", "1e30", "--report-every", "1"]
    assert "not a number" in cli.run(*command, *wrong, code=2).err
    assert (Path(out) / "metrics.jsonl").exists()
    assert run(command) == 0
    events = [json.loads(line) for line in (Path(out) / "metrics.jsonl").read_text().splitlines()]
    assert max(event["loss"] for event in events if event["kind"] == "train") < 100.0
    file = str(tmp_path / "net.safetensors")
    assert run(["train", "export", f"{out}/step-00000099.pt", file]) == 2
    assert run(["train", "export", out, str(tmp_path / "net.onnx")]) == 2
    assert run(["train", "export", out, file]) == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("net", ".net"))] == [
        "net.safetensors"
    ]


def test_the_scale_is_fitted_where_it_can_be_and_matters() -> None:
    chance = np.random.default_rng(1)
    scores = chance.normal(0.0, 300.0, 2000).astype(np.float32)
    results = np.sign(chance.random(2000) - 1.0 / (1.0 + np.exp(scores / 200.0))).astype(np.float32)
    none = np.full(2000, np.nan, np.float32)
    recipe = Recipe(variant="crazyhouse")
    usual = RESULT_SCALE["crazyhouse"]
    scale, notes = choose_scale(recipe, scores, results)
    assert scale == pytest.approx(200.0, rel=0.15)
    assert notes == ()
    assert choose_scale(recipe.changed(value_scale=123.0), scores, results) == (123.0, ())
    assert choose_scale(recipe.changed(result_share=1.0), scores, -results) == (usual, ())
    scale, notes = choose_scale(recipe, scores, none)
    assert scale == usual
    assert len(notes) == 1
    assert (
        "only 0 positions have a score and a result, so the value scale is not fitted; it is 700" in notes[0]
    )
    scale, notes = choose_scale(recipe, none, results)
    assert (scale, len(notes)) == (usual, 1)
    with pytest.raises(DataError, match="cannot be fitted; --value-scale sets it"):
        choose_scale(recipe, scores, -results)
