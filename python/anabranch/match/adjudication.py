"""Adjudication: games that end before the rules end them, by score, tablebase, proof or length.

Every rule can be switched off. The rules by score look at the scores of both players over the last plies.
Nothing here plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import chess
import chess.syzygy
import chess.variant

from anabranch.catalogue import is_grid
from anabranch.errors import MatchError

RESIGN_SCORES = {"chess": 1000}
OTHER_RESIGN_SCORE = 1500
"""Centipawns at which a game counts as decided; in both networks that is a value of about 0.95."""

WHITE_WINS, BLACK_WINS, DRAW = "1-0", "0-1", "1/2-1/2"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When a game is ended early; `None` switches a rule off."""

    resign_score: int | None = None
    """A game is won when both players score one side ahead by this many centipawns."""
    resign_plies: int = 6
    """Plies in a row with such scores, for a win."""
    draw_score: int | None = None
    """A game is drawn when both players score it at most this many centipawns from 0."""
    draw_plies: int = 12
    """Plies in a row with such scores, for a draw."""
    draw_after: int = 80
    """The ply of the game from which on it can be drawn by score."""
    tablebases: str | None = None
    """Folder with Syzygy tables that end games."""
    longest: int | None = None
    """Plies after which a game is drawn."""
    proofs: bool = True
    """Besides chess: a game ends when its winner, or for a draw both players, have proven the result."""

    @classmethod
    def usual(cls, variant: str) -> Self:
        """The rules of a match where no others are given.

        >>> Adjudication.usual("chess").resign_score, Adjudication.usual("crazyhouse").resign_score
        (1000, 1500)
        """
        if is_grid(variant):
            return cls(longest=400)
        return cls(RESIGN_SCORES.get(variant, OTHER_RESIGN_SCORE), draw_score=10, longest=400)

    def __post_init__(self) -> None:
        for name in ("resign_score", "longest"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise MatchError(f"{name} must be at least 1, not {number}")
        if self.draw_score is not None and self.draw_score < 0:
            raise MatchError(f"draw_score must be at least 0, not {self.draw_score}")
        if self.resign_plies < 2 or self.draw_plies < 2:
            raise MatchError("both players have to agree, so two plies are the least")

    def check_grid(self, variant: str) -> None:
        """Refuse rules by score and tablebase for games that have neither."""
        for name in ("resign_score", "draw_score", "tablebases"):
            if getattr(self, name) is not None:
                flag = name.replace("_", "-")
                raise MatchError(
                    f"games of {variant} end by the rules, by proofs or by length; --{flag} is for chess"
                )

    def proven_verdict(self, proven: Mapping[chess.Color, str | None], plies: int) -> tuple[str, str] | None:
        """Result and reason where a game besides chess ends here, after so many plies.

        `proven` has the result that each player has proven last. A player that has proven its own win wins; a
        loss that only the loser knows is played on.

        >>> Adjudication().proven_verdict({chess.WHITE: "1-0", chess.BLACK: None}, 9)
        ('1-0', 'proof')
        >>> Adjudication().proven_verdict({chess.WHITE: "0-1", chess.BLACK: None}, 9) is None
        True
        """
        if self.proofs:
            for color, result in ((chess.WHITE, WHITE_WINS), (chess.BLACK, BLACK_WINS)):
                if proven[color] == result:
                    return result, "proof"
            if proven[chess.WHITE] == proven[chess.BLACK] == DRAW:
                return DRAW, "proof"
        if self.longest is not None and plies >= self.longest:
            return DRAW, "length"
        return None

    def verdict(self, board: chess.Board, scores: Sequence[int | None]) -> tuple[str, str] | None:
        """Result and reason, if the game ends here. `scores` are White's, one for each ply so far."""
        if self.tablebases is not None:
            known = probe(board, self.tablebases)
            if known is not None:
                return known, "tablebase"
        if self.resign_score is not None:
            last = _last(scores, self.resign_plies)
            if last and min(last) >= self.resign_score:
                return WHITE_WINS, "resignation"
            if last and max(last) <= -self.resign_score:
                return BLACK_WINS, "resignation"
        if self.draw_score is not None and len(scores) >= self.draw_after:
            last = _last(scores, self.draw_plies)
            if last and max(abs(score) for score in last) <= self.draw_score:
                return DRAW, "agreement"
        if self.longest is not None and len(scores) >= self.longest:
            return DRAW, "length"
        return None


def _last(scores: Sequence[int | None], plies: int) -> list[int]:
    """The scores of the last plies; empty if there are fewer, or one is missing."""
    last = [score for score in scores[-plies:] if score is not None]
    return last if len(last) == plies else []


def probe(board: chess.Board, folder: str) -> str | None:
    """The result of a position by tablebases, if it is in them.

    A win counts only right after a capture or a pawn move, because tables do not know how many of the 50
    moves are left; a draw counts at any time.
    """
    if board.castling_rights or chess.popcount(board.occupied) > 7 or not board.tbw_suffix:
        return None
    try:
        found = open_tables(folder, board.uci_variant or "chess").probe_wdl(board)
    except (KeyError, chess.syzygy.MissingTableError):
        return None
    if abs(found) < 2:
        return DRAW
    if board.halfmove_clock:
        return None
    return WHITE_WINS if (found > 0) == (board.turn == chess.WHITE) else BLACK_WINS


@cache
def open_tables(folder: str, variant: str) -> chess.syzygy.Tablebase:
    """The tables of a folder; refused if there are none, or none can be for the variant."""
    rules = chess.variant.find_variant(variant)
    if not rules.tbw_suffix:
        raise MatchError(f"there are no tablebases for {variant}")
    tables = chess.syzygy.Tablebase(VariantBoard=rules)
    try:
        found = tables.add_directory(folder)
    except OSError as error:
        raise MatchError(f"{folder} cannot be read: {error.strerror}") from error
    if not found:
        raise MatchError(f"there is no tablebase for {variant} in {folder}")
    return tables
