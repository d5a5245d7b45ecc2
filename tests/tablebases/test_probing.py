"""Answers of the tables against python-chess's prober."""

from __future__ import annotations

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


def test_ten_thousand_positions_agree(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    rng = random.Random(5)
    results = set()
    for number in range(10_000):
        white, black = ENDINGS[number % len(ENDINGS)]
        board = random_board(rng, white, black)
        fen = board.fen()
        expected = prober.probe_wdl(board), prober.probe_dtz(board)
        assert (tables.probe_wdl(fen), tables.probe_dtz(fen)) == expected, fen
        results.add(expected[0])
    assert results >= {-2, 0, 2}


def test_en_passant_counts(tables: _core.Tablebases, prober: chess.syzygy.Tablebase) -> None:
    rng = random.Random(6)
    seen = 0
    while seen < 200:
        board = random_board(rng, "KP", "KP", chess.WHITE)
        for move in list(board.legal_moves):
            board.push(move)
            if board.has_legal_en_passant() and not board.is_game_over():
                fen = board.fen()
                assert (tables.probe_wdl(fen), tables.probe_dtz(fen)) == (
                    prober.probe_wdl(board),
                    prober.probe_dtz(board),
                )
                seen += 1
            board.pop()


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
