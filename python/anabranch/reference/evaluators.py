"""The evaluators that need no network: `uniform`, `material` and `hash_evaluator`, exact to the last bit.

Each is a function of a python-chess board and its legal moves and returns a value for the side to move and
one logit per move, in integer arithmetic up to the last division, so that the core's evaluators of the same
names give the same numbers. They know nothing of the search.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess
import chess.variant

from anabranch.reference.board import canonical_text, is_crazyhouse, move_code
from anabranch.reference.formulas import to_f32
from anabranch.reference.random import GOLDEN, MASK64, mix

CHESS_VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 300,
    chess.BISHOP: 310,
    chess.ROOK: 500,
    chess.QUEEN: 900,
    chess.KING: 0,
}
CRAZYHOUSE_VALUES = {
    chess.PAWN: 100,
    chess.KNIGHT: 230,
    chess.BISHOP: 230,
    chess.ROOK: 270,
    chess.QUEEN: 480,
    chess.KING: 0,
}
CENTRE = (chess.D4, chess.E4, chess.D5, chess.E5)
BB_CENTRE = chess.BB_CENTER
BB_RING = (
    (chess.BB_FILE_C | chess.BB_FILE_D | chess.BB_FILE_E | chess.BB_FILE_F)
    & (chess.BB_RANK_3 | chess.BB_RANK_4 | chess.BB_RANK_5 | chess.BB_RANK_6)
    & ~BB_CENTRE
)


def uniform(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[float, list[float]]:
    """Value 0 and equal logits."""
    return 0.0, [0.0] * len(moves)


def fnv1a(data: bytes) -> int:
    """The 64-bit FNV-1a hash."""
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK64
    return h


def hash_evaluator(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[float, list[float]]:
    """A pseudo-random evaluator for tests; its numbers depend on the canonical text alone."""
    h = fnv1a(canonical_text(board).encode("ascii"))
    value = (mix(h) >> 40) / 2.0**23 - 1.0
    salts = [(move_code(board, move) + 1) * GOLDEN & MASK64 for move in moves]
    return value, [(mix(h ^ salt) >> 40) / 2.0**22 - 2.0 for salt in salts]


def material(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[float, list[float]]:
    """Material and a little centre, with captures, checks and promotions first."""
    us, them = board.turn, not board.turn
    s = side_score(board, us) - side_score(board, them)
    if isinstance(board, chess.variant.SuicideBoard):
        s = -s
    s += 10
    return to_f32(s / (abs(s) + 400)), [move_score(board, move) / 64.0 for move in moves]


def piece_values(board: chess.Board) -> dict[chess.PieceType, int]:
    """Centipawns of the game at hand."""
    return CRAZYHOUSE_VALUES if is_crazyhouse(board) else CHESS_VALUES


def side_score(board: chess.Board, side: chess.Color) -> int:
    """The centipawns of one side."""
    score = 0
    for piece_type, value in piece_values(board).items():
        score += value * chess.popcount(board.pieces_mask(piece_type, side))
        if isinstance(board, chess.variant.CrazyhouseBoard):
            score += value * board.pockets[side].count(piece_type)
    pieces = board.occupied_co[side] & ~board.kings
    score += 10 * chess.popcount(pieces & BB_CENTRE) + 4 * chess.popcount(pieces & BB_RING)
    king = board.king(side)
    if isinstance(board, chess.variant.ThreeCheckBoard):
        score += 150 * (3 - board.remaining_checks[side])
    if isinstance(board, chess.variant.KingOfTheHillBoard) and king is not None:
        score += 15 * (3 - min(chess.square_distance(king, square) for square in CENTRE))
    if isinstance(board, chess.variant.RacingKingsBoard) and king is not None:
        score += 60 * chess.square_rank(king)
    return score


def move_score(board: chess.Board, move: chess.Move) -> int:
    """The logit of a move, in 64ths."""
    values = piece_values(board)
    them = not board.turn
    mover = move.drop or board.piece_type_at(move.from_square) or chess.PAWN
    score = 0
    if board.is_capture(move):
        # Only en passant captures on an empty square.
        victim = board.piece_type_at(move.to_square) or chess.PAWN
        score += 64 + values[victim] * 16 // 100 - values[mover] * 4 // 100
    elif board.is_castling(move):
        score += 32
    elif mover != chess.PAWN and board.attackers_mask(them, move.to_square) & board.pawns:
        score -= 64
    if board.gives_check(move):
        score += 96
    if move.promotion is not None:
        score += 128 if move.promotion == chess.QUEEN else -64
    if move.drop is not None:
        enemy_king = board.king(them)
        if enemy_king is not None and chess.square_distance(enemy_king, move.to_square) == 1:
            score += 24
    return score
