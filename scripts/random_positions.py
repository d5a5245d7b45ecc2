"""Random positions in which wins exist, and in which they are easily claimed wrongly.

Random games of python-chess, with a liking for captures and checks, mostly taken near their end. Some get a
history in which positions have occurred twice or three times, some a clock near its limit, some fewer pieces,
and in crazyhouse some get promoted pieces and fuller pockets. A position follows from variant and seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import chess
import chess.variant

LONGEST_GAME = 160
PER_GAME = 8
KINDS = ("plain", "repeated", "late", "late and repeated")
POCKET = (chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


def random_positions(variant: str, seed: str, count: int) -> Iterator[chess.Board]:
    """So many boards with the history of their games. No game is over by its position. `chess960` is a name
    here.
    """
    source = random.Random(f"{variant}/{seed}")
    made = 0
    while made < count:
        moves = random_game(source, start := first_board(source, variant))
        for _ in range(min(PER_GAME, count - made)):
            board = start.copy()
            for move in moves[: cut(source, len(moves))]:
                board.push(move)
            if source.random() < 0.5 and is_sound(other := changed(source, board)):
                board = other
            board = altered(source, board, source.choice(KINDS))
            if is_sound(board):
                made += 1
                yield board


def first_board(source: random.Random, variant: str) -> chess.Board:
    """The first position of a game."""
    if variant == "chess960":
        return chess.Board.from_chess960_pos(source.randrange(960))
    return chess.variant.find_variant(variant)()


def random_game(source: random.Random, board: chess.Board) -> list[chess.Move]:
    """Random moves to the end of a game, or for long."""
    board, liking = board.copy(), source.choice((0.0, 0.4, 0.8))
    for _ in range(LONGEST_GAME):
        moves = list(board.legal_moves)
        if not moves or is_over(board):
            break
        tried = source.sample(moves, min(6, len(moves))) if source.random() < liking else []
        sharp = [move for move in tried if board.is_capture(move) or board.gives_check(move)]
        board.push(sharp[0] if sharp else source.choice(moves))
    return board.move_stack


def is_over(board: chess.Board) -> bool:
    """Whether the position ends the game; repetitions and the move count aside."""
    return (
        board.is_variant_end()
        or not any(board.legal_moves)
        or (not isinstance(board, chess.variant.CrazyhouseBoard) and board.is_insufficient_material())
    )


def is_sound(board: chess.Board) -> bool:
    """Whether a game can go on from there."""
    return board.status() == chess.STATUS_VALID and not is_over(board)


def cut(source: random.Random, plies: int) -> int:
    """How many moves of a game are played: half of the time all but a few."""
    if source.random() < 0.5:
        return max(0, plies - source.randint(1, 6))
    return source.randint(0, max(0, plies - 1))


def altered(source: random.Random, board: chess.Board, kind: str) -> chess.Board:
    """The position with what its kind says."""
    if kind.startswith("late"):
        board = board.copy(stack=False)
        board.halfmove_clock = 100 - min(source.randint(0, 20), source.randint(0, 20))
        board.fullmove_number = max(board.fullmove_number, 60)
    if kind.endswith("repeated"):
        if kind.startswith("late"):
            board.halfmove_clock -= min(board.halfmove_clock, source.choice((5, 9)))
        repeat(source, board)
    return board


def changed(source: random.Random, board: chess.Board) -> chess.Board:
    """Crazyhouse: promoted pieces and more in the pockets. Other variants: one side has fewer pieces."""
    board = board.copy(stack=False)
    if isinstance(board, chess.variant.CrazyhouseBoard):
        for square in chess.SquareSet(board.occupied & ~board.pawns & ~board.kings):
            if source.random() < 0.4:
                board.promoted |= chess.BB_SQUARES[square]
        for colour in chess.COLORS:
            for _ in range(source.randint(0, 4)):
                board.pockets[colour].add(source.choice(POCKET))
        return board
    for square in chess.SquareSet(board.occupied_co[source.choice(chess.COLORS)] & ~board.kings):
        if source.random() < 0.85:
            board.remove_piece_at(square)
    board.castling_rights = board.clean_castling_rights()
    board.ep_square = None
    return board


def repeat(source: random.Random, board: chess.Board) -> None:
    """Both sides move a piece out and back, once or twice, then perhaps out again; checks are preferred."""
    for _ in range(8):
        cycle = out_and_back(source, board)
        if cycle is None:
            continue
        plies = 4 * source.choice((1, 1, 2)) + source.choice((0, 0, 1, 2, 3))
        for ply in range(plies):
            board.push(cycle[ply % 4])
        return


def out_and_back(source: random.Random, board: chess.Board) -> list[chess.Move] | None:
    """Four moves that lead back to the position, if two random ones can be taken back."""
    board, cycle = board.copy(stack=False), []
    for _ in range(2):
        moves = [move for move in board.legal_moves if is_reversible(board, move)]
        if not moves:
            return None
        checks = [move for move in moves if board.gives_check(move)] if source.random() < 0.5 else []
        cycle.append(source.choice(checks or moves))
        board.push(cycle[-1])
    for move in cycle[:2]:
        back = chess.Move(move.to_square, move.from_square)
        if is_over(board) or not board.is_legal(back):
            return None
        cycle.append(back)
        board.push(back)
    return None if is_over(board) else cycle


def is_reversible(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move can be taken back by another."""
    return not (
        move.drop
        or board.is_zeroing(move)
        or board.is_castling(move)
        or board.piece_type_at(move.from_square) == chess.PAWN
    )
