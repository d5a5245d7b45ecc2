"""The forms in which a position may be given, read into what the core takes: a FEN, or the start of the
game, and moves.

Only forms are read here. The core checks the FEN and the moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import chess

from anabranch.catalogue import is_grid
from anabranch.errors import MoveError, PositionError, VariantError

Move: TypeAlias = str | chess.Move
Position: TypeAlias = str | chess.Board | tuple[str, Iterable[Move]] | Sequence[str | int]


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

    In games on a grid moves alone are a position too: a text, or a list.

    >>> read_position("startpos moves e2e4 e7e5", "chess", False)
    (None, ['e2e4', 'e7e5'])
    >>> board = chess.Board()
    >>> board.push_san("Nf3")
    Move.from_uci('g1f3')
    >>> read_position(board, "chess", False)
    ('rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1', ['g1f3'])
    >>> read_position("4 4 3", "connect-four", False), read_position([4, 4, 3], "connect-four", False)
    ((None, ['4', '4', '3']), (None, ['4', '4', '3']))
    >>> read_position((".../.x./... o", ["a1"]), "tic-tac-toe", False)
    ('.../.x./... o', ['a1'])
    """
    if is_grid(variant):
        return _read_grid(position)
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


def _read_grid(position: object) -> tuple[str | None, list[str]]:
    match position:
        case str():
            begin, _, moves = position.partition(" moves ")
            begin = begin.removesuffix(" moves").strip()
            if _begins_game(begin):
                return _read_fen(begin), moves.split()
            return None, [*begin.split(), *moves.split()]
        case (str() as begin, str() as rest) if _begins_game(begin):
            return _read_fen(begin), rest.split()
        case (str() as begin, (list() | tuple()) as played) if _begins_game(begin):
            return _read_fen(begin), [read_grid_move(move) for move in played]
        case list() | tuple():
            return None, [read_grid_move(move) for move in position]
    raise PositionError(f"a position is moves, a text of the board, or both, not {type(position).__name__}")


def _begins_game(text: str) -> bool:
    return "/" in text or text == "startpos"


def read_grid_move(move: object) -> str:
    """A move of a game on a grid as text.

    >>> read_grid_move(4), read_grid_move("c3")
    ('4', 'c3')
    """
    if isinstance(move, (str, int)) and not isinstance(move, bool):
        return str(move)
    raise MoveError(f"a move of this game is a text or a number, not {type(move).__name__}")


def _read_fen(text: str) -> str | None:
    fen = text.strip().removeprefix("fen ").strip()
    return None if fen == "startpos" else fen


def _read_board(board: chess.Board, variant: str, chess960: bool) -> tuple[str, list[str]]:
    if board.uci_variant != variant:
        raise VariantError(f"the board plays {board.uci_variant}, this engine {variant}")
    if board.chess960 and not chess960:
        raise VariantError("the board plays Chess960; an engine for it is made with chess960=True")
    return board.root().fen(en_passant="fen"), [move.uci() for move in board.move_stack]
