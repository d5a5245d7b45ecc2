"""The position of an engine: the game that led to it, its moves, and the session of the core behind it.

One call at a time uses the session; another one is refused. Nothing here searches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import chess

from anabranch import _core
from anabranch.catalogue import is_grid
from anabranch.errors import LimitError, SearchBusyError
from anabranch.positions import Move, Position, read_grid_move, read_move, read_position
from anabranch.result import board_of


class CoreGame:
    """A game of one variant, in a session of the core."""

    def __init__(self, session: _core.Session) -> None:
        self._busy = Lock()
        self._session = session
        self._variant, self._chess960 = session.variant()

    @property
    def variant(self) -> str:
        """The name of the variant of chess, or of the game with its parameters.

        >>> from anabranch import Engine
        >>> Engine("hex", size=7).variant
        'hex:size=7'
        """
        return self._variant

    @property
    def is_grid(self) -> bool:
        """Whether this is a game on a grid, and not chess.

        >>> from anabranch import Engine
        >>> Engine("othello").is_grid, Engine("crazyhouse").is_grid
        (True, False)
        """
        return is_grid(self._variant)

    @property
    def chess960(self) -> bool:
        """Whether castling is written as in Chess960: the king takes the rook.

        >>> from anabranch import Engine
        >>> Engine(chess960=True).chess960
        True
        """
        return self._chess960

    @property
    def shape(self) -> tuple[int, int]:
        """What a network for this variant has to fit: number of planes C, size of the policy A.

        >>> from anabranch import Engine
        >>> planes, policy_size = Engine("crazyhouse").shape
        """
        with self._exclusive():
            return self._session.shape()

    @property
    def plane_shape(self) -> tuple[int, int, int]:
        """Planes, rows and columns of what an evaluator in Python gets for a position.

        >>> from anabranch import Engine
        >>> Engine("connect-four").plane_shape
        (3, 6, 7)
        """
        with self._exclusive():
            return self._session.plane_shape()

    @property
    def player(self) -> int:
        """Who is to move: 0 is the first player, in chess White, and 1 the second.

        >>> from anabranch import Engine
        >>> engine = Engine("connect-four")
        >>> engine.play("4")
        >>> engine.player
        1
        """
        with self._exclusive():
            return self._session.player()

    @property
    def picture(self) -> str:
        """The board in lines of text.

        >>> from anabranch import Engine
        >>> engine = Engine("hex", size=3)
        >>> engine.play("b2")
        >>> print(engine.picture)
        1 . . .
        2  . x .
        3   . . .
            a b c
        o to move
        """
        with self._exclusive():
            return self._session.picture()

    @property
    def position(self) -> str:
        """The position (FEN; in games on a grid the rows from the top, and the side to move).

        >>> from anabranch import Engine
        >>> Engine().position
        'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'
        """
        with self._exclusive():
            return self._session.fen()

    @position.setter
    def position(self, position: Position) -> None:
        with self._exclusive():
            self._set_position(position)

    def board(self) -> chess.Board:
        """The position as a python-chess board, with the moves that led to it: for chess alone.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> engine.play("e2e4")
        >>> board = engine.board()
        >>> board.peek().uci(), board.fullmove_number
        ('e2e4', 1)
        """
        with self._exclusive():
            fen, moves = self._session.game()
        board = board_of(self._variant, fen, self._chess960)
        for move in moves:
            board.push(board.parse_uci(move))
        return board

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The legal moves (UCI); none when the game is over.

        >>> from anabranch import Engine
        >>> len(Engine().legal_moves), Engine("connect-four").legal_moves
        (20, ('1', '2', '3', '4', '5', '6', '7'))
        """
        with self._exclusive():
            return tuple(self._session.legal_moves())

    @property
    def is_over(self) -> bool:
        """Whether the game is over by the rules of the position.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> engine.position = "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1"
        >>> engine.is_over, engine.ending
        (True, -1.0)
        """
        return self.ending is not None

    @property
    def ending(self) -> float | None:
        """The value for the side to move of a game that is over by the rules of the position.

        >>> from anabranch import Engine
        >>> print(Engine().ending)
        None
        """
        with self._exclusive():
            return self._session.ending()

    def play(self, move: Move) -> None:
        """Play a move (UCI, SAN or `chess.Move`; in other games as the game writes it); the graph below it is
        kept.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> engine.play("e2e4")
        >>> engine.play("Nf6")
        >>> engine.position.split()[0]
        'rnbqkb1r/pppppppp/5n2/8/4P3/8/PPPP1PPP/RNBQKBNR'
        """
        text = read_grid_move(move) if self.is_grid else read_move(move)
        with self._exclusive():
            self._session.play(text)

    def reset(self, position: Position | None = None) -> None:
        """Forget everything, and go to a position, or back to the start of the game. The next search is that
        of a new engine.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> first = engine.search("startpos moves e2e4", simulations=100)
        >>> engine.reset("startpos moves e2e4")
        >>> engine.search(simulations=100).moves == first.moves
        True
        """
        given = "startpos" if position is None else position
        with self._exclusive():
            self._session.start_at(*read_position(given, self._variant, self._chess960))

    def forget(self) -> None:
        """Forget the graph, not the position.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search("startpos moves e2e4", simulations=100)
        >>> engine.forget()
        >>> engine.search(simulations=50).statistics.root_visits
        50
        """
        with self._exclusive():
            self._session.forget()

    def perft(self, depth: int) -> dict[str, int]:
        """Number of move sequences of a length, by first move.

        >>> from anabranch import Engine
        >>> sum(Engine().perft(3).values())
        8902
        """
        if not 1 <= depth <= 64:
            raise LimitError(f"a depth is a number from 1 to 64, not {depth}")
        with self._exclusive():
            return dict(self._session.perft(depth)[1])

    def _acquire(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise SearchBusyError("a search is under way on this engine; stop it or wait for it first")

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        self._acquire()
        try:
            yield
        finally:
            self._busy.release()

    def _set_position(self, position: Position) -> None:
        self._session.set_position(*read_position(position, self._variant, self._chess960))
