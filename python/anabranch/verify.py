"""Proofs checked: whether a certificate proves the win or loss that it claims.

The rules are those of python-chess, and nothing of the core is used, so that a fault of the core cannot hide
itself. The positions are taken by falling plies: a position comes after all that lead to it, so none is
visited twice, nothing recurses, and a cycle cannot pass. Time is proportional to the size of the file; memory
to the number of its positions.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NoReturn

import chess
import chess.variant

from anabranch.formats.certificates import Certificate, ProofNode

CLOCK_LIMIT = 100
"""The clock at which a game that is not over is drawn. Crazyhouse has no such rule."""
LOOSE = (
    chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_BAD_CASTLING_RIGHTS
    | chess.STATUS_TOO_MANY_CHECKERS
    | chess.STATUS_IMPOSSIBLE_CHECK
    | chess.STATUS_RACE_MATERIAL
)
"""Faults of positions that no game reaches, but from which the rules can be followed."""
LONGEST_FEN = 400
"""Letters. The pockets of crazyhouse would have no bound."""


@dataclass(frozen=True)
class Verified:
    """A proof that holds.

    >>> Verified("chess", "win", plies=7, positions=26).moves
    4
    """

    variant: str
    result: Literal["win", "loss"]
    """For the side to move at the root."""
    plies: int
    positions: int

    @property
    def moves(self) -> int:
        """Moves of the side to move up to the end, at most."""
        return (self.plies + 1) // 2


def verify_proof(path: str | Path) -> Verified:
    """Check a certificate. One that is damaged or proves nothing raises `ProofError`; a file that cannot be
    read raises `OSError`.

    >>> from tempfile import TemporaryDirectory
    >>> from anabranch import Engine
    >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
    >>> with TemporaryDirectory() as folder:
    ...     solution.save_certificate(f"{folder}/mate.jsonl")
    ...     verify_proof(f"{folder}/mate.jsonl")
    Verified(variant='chess', result='win', plies=1, positions=2)
    """
    with Certificate(path) as certificate:
        _Verifier(certificate).check()
        header = certificate.header
        return Verified(header.variant, header.result, header.plies, header.nodes)


class _Verifier:
    """The positions known so far: those that wait for their own turn, and the identity of all."""

    def __init__(self, certificate: Certificate) -> None:
        self._certificate = certificate
        self._plies = certificate.plies
        self._has_clock = certificate.header.variant != "crazyhouse"
        self._occurrences: Counter[str] = Counter()
        self._board = self._play_game()
        is_win = certificate.header.result == "win"
        self._attacker = self._board.turn if is_win else not self._board.turn
        self._waiting: dict[int, str] = {}
        self._ids: dict[bytes, int] = {}
        self._clocks = array("H", bytes(2 * len(self._plies)))

    def check(self) -> None:
        """Check every position."""
        header = self._certificate.header
        if self._plies[0] != header.plies:
            self._refuse(f"the root has {self._plies[0]} plies, the header {header.plies}", 0)
        self._reach(0, identity(self._board), self._board.halfmove_clock, 0)
        for id in sorted(range(len(self._plies)), key=self._plies.__getitem__, reverse=True):
            text = self._waiting.pop(id, None)
            if text is None:
                self._refuse(f"position {id} is not reached from the root", id)
            self._board.set_fen(text)
            node = self._certificate.node(id)
            if node.kind == "end":
                self._check_end(node)
            else:
                self._check_moves(node)

    def _play_game(self) -> chess.Board:
        """The root, after the game before it."""
        header = self._certificate.header
        try:
            board_class = chess.variant.find_variant(header.variant)
        except ValueError:
            board_class = None
        if board_class is None or board_class.uci_variant != header.variant:
            self._refuse(f"there is no variant {header.variant[:40]!r}")
        if len(header.fen) > LONGEST_FEN:
            self._refuse(f"the FEN has {len(header.fen)} letters, more than {LONGEST_FEN}")
        try:
            board = board_class(header.fen, chess960=header.chess960)
        except ValueError:
            self._refuse(f"{header.fen[:100]!r} is no FEN of {header.variant}")
        if board.status() & ~LOOSE:
            self._refuse(f"the position {header.fen[:100]!r} is against the rules")
        self._occurrences[identity(board)] += 1
        for text in header.moves:
            if ending(board) is not None:
                self._refuse(f"the game is over before the move {text[:10]!r}")
            move = read_move(board, text)
            if move is None:
                self._refuse(f"the move {text[:10]!r} of the game is illegal")
            board.push(move)
            self._occurrences[identity(board)] += 1
        return board

    def _reach(self, id: int, text: str, clock: int, parent: int) -> None:
        """A line of the proof leads to a position."""
        known = self._waiting.get(id)
        if known is None:
            digest = blake2b(text.encode(), digest_size=16).digest()
            other = self._ids.setdefault(digest, id)
            if other != id:
                self._refuse(f"positions {other} and {id} are the same: {text}", parent)
            self._waiting[id] = text
        elif known != text:
            self._refuse(f"position {id} is {text} here and {known} on another line", parent)
        if self._has_clock:
            self._clocks[id] = max(self._clocks[id], min(clock, CLOCK_LIMIT))

    def _check_end(self, node: ProofNode) -> None:
        if node.plies != 0:
            self._refuse(f"position {node.id} has no moves, but {node.plies} plies", node.id)
        result = ending(self._board)
        if result is None:
            self._refuse(f"position {node.id} is no end of the game", node.id)
        if result.winner != self._attacker:
            outcome = "drawn" if result.winner is None else "lost for the attacker"
            self._refuse(f"position {node.id} is {outcome}", node.id)

    def _check_moves(self, node: ProofNode) -> None:
        board, id = self._board, node.id
        if ending(board) is not None:
            self._refuse(f"the game is over in position {id}, but the proof goes on", id)
        if self._has_clock and self._clocks[id] >= CLOCK_LIMIT:
            self._refuse(f"the game is drawn in position {id}: {CLOCK_LIMIT} plies without progress", id)
        # The root is a position of the game, and counted there already.
        if self._occurrences[identity(board)] >= (3 if id == 0 else 2):
            self._refuse(f"position {id} occurs for the third time, which is a draw", id)
        if (node.kind == "attacker") != (board.turn == self._attacker):
            self._refuse(f"position {id} has the moves of the {node.kind}, who is not to move", id)
        if node.kind == "attacker":
            moves = {text: read_move(board, text) for text in node.moves}
        else:
            moves = {board.uci(move): move for move in board.legal_moves}
        for text in node.moves:
            if moves.get(text) is None:
                self._refuse(f"the move {text[:10]!r} in position {id} is illegal", id)
        for text, move in moves.items():
            if text not in node.moves:
                self._refuse(f"the defence {text} in position {id} is missing", id)
            assert move is not None
            self._follow(node, text, move)
        longest = max(self._plies[child] for child in node.moves.values())
        if node.plies != 1 + longest:
            self._refuse(f"position {id} has {node.plies} plies, and its longest line {1 + longest}", id)

    def _follow(self, node: ProofNode, text: str, move: chess.Move) -> None:
        """Play a move of the proof on the board and take it back."""
        board, child = self._board, node.moves[text]
        if self._plies[child] >= node.plies:
            self._refuse(
                f"{text} leads from position {node.id}, {node.plies} plies before the end, "
                f"to position {child}, {self._plies[child]} before it",
                node.id,
            )
        board.halfmove_clock = self._clocks[node.id]
        board.push(move)
        self._reach(child, identity(board), board.halfmove_clock, node.id)
        board.pop()

    def _refuse(self, reason: str, id: int | None = None) -> NoReturn:
        self._certificate.refuse(reason, id)


def identity(board: chess.Board) -> str:
    """The text that identifies a position: a FEN without counters' values. En passant counts where the
    capture is legal, promoted pieces where they are marked (crazyhouse).
    """
    en_passant = board.ep_square
    # Not has_legal_en_passant(): in atomic chess it overlooks that the capture would explode the own king.
    can_take = en_passant is not None and any(map(board.is_legal, board.generate_pseudo_legal_ep()))
    text = board.epd(en_passant="fen", promoted=isinstance(board, chess.variant.CrazyhouseBoard))
    fields = text.split(" ")
    if not can_take:
        fields[3] = "-"
    return " ".join((*fields, "0", "1"))


@dataclass(frozen=True)
class Ending:
    """A game that is over by its position alone; no winner is a draw."""

    winner: chess.Color | None


def ending(board: chess.Board) -> Ending | None:
    """How the game ended by the position alone; `None` while it goes on."""
    if board.is_variant_loss():
        return Ending(not board.turn)
    if board.is_variant_win():
        return Ending(board.turn)
    if board.is_variant_draw():
        return Ending(None)
    if not any(board.generate_legal_moves()):
        return Ending(not board.turn if board.is_check() else None)
    if not isinstance(board, chess.variant.CrazyhouseBoard) and board.is_insufficient_material():
        return Ending(None)
    return None


def read_move(board: chess.Board, text: str) -> chess.Move | None:
    """A legal move from its one UCI form; `None` for any other text."""
    try:
        move = chess.Move.from_uci(text)
    except ValueError:
        return None
    return move if move and board.is_legal(move) and board.uci(move) == text else None


__all__ = ["Verified", "verify_proof"]
