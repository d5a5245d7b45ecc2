"""The inputs of the sparse networks against the slow version on python-chess boards."""

import itertools
import random
from typing import Any

import chess
import chess.variant
import numpy as np
import pytest
from tests.networks.slow_sparse import bucket, context, features, make_board, policy_index

from anabranch import _core
from anabranch.errors import DataError, MoveError, PositionError, VariantError
from anabranch.reference import legal_moves

VARIANTS = ("chess", "crazyhouse", "chess960")


def starts(variant: str) -> list[str]:
    plain = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
        "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1",
    ]
    if variant == "crazyhouse":
        pocket = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
        return [fen.replace(" ", "[] ", 1) for fen in plain] + [pocket]
    if variant == "chess960":
        return [
            *(chess.Board.from_chess960_pos(number).fen() for number in (0, 1, 77, 518, 700, 959)),
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1",
            "4k3/8/8/2pPp3/8/8/8/B3KR1R w HF c6 0 1",
            "5rkr/8/8/8/8/8/8/5RKR w HFhf - 0 1",
            "2k5/8/8/8/8/8/8/RK5R w HA - 0 1",
        ]
    return plain


def positions(variant: str, games: int = 24, seed: int = 1) -> list[chess.Board]:
    """Positions of random games, in which captures, checks and drops are sought."""
    source = random.Random(f"{variant} {seed}")
    found = []
    begins = starts(variant)
    for game in range(games):
        board = make_board(variant, begins[game % len(begins)])
        for _ in range(60):
            moves = list(board.legal_moves)
            if not moves:
                break
            found.append(board.copy(stack=False))
            lively = [
                move for move in moves if board.is_capture(move) or move.promotion or board.is_castling(move)
            ]
            board.push(source.choice(lively if lively and source.random() < 0.4 else moves))
    return found


def encode(variant: str, fens: list[str], **changes: Any) -> dict[str, Any]:
    empty: list[list[Any]] = [[] for _ in fens]
    given: dict[str, Any] = {"moves": empty, "weights": empty, "mirror": None, "threads": 1, **changes}
    return _core.encode_sparse(variant, fens, **given)


