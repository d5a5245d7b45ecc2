"""The rules, as a search needs them, on python-chess boards.

The text that identifies a position, the order of its moves, the ends of games, and the kinds of moves that an
exploration prefers. python-chess has the rules; this file adds what the search needs beyond them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import chess
import chess.variant

from anabranch.reference.settings import Constraint


def is_crazyhouse(board: chess.Board) -> bool:
    """Whether pieces change sides: no move-count rule, no dead material, promoted marks and pockets."""
    return isinstance(board, chess.variant.CrazyhouseBoard)


def _placement(board: chess.Board) -> str:
    """The first FEN field. python-chess writes it square by square, which would take most of the time of a
    search; here a rank is written once for all positions that have it.
    """
    promoted = board.promoted if is_crazyhouse(board) else 0
    sets = (
        board.occupied_co[chess.WHITE],
        promoted,
        *(board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings),
    )
    return "/".join(_rank(*(squares >> rank & 0xFF for squares in sets)) for rank in range(56, -8, -8))


@cache
def _rank(white: int, promoted: int, *pieces: int) -> str:
    """A rank of a FEN, from the files that white, promoted pieces and each kind of piece hold."""
    text = ""
    empty = 0
    for file in range(8):
        kind = next((kind for kind, files in enumerate(pieces, chess.PAWN) if files >> file & 1), None)
        if kind is None:
            empty += 1
            continue
        symbol = chess.piece_symbol(kind)
        text += str(empty or "") + (symbol.upper() if white >> file & 1 else symbol)
        text += "~" if promoted >> file & 1 else ""
        empty = 0
    return text + str(empty or "")


def canonical_text(board: chess.Board) -> str:
    """Identity of a position: the first four FEN fields, en passant only where the capture is legal.

    Written as shakmaty writes it: pockets are white's, then black's, each from pawn to queen; three-check
    adds the checks that remain.
    """
    placement = _placement(board)
    if isinstance(board, chess.variant.CrazyhouseBoard):
        white, black = board.pockets[chess.WHITE], board.pockets[chess.BLACK]
        held = "".join(chess.piece_symbol(t).upper() * white.count(t) for t in chess.PIECE_TYPES)
        held += "".join(chess.piece_symbol(t) * black.count(t) for t in chess.PIECE_TYPES)
        placement += f"[{held}]"
    # Not has_legal_en_passant(): in atomic chess it overlooks that the capture would explode the own king.
    can_take = any(board.is_legal(move) for move in board.generate_pseudo_legal_ep())
    en_passant = board.ep_square if can_take else None
    text = " ".join(
        (
            placement,
            "w" if board.turn else "b",
            board.castling_xfen(),
            "-" if en_passant is None else chess.square_name(en_passant),
        )
    )
    if isinstance(board, chess.variant.ThreeCheckBoard):
        remaining = board.remaining_checks
        text += f" {max(remaining[chess.WHITE], 0)}+{max(remaining[chess.BLACK], 0)}"
    return text


def move_code(board: chess.Board, move: chess.Move) -> int:
    """The move as a u16, `from | to << 6 | kind << 12`; castling is the king taking its own rook."""
    if move.drop is not None:
        return move.to_square << 6 | (7 + move.drop) << 12
    to_square = move.to_square
    if board.is_castling(move) and not board.chess960:
        rook_file = 7 if chess.square_file(to_square) > chess.square_file(move.from_square) else 0
        to_square = chess.square(rook_file, chess.square_rank(to_square))
    kind = 0 if move.promotion is None else move.promotion - 1
    return move.from_square | to_square << 6 | kind << 12


def legal_moves(board: chess.Board) -> list[chess.Move]:
    """The legal moves in ascending order of their codes."""
    return sorted(board.legal_moves, key=lambda move: move_code(board, move))


def play(board: chess.Board, move: chess.Move) -> None:
    """Push a move. A dropped pawn resets the clock like one that moves, which python-chess leaves out."""
    board.push(move)
    if move.drop == chess.PAWN:
        board.halfmove_clock = 0


def clock_limit(board: chess.Board) -> int | None:
    """The clock at which the game is drawn; crazyhouse has no such rule."""
    return None if is_crazyhouse(board) else 100


def ending(board: chess.Board, moves: Sequence[chess.Move]) -> float | None:
    """The exact value of a finished position for the side to move, by its own facts alone; else None."""
    if board.is_variant_loss():
        return -1.0
    if board.is_variant_win():
        return 1.0
    if board.is_variant_draw():
        return 0.0
    if not moves:
        return -1.0 if board.is_check() else 0.0
    if not is_crazyhouse(board) and board.is_insufficient_material():
        return 0.0
    return None


THREAT_VALUES = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 100,
}


def is_threat(board: chess.Board, move: chess.Move) -> bool:
    """Whether the moved piece then attacks a dearer or undefended enemy piece, kings apart."""
    if board.is_castling(move):
        return False
    us, them = board.turn, not board.turn
    after = board.copy(stack=False)
    after.push(move)
    piece = after.piece_at(move.to_square)
    if piece is None or piece.color != us:  # it exploded
        return False
    for square in after.attacks(move.to_square):
        victim = after.piece_at(square)
        if victim is None or victim.color != them or victim.piece_type == chess.KING:
            continue
        if THREAT_VALUES[victim.piece_type] > THREAT_VALUES[piece.piece_type]:
            return True
        if not after.attackers_mask(them, square):
            return True
    return False


def satisfies(board: chess.Board, constraint: Constraint, move: chess.Move) -> bool:
    """The predicates of the domain knowledge: checks, captures, threats."""
    if constraint == "checks":
        return board.gives_check(move)
    if constraint == "captures":
        return board.is_capture(move)
    if constraint == "threats":
        return is_threat(board, move)
    return True
