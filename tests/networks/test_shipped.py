"""The networks that come with the package: sound, described, and the default."""

from pathlib import Path

import chess
import pytest
from tests.support.proofs import proof_of

from anabranch import Engine
from anabranch._core import Network
from anabranch.errors import EvaluatorError
from anabranch.evaluators.open import verify_network
from anabranch.networks import bundled, describe_network
from anabranch.networks.shipped import FOLDER

VARIANTS = ("chess", "crazyhouse")
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".safetensors", ".onnx"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_file_is_sound_small_and_has_a_card(path: Path) -> None:
    verify_network(path)
    assert path.stat().st_size < 8_000_000
    facts = describe_network(path)
    assert facts["variant"] == path.stem.partition("-")[0]
    assert facts["licence"] == "GPL-3.0-or-later"
    card = path.with_suffix(".md").read_text()
    assert facts["sha256"] in card


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_the_default(variant: str) -> None:
    engine = Engine(variant)
    assert isinstance(engine.evaluator, Network)
    assert engine.settings.evaluator == "network"
    by_name = Engine(variant, evaluator="network")
    first = engine.search("startpos", evaluations=300)
    assert first.best_move == by_name.search("startpos", evaluations=300).best_move
    for name, expected in (("material", "material"), ("network", engine.evaluator)):  # engines share it
        by_name.configure(evaluator=name)
        assert by_name.evaluator == expected


def test_variants_without_a_network() -> None:
    assert bundled("atomic") is None
    assert Engine("atomic").evaluator == "material"
    with pytest.raises(EvaluatorError, match="no network for atomic"):
        Engine("atomic", evaluator="network")


def test_aliases_and_chess960() -> None:
    assert isinstance(Engine("standard").evaluator, Network)
    engine = Engine("chess960")
    position = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    assert isinstance(engine.evaluator, Network)
    assert engine.search(position, evaluations=200).best_move in engine.legal_moves


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_saved_graph_goes_on_with_it(variant: str, tmp_path: Path) -> None:
    engine = Engine(variant)
    engine.search("startpos", evaluations=300)
    engine.save(tmp_path / "graph")
    loaded = Engine.load(tmp_path / "graph")
    assert loaded.search(evaluations=1).statistics.root_visits > 250
    material = Engine(variant, evaluator="material")
    material.search("startpos", evaluations=300)
    material.save(tmp_path / "graph")
    loaded = Engine.load(tmp_path / "graph")
    assert loaded.evaluator == "material"
    assert loaded.search(evaluations=1).statistics.root_visits > 250


def test_it_knows_what_a_queen_is_worth() -> None:
    path = bundled("chess")
    assert path is not None
    network = Network(path)
    board = chess.Board()
    board.remove_piece_at(chess.D8)
    up, even = (value for value, _, _ in network.evaluate([board.fen(), chess.STARTING_FEN]))
    board = chess.Board()
    board.remove_piece_at(chess.D1)
    (down, _, _) = network.evaluate([board.fen()])[0]
    assert up > 0.7
    assert abs(even) < 0.3
    assert down < -0.7


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_onnx_path_end_to_end(variant: str) -> None:
    path = bundled(variant, "onnx")
    assert path is not None
    result = Engine(variant, evaluator=path, batch_size=8).search("startpos", evaluations=64)
    assert result.best_move in {"e2e4", "d2d4", "b1c3", "g1f3", "e2e3", "d2d3", "c2c4"}


def test_the_shortest_proof_may_begin_with_a_move_that_the_root_has_given_up() -> None:
    engine = Engine("crazyhouse", evaluator="network", improve=True)
    engine.position = "1r1r4/p1pk4/5qpp/1p1N1p1B/2pP4/2PPP3/PPBK2PP/1R3B1R[QNNNPb] w - - 0 30"
    engine.search(simulations=200)
    for move in ("d5f6", "d7c6"):
        engine.play(move)
    result = engine.search(simulations=300, lines=3)
    assert proof_of(result).mate == 2
    assert result.lines[0].moves[0] == result.best_move == result.moves[0].move
    assert (result.lines[0].state, result.lines[0].plies) == ("win", 3)
