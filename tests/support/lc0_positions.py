"""Positions with histories for comparisons with Lc0: castling, promotions, en passant, repetitions."""

import random

import chess

Sample = tuple[str | None, list[str]]
"""A FEN, none for the start of the game, and moves."""

STARTS: tuple[str | None, ...] = (
    None,
    "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 6 8",
    "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1",
    "1n1r1k2/P1P5/8/8/8/8/p1p2K2/1N1R4 b - - 0 40",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/1ppppppp/8/8/pP6/4P3/P1PP1PPP/RNBQKBNR b KQkq b3 0 3",
    "4k3/8/8/8/8/8/8/4K2R w K - 10 40",
)
UNUSABLE = (
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e6 0 2",
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 2",
)
"""No pawn may capture on the square that they name. Where such a position occurs again without that square,
Lc0 takes it for another one, and we do not.
"""
CHESS960 = "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1"


def samples(count: int, seed: int = 1) -> list[Sample]:
    """Positions in which the game is not over, by random moves that often go back."""
    source = random.Random(seed)
    found: list[Sample] = [(start, []) for start in UNUSABLE]
    found += [(UNUSABLE[0], ["b1c3"]), (UNUSABLE[1], ["a5a6", "h5h6", "a6b5"])]
    while len(found) < count:
        start = source.choice(STARTS)
        board = chess.Board() if start is None else chess.Board(start)
        length = source.randrange(10) if source.random() < 0.6 else source.randrange(80)
        while len(board.move_stack) < length and not board.is_game_over():
            board.push(_move(board, source))
        if not board.is_game_over() and not board.is_repetition(3):
            found.append((start, [move.uci() for move in board.move_stack]))
    return found


def _move(board: chess.Board, source: random.Random) -> chess.Move:
    moves = list(board.legal_moves)
    special = [move for move in moves if board.is_castling(move) or board.is_en_passant(move)]
    if special and source.random() < 0.1:
        return source.choice(special)
    if len(board.move_stack) >= 2 and source.random() < 0.5:
        last = board.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in moves:
            return back
    return source.choice(moves)


def kinds(given: list[Sample]) -> dict[str, int]:
    """How many of the positions have what."""
    counts = dict.fromkeys(("castling", "promotion", "en passant", "repetition", "short", "long"), 0)
    for start, moves in given:
        board = chess.Board() if start is None else chess.Board(start)
        for move in moves:
            board.push_uci(move)
        legal = list(board.legal_moves)
        counts["castling"] += any(board.is_castling(move) for move in legal)
        counts["promotion"] += any(move.promotion is not None for move in legal)
        counts["en passant"] += board.has_legal_en_passant()
        counts["repetition"] += board.is_repetition(2)
        counts["short"] += len(moves) < 8
        counts["long"] += len(moves) >= 8
    return counts
