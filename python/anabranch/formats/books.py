"""Opening books in PolyGlot's format, for chess and Chess960.

A book is read into memory once, and checked; then the file is not needed, and any number of threads may use
the book. Which move of a book is played, and when a book is used, is decided elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import chess
import chess.polyglot
import numpy as np

from anabranch.errors import BookError

_ENTRY = np.dtype([("key", ">u8"), ("move", ">u2"), ("weight", ">u2"), ("learn", ">u4")])
_PROMOTIONS = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


class Book:
    """A PolyGlot book.

    `path` is a file of entries of 16 bytes in the order of their keys; anything else is a `BookError`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            raise BookError(f"there is no book {path}") from None
        except OSError as error:
            raise BookError(f"the book {path} cannot be read: {error.strerror}") from error
        if not content:
            raise BookError(f"the book {path} is empty")
        if len(content) % _ENTRY.itemsize:
            raise BookError(
                f"the book {path} is damaged: its {len(content)} bytes are not entries of {_ENTRY.itemsize}"
            )
        self._entries = np.frombuffer(content, _ENTRY)
        self._keys = self._entries["key"].astype(np.uint64)
        falls = np.flatnonzero(self._keys[1:] < self._keys[:-1])
        if len(falls):  # a search by halves would miss entries
            raise BookError(f"the book {path} is damaged: entry {falls[0] + 2} is out of order")

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<Book {self.path}, {len(self)} entries>"

    def moves(self, board: chess.Board) -> list[tuple[chess.Move, int]]:
        """The legal moves of the book in a position with their weights, the heaviest first.

        A move that the book has twice counts once, with both weights. Other variants have no books.
        """
        if board.uci_variant != "chess":
            return []
        key = np.uint64(chess.polyglot.zobrist_hash(board))
        first, last = np.searchsorted(self._keys, key, "left"), np.searchsorted(self._keys, key, "right")
        weights: dict[chess.Move, int] = {}
        for entry in self._entries[first:last]:
            move = _read_move(int(entry["move"]), board)
            if move is not None:
                weights[move] = weights.get(move, 0) + int(entry["weight"])
        return sorted(weights.items(), key=lambda known: -known[1])

    def choose(self, board: chess.Board, random: Random) -> chess.Move | None:
        """A move drawn by the weights; `None` where the book has none with a weight above zero."""
        known = [(move, weight) for move, weight in self.moves(board) if weight > 0]
        if not known:
            return None
        return random.choices([move for move, _ in known], [weight for _, weight in known])[0]


def _read_move(code: int, board: chess.Board) -> chess.Move | None:
    """The move of an entry as the board writes it, if it is legal.

    Books write castling as the king taking its rook, in chess as in Chess960; the board reads both forms.
    """
    to, origin, promotion = code & 63, code >> 6 & 63, code >> 12 & 7
    if promotion >= len(_PROMOTIONS) or origin == to:
        return None
    try:
        return board.parse_uci(chess.Move(origin, to, _PROMOTIONS[promotion]).uci())
    except ValueError:
        return None
