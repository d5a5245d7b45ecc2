"""One game: a pure function of its description, on any machine.

The rules of chess are those of python-chess, those of other games are in `anabranch.match.grid_board`. A
player that fails loses, and the record holds the reason. Nothing here knows matches, files or processes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import chess

from anabranch.catalogue import is_grid
from anabranch.match.adjudication import BLACK_WINS, DRAW, WHITE_WINS, Adjudication
from anabranch.match.grid_board import GridBoard
from anabranch.match.openings import Opening, board_of
from anabranch.match.player import Fault, MoveLimits, PlayerSpec
from anabranch.match.players import keep_player


@dataclass(frozen=True, slots=True)
class GameSpec:
    """The description of a game. It can be pickled."""

    pair: int
    """Number of the pair in the match."""
    game: int
    """0 or 1: the first or the second of the pair."""
    variant: str
    """A variant of chess, or another game with its parameters."""
    chess960: bool
    opening: Opening
    white: PlayerSpec
    black: PlayerSpec
    adjudication: Adjudication
    margin: float = 1.0
    """Seconds that a player may be late."""
    timeout: float = 60.0
    """Seconds without a reply, where there is no clock, after which a program counts as hanging."""
    seed: int = 0
    rules: object = None
    """The game, where it is written in Python."""

    @property
    def key(self) -> tuple[int, int]:
        """Unique in a match: pair and game."""
        return self.pair, self.game


@dataclass(frozen=True, slots=True)
class Ply:
    """A move and the report of its player."""

    move: str
    """UCI; besides chess as the game writes it."""
    score: int | None
    """Centipawns for the side that moved, mates as in `anabranch.formats.scores`; besides chess, thousandths
    of the value."""
    depth: int | None
    nodes: int | None
    seconds: float
    proven: str | None = None
    """`win`, `draw` or `loss` for the side that moved, in games besides chess."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that was played."""

    pair: int
    game: int
    white: str
    black: str
    variant: str
    chess960: bool
    fen: str
    opening: str
    result: str
    """1-0, 0-1 or 1/2-1/2."""
    reason: str
    """Why it ended: a rule, an adjudication, or the kind of a fault."""
    fault: str | None
    """The message of the fault that lost the game, if one did."""
    titles: tuple[str, str]
    """The engine names of White and Black."""
    date: str
    seconds: float
    plies: tuple[Ply, ...]

    @property
    def key(self) -> tuple[int, int]:
        """Unique in a match: pair and game."""
        return self.pair, self.game

    @property
    def white_points(self) -> float:
        """Points of White."""
        return {WHITE_WINS: 1.0, BLACK_WINS: 0.0}.get(self.result, 0.5)

    def points_of(self, name: str) -> float:
        """Points of a player."""
        return self.white_points if name == self.white else 1.0 - self.white_points

    def to_dict(self) -> dict[str, Any]:
        """As plain values; plies as lists, because there are many."""
        values = asdict(self)
        values["plies"] = [
            [ply.move, ply.score, ply.depth, ply.nodes, ply.seconds, *filter(None, [ply.proven])]
            for ply in self.plies
        ]
        return values

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The record of a stored document."""
        plies = tuple(Ply(*ply) for ply in stored["plies"])
        return cls(**{**stored, "titles": tuple(stored["titles"]), "plies": plies})


def play_game(spec: GameSpec) -> GameRecord:
    """Play a game to its end."""
    board = start_of(spec)
    rules = spec.variant, spec.chess960, spec.margin, spec.timeout
    side = "black" if spec.white == spec.black else ""  # the same program on both sides runs twice
    players = {
        chess.WHITE: keep_player(spec.white, *rules, game=spec.rules),
        chess.BLACK: keep_player(spec.black, *rules, side, spec.rules),
    }
    plies: list[Ply] = []
    begun = time.time()
    fault: Fault | None = None
    try:
        for color in (chess.WHITE, chess.BLACK):
            loser = color
            players[color].new_game(spec.seed)
        result, reason = "", ""
        clocks = _Clocks(spec)
        scores: list[int | None] = []
        proven: dict[chess.Color, str | None] = dict.fromkeys(chess.COLORS)
        while not result:
            loser = board.turn
            answer = players[loser].play(board, clocks.limits(loser))
            text = answer.move if isinstance(board, GridBoard) else board.uci(answer.move)
            plies.append(Ply(text, *answer[1:4], round(answer.seconds, 4), answer.proven))
            scores.append(answer.score if loser == chess.WHITE or answer.score is None else -answer.score)
            clocks.spend(loser, answer.seconds)
            board.push(answer.move)
            if isinstance(board, GridBoard):
                proven[loser] = result_of(answer.proven, loser) or proven[loser]
                found = board.ending() or spec.adjudication.proven_verdict(proven, len(plies))
            else:
                found = ending(board) or spec.adjudication.verdict(board, scores)
            result, reason = found or ("", "")
    except Fault as failed:
        fault = failed
        result = BLACK_WINS if loser == chess.WHITE else WHITE_WINS
        reason = failed.kind
    return GameRecord(
        spec.pair,
        spec.game,
        spec.white.name,
        spec.black.name,
        spec.variant,
        spec.chess960,
        spec.opening.fen,
        spec.opening.name,
        result,
        reason,
        None if fault is None else str(fault),
        (players[chess.WHITE].title, players[chess.BLACK].title),
        time.strftime("%Y-%m-%d", time.gmtime(begun)),
        round(time.time() - begun, 3),
        tuple(plies),
    )


def start_of(spec: GameSpec) -> chess.Board | GridBoard:
    """The position in which a game begins."""
    if is_grid(spec.variant):
        return GridBoard(spec.variant, spec.opening.fen, spec.rules)
    return board_of(spec.variant, spec.opening.fen, spec.chess960)


def result_of(state: str | None, mover: chess.Color) -> str | None:
    """The result of a game that is won, drawn or lost for the side to move.

    >>> result_of("win", chess.BLACK), result_of("draw", chess.WHITE), result_of(None, chess.WHITE)
    ('0-1', '1/2-1/2', None)
    """
    if state is None or state == "draw":
        return state and DRAW
    return WHITE_WINS if (state == "win") == (mover == chess.WHITE) else BLACK_WINS


def ending(board: chess.Board) -> tuple[str, str] | None:
    """Result and reason where the rules end the game; a third repetition and 50 moves end it without a claim.

    >>> ending(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"))
    ('1-0', 'checkmate')
    """
    outcome = board.outcome()
    if outcome is not None:
        return outcome.result(), outcome.termination.name.lower().replace("_", " ")
    if board.is_repetition(3):
        return DRAW, "threefold repetition"
    if board.halfmove_clock >= 100:
        return DRAW, "fifty moves"
    return None


class _Clocks:
    """The clocks of a game; a side without one has the time of its budget for each move.

    A clock may run below 0 by as much as the margin; the debt stays until increments pay it back.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._budgets = {chess.WHITE: spec.white.budget, chess.BLACK: spec.black.budget}
        self._left = {color: budget.clock for color, budget in self._budgets.items()}

    def limits(self, color: chess.Color) -> MoveLimits:
        budget = self._budgets[color]
        own = self._left[color]
        if own is None:
            return MoveLimits(budget)
        white, black = (own if left is None else left for left in (self._left[True], self._left[False]))
        gains = (self._budgets[True].increment, self._budgets[False].increment)
        return MoveLimits(budget, (white, black), gains)

    def spend(self, color: chess.Color, seconds: float) -> None:
        left = self._left[color]
        if left is not None:
            self._left[color] = left - seconds + self._budgets[color].increment
