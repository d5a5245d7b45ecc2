"""No false claim: wins and losses that the solver finds in random positions, checked by the verifier."""

import random
from pathlib import Path

import chess
import chess.variant
import pytest

from anabranch import Engine
from anabranch.verify import verify_proof

VARIANTS = ("chess", "crazyhouse", "3check", "atomic", "kingofthehill", "antichess", "horde", "racingkings")


def random_board(variant: str, seed: int, plies: int) -> chess.Board:
    """A position of a random game with its history; one ply before the end if it comes first."""
    rng = random.Random(seed)
    board = chess.variant.find_variant(variant)()
    for _ in range(plies):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves or board.is_game_over():
            break
        board.push(rng.choice(moves))
    if board.is_game_over():
        board.pop()
    return board


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_claim_has_a_proof(variant: str, tmp_path: Path) -> None:
    engine = Engine(variant=variant, evaluator="material")
    claims = 0
    for seed in range(12):
        board = random_board(variant, seed, 20 + 37 * seed % 240)
        solution = engine.solve(board, positions=3_000)
        if solution.result is None:
            continue
        claims += 1
        file = tmp_path / f"{seed}.jsonl"
        solution.save_certificate(file)
        verified = verify_proof(file)
        assert verified.result == solution.result
        assert verified.plies == solution.plies
    assert claims >= 1


def test_a_search_with_mates_claims_what_the_solver_proves() -> None:
    """Every verdict of a search that looks for mates at all places is one that the verifier accepts."""
    for variant in ("chess", "crazyhouse"):
        engine = Engine(
            variant=variant, evaluator="material", mate_leaf=60, mate_leaf_value=-1.0, mate_growth=2.0,
            mate_start=4, mate_root=4.0,
        )  # fmt: skip
        solved = 0
        for seed in range(24):
            board = random_board(variant, 1000 + seed, 30 + 5 * seed % 60)
            result = engine.search(board, simulations=300)
            if result.solved is None or result.solved.state not in ("win", "loss"):
                continue
            solved += 1
            proof = engine.solve(board, positions=2_000_000)
            assert proof.result == result.solved.state, board.fen()
        assert solved >= 2, (variant, solved)
