"""Answers of the tables against python-chess's prober."""

import random

import chess
import chess.syzygy
import pytest
from tests.tablebases.boards import random_board

from anabranch import _core
from anabranch.errors import PositionError, VariantError

ENDINGS = [(f"K{a}", "K") for a in "QRBNP"]
ENDINGS += [(f"K{a}{b}", "K") for i, a in enumerate("QRBNP") for b in "QRBNP"[i:]]
ENDINGS += [(f"K{a}", f"K{b}") for a in "QRBNP" for b in "QRBNP"]


def test_positions_agree(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    rng = random.Random(5)
    results = set()
    for number in range(1_500):
        white, black = ENDINGS[number % len(ENDINGS)]
        board = random_board(rng, white, black)
        fen = board.fen()
        expected = prober.probe_wdl(board), prober.probe_dtz(board)
        assert (tables.probe_wdl(fen), tables.probe_dtz(fen)) == expected, fen
        results.add(expected[0])
    assert results >= {-2, 0, 2}


def test_en_passant_counts(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    """White's pawn has just gone two squares, past a black one; the kings stand anywhere."""
    rng = random.Random(6)
    seen = 0
    while seen < 300:
        file = rng.randrange(7)
        pawns = (file, file + 1) if rng.random() < 0.5 else (file + 1, file)
        board = chess.Board(None)
        for square, symbol in zip(rng.sample(range(64), 2), "Kk", strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        board.set_piece_at(chess.square(pawns[0], 3), chess.Piece.from_symbol("P"))
        board.set_piece_at(chess.square(pawns[1], 3), chess.Piece.from_symbol("p"))
        board.turn, board.ep_square = chess.BLACK, chess.square(pawns[0], 2)
        if board.is_valid() and board.has_legal_en_passant():
            expected = prober.probe_wdl(board), prober.probe_dtz(board)
            assert (tables.probe_wdl(board.fen()), tables.probe_dtz(board.fen())) == expected, board.fen()
            seen += 1


def test_what_the_tables_do_not_know(tables: _core.Tablebases) -> None:
    assert tables.probe_wdl(chess.STARTING_FEN) is None
    assert tables.probe_dtz(chess.STARTING_FEN) is None
    castling = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    assert tables.probe_wdl(castling) is None
    assert tables.probe_wdl(castling.replace(" K ", " - ")) == 2
    assert tables.probe_wdl("8/8/8/8/8/3QK3/8/3k4[] b - - 0 1", "crazyhouse") is None
    assert tables.probe_wdl("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "atomic") is None
    assert tables.men_of("chess") == 4
    assert tables.men_of("crazyhouse") == 0
    with pytest.raises(PositionError):
        tables.probe_wdl("nonsense")
    with pytest.raises(VariantError):
        tables.probe_dtz(castling, "shogi")