def rows(encoded: dict[str, Any], name: str) -> list[list[int]]:
    offsets = encoded["feature_offsets" if name == "features" else "move_offsets"]
    return [encoded[name][a:b].tolist() for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_inputs_are_those_of_the_slow_version(variant: str) -> None:
    boards = positions(variant)
    assert len(boards) > 500
    encoded = encode(variant, [board.fen(en_passant="fen") for board in boards])
    assert (
        encoded["features"].dtype == encoded["move_index"].dtype == encoded["move_context"].dtype == np.int32
    )
    assert encoded["bucket"].tolist() == [bucket(board) for board in boards]
    lists = [rows(encoded, name) for name in ("features", "move_index", "move_context")]
    seen = set()
    for board, active, indices, contexts in zip(boards, *lists, strict=True):
        moves = legal_moves(board)
        assert sorted(active) == features(board), board.fen()
        assert indices == [policy_index(board, move) for move in moves], board.fen()
        assert len(set(indices)) == len(indices)
        for move, found in zip(moves, contexts, strict=True):
            assert found == context(board, move), (board.fen(), move.uci())
        seen.update(contexts)
    assert len(seen) > 200
    assert not encoded["target"].any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_colours_are_one(variant: str) -> None:
    boards = positions(variant, games=8)
    one = encode(variant, [board.fen(en_passant="fen") for board in boards])
    other = encode(variant, [mirrored(board).fen(en_passant="fen") for board in boards])
    assert [sorted(row) for row in rows(one, "features")] == [sorted(row) for row in rows(other, "features")]
    pairs = [
        [
            sorted(zip(a, b, strict=True))
            for a, b in zip(rows(e, "move_index"), rows(e, "move_context"), strict=True)
        ]
        for e in (one, other)
    ]
    assert pairs[0] == pairs[1]
    assert (one["bucket"] == other["bucket"]).all()


def mirrored(board: chess.Board) -> chess.Board:
    """The same position with colours exchanged; python-chess forgets pockets."""
    flipped = board.mirror()
    if isinstance(board, chess.variant.CrazyhouseBoard):
        assert isinstance(flipped, chess.variant.CrazyhouseBoard)
        flipped.pockets = [board.pockets[color].copy() for color in (chess.WHITE, chess.BLACK)]
        flipped.promoted = chess.flip_vertical(board.promoted)
    return flipped


def turned(board: chess.Board) -> chess.Board:
    """The position with files exchanged."""
    flipped = board.transform(chess.flip_horizontal)
    if isinstance(board, chess.variant.CrazyhouseBoard):
        assert isinstance(flipped, chess.variant.CrazyhouseBoard)
        flipped.pockets = [pocket.copy() for pocket in board.pockets]
        flipped.promoted = chess.flip_horizontal(board.promoted)
    return flipped


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_left_and_right_are_exchanged_on_request(variant: str) -> None:
    boards = positions(variant, games=16)
    fens = [board.fen(en_passant="fen") for board in boards]
    free = [not board.castling_rights for board in boards]
    assert 100 < sum(free) < len(boards)
    source = random.Random(3)
    moves, weights, turned_moves = [], [], []
    for board, is_free in zip(boards, free, strict=True):
        chosen = source.sample(list(board.legal_moves), min(3, board.legal_moves.count()))
        moves.append([move.uci() for move in chosen])
        weights.append([source.random() for _ in chosen])
        files = str.maketrans("abcdefgh", "hgfedcba")
        turned_moves.append([text[:4].translate(files) + text[4:] if is_free else text for text in moves[-1]])
    turned_fens = [
        turned(board).fen(en_passant="fen") if is_free else fen
        for board, fen, is_free in zip(boards, fens, free, strict=True)
    ]
    everywhere = np.ones(len(fens), bool)
    one = encode(variant, fens, moves=moves, weights=weights, mirror=everywhere)
    other = encode(variant, turned_fens, moves=turned_moves, weights=weights)
    for name, array in other.items():
        np.testing.assert_array_equal(one[name], array, name)
    nowhere = encode(variant, fens, moves=moves, weights=weights, mirror=~everywhere)
    plain = encode(variant, fens, moves=moves, weights=weights)
    for name, array in plain.items():
        np.testing.assert_array_equal(nowhere[name], array, name)
    versions = ("v3", "v1") if variant == "crazyhouse" else ("v3",)
    for version in versions:
        planes = _core.encode_planes(variant, version, fens, moves, weights, everywhere, 2)
        there = _core.encode_planes(variant, version, turned_fens, turned_moves, weights, None, 1)
        for name, array in there.items():
            np.testing.assert_array_equal(planes[name], array, name)


def test_targets_stand_at_their_moves() -> None:
    board = chess.Board("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1")
    moves, weights = ["e1g1", "b7a8q", "a1a8", "e1g1"], [0.5, 0.25, 0.125, 0.0625]
    encoded = encode("chess", [board.fen()], moves=[moves], weights=[weights])
    wanted = dict.fromkeys((move.uci() for move in legal_moves(board)), 0.0)
    for move, weight in zip(moves, weights, strict=True):
        wanted[move] += weight
    assert encoded["target"].tolist() == list(wanted.values())
    assert encoded["target"].dtype == np.float32


def test_planes_are_those_of_the_search() -> None:
    fens = [board.fen() for board in positions("crazyhouse", games=4)]
    empty: list[list[Any]] = [[] for _ in fens]
    planes = _core.encode_planes("crazyhouse", "v3", fens, empty, empty, None, 1)
    assert planes["planes"].shape == (len(fens), 64, 8, 8)
    assert planes["planes"].dtype == np.float32
    sparse = encode("crazyhouse", fens)
    for name in ("move_index", "move_offsets", "target"):
        np.testing.assert_array_equal(planes[name], sparse[name])
    first = _core.encode_planes("crazyhouse", "v1", fens, empty, empty, None, 1)
    assert first["planes"].shape == (len(fens), 34, 8, 8)
    np.testing.assert_array_equal(first["planes"][:, :12], planes["planes"][:, :12])
    session = _core.Session("crazyhouse", False, {"batch_size": 1, "batches_in_flight": 1}, True)
    for fen, expected in list(zip(fens, planes["planes"], strict=True))[:40]:
        session.set_position(fen, [])
        session.begin(simulations=1)
        array = np.empty((1, 64, 8, 8), np.float32)
        if session.collect(array)[0] == 1:
            np.testing.assert_array_equal(array[0], expected)
        session.abandon()


@pytest.mark.parametrize("threads", [2, 3, 7, 1000])
def test_threads_do_not_matter(threads: int) -> None:
    fens = [board.fen() for board in positions("crazyhouse", games=3)]
    one, many = encode("crazyhouse", fens), encode("crazyhouse", fens, threads=threads)
    for name, array in one.items():
        np.testing.assert_array_equal(many[name], array, name)


def test_nothing_gives_empty_arrays() -> None:
    encoded = encode("chess", [], threads=4)
    assert encoded["features"].size == 0
    assert encoded["feature_offsets"].tolist() == encoded["move_offsets"].tolist() == [0]
    assert _core.encode_planes("chess", "v3", [], [], [], None, 2)["planes"].shape == (0, 52, 8, 8)


def test_refusals_name_the_row() -> None:
    start = chess.STARTING_FEN
    with pytest.raises(PositionError, match="row 2: "):
        encode("chess", [start, start, "nonsense", "worse"], threads=4)
    with pytest.raises(MoveError, match=r"row 1: .*e2e5"):
        encode("chess", [start] * 3, moves=[["e2e4"], ["e2e5"], []], weights=[[1.0], [1.0], []])
    with pytest.raises(DataError, match="row 0 has 1 target moves, but 2 weights"):
        encode("chess", [start], moves=[["e2e4"]], weights=[[1.0, 2.0]])
    with pytest.raises(DataError, match="not a finite number"):
        encode("chess", [start], moves=[["e2e4"]], weights=[[float("nan")]])
    with pytest.raises(DataError, match="2 positions, but 1 mirror marks"):
        encode("chess", [start] * 2, mirror=np.zeros(1, bool))
    with pytest.raises(VariantError, match="atomic"):
        encode("atomic", [start])
    with pytest.raises(VariantError, match="shogi"):
        encode("shogi", [start])
    with pytest.raises(DataError, match="v1"):
        _core.encode_planes("chess", "v1", [start], [[]], [[]], None, 1)
