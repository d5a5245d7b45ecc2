"""Opening books for tests."""

import struct
from pathlib import Path

import chess
import chess.polyglot

Entry = tuple[chess.Board, str, int]


def write_book(path: Path, entries: list[Entry]) -> Path:
    """A book; moves are written as the format has it, castling as the king taking the rook."""
    rows = []
    for board, text, weight in entries:
        move = chess.Move.from_uci(text)
        code = move.to_square | move.from_square << 6 | (move.promotion - 1 if move.promotion else 0) << 12
        rows.append((chess.polyglot.zobrist_hash(board), code, weight, 0))
    path.write_bytes(b"".join(struct.pack(">QHHI", *row) for row in sorted(rows)))
    return path
