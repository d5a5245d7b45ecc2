"""The forms in which a position may be given, read into what the core takes: a FEN, or the start of the
game, and moves.

Only forms are read here. Whether the FEN makes sense and the moves are legal is the core's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import chess

from anabranch.errors import MoveError, PositionError, VariantError

Move: TypeAlias = str | chess.Move
Position: TypeAlias = str | chess.Board | tuple[str, Iterable[Move]]


def read_move(move: object) -> str:
    """A move as text.

    >>> read_move(chess.Move.from_uci("e2e4"))
    'e2e4'
    """
    if isinstance(move, chess.Move):
        return move.uci()
    if isinstance(move, str):
        return move
    raise MoveError(f"a move is a text or a chess.Move, not {type(move).__name__}")


def read_position(position: object, variant: str, chess960: bool) -> tuple[str | None, list[str]]:
    """The FEN where the game began, `None` for the start of the game, and the moves since.

    >>> read_position("startpos moves e2e4 e7e5", "chess", False)
    (None, ['e2e4', 'e7e5'])
    >>> board = chess.Board()
    >>> board.push_san("Nf3")
    Move.from_uci('g1f3')
    >>> read_position(board, "chess", False)
    ('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', ['g1f3'])
    """
    match position:
        case chess.Board():
            return _read_board(position, variant, chess960)
        case str():
            fen, _, moves = position.partition(" moves ")
            return _read_fen(fen.removesuffix(" moves")), moves.split()
        case (str() as fen, str() as moves):
            return _read_fen(fen), moves.split()
        case (str() as fen, moves) if isinstance(moves, Iterable):
            return _read_fen(fen), [read_move(move) for move in moves]
    raise PositionError(
        f"a position is a FEN, a FEN with moves or a chess.Board, not {type(position).__name__}"
    )


def _read_fen(text: str) -> str | None:
    fen = text.strip().removeprefix("fen ").strip()
    return None if fen == "startpos" else fen


def _read_board(board: chess.Board, variant: str, chess960: bool) -> tuple[str, list[str]]:
    if board.uci_variant != variant:
        raise VariantError(f"the board plays {board.uci_variant}, this engine {variant}")
    if board.chess960 and not chess960:
        raise VariantError("the board plays Chess960; an engine for it is made with chess960=True")
    return board.root().fen(en_passant="fen"), [move.uci() for move in board.move_stack]
