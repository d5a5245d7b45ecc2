"""Random positions with given men."""

import random

import chess


def random_board(rng: random.Random, white: str, black: str, turn: chess.Color | None = None) -> chess.Board:
    """A legal position with these men (upper case), in which somebody can move."""
    while True:
        board = chess.Board(None)
        squares = rng.sample(range(64), len(white) + len(black))
        for square, symbol in zip(squares, white + black.lower(), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(symbol))
        board.turn = rng.random() < 0.5 if turn is None else turn
        if board.is_valid() and any(board.legal_moves):
            return board
