"""How many moves of people the policy of a network predicts, counted over PGN files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import chess.pgn

from anabranch.errors import AnnotationError
from anabranch.formats.pgn import parse_game, read_text, split_games
from anabranch.human import PolicySource, batches, opinions

FIRST_PLY = 10
"""Plies at the start of a game that are not predicted, as in the paper of Maia."""
LEAST_SECONDS = 30.0
"""Moves with less time on the clock are not predicted, as there."""


@dataclass(slots=True)
class Prediction:
    """How well a policy predicts the moves of people."""

    games: int = 0
    unreadable: int = 0
    """Games that are damaged, or of another variant."""
    moves: int = 0
    """Moves that were predicted or not."""
    first: int = 0
    """How often the most probable move was played."""
    among_three: int = 0
    """How often one of the three most probable was."""
    log_loss: float = 0.0
    """Sum of the negative logarithms of the probabilities of the moves played."""
    by_rating: dict[int, list[int]] = field(default_factory=dict)
    """By the rating of the player, in steps of 200: moves, and how often the most probable one was played."""

    @property
    def share(self) -> float:
        """Share of moves predicted."""
        return self.first / self.moves if self.moves else math.nan

    @property
    def error(self) -> float:
        """Standard error of the share."""
        return math.sqrt(self.share * (1.0 - self.share) / self.moves) if self.moves else math.nan

    def add(self, policy: Mapping[str, float], played: str, rating: int | None) -> None:
        """Count one move."""
        ranked = list(policy)
        self.moves += 1
        self.first += ranked[0] == played
        self.among_three += played in ranked[:3]
        self.log_loss -= math.log(max(policy[played], 1e-12))
        if rating is not None:
            row = self.by_rating.setdefault(rating // 200 * 200, [0, 0])
            row[0] += 1
            row[1] += ranked[0] == played


@dataclass(frozen=True, slots=True)
class MoveSelection:
    """Which moves of games are predicted."""

    most: int = 10_000
    """Moves in all."""
    first_ply: int = FIRST_PLY
    """Plies that are left out at the start of a game."""
    lowest: int = 0
    highest: int = 9999
    """Ratings of the player who moves. With other bounds, players without a rating are left out."""


class _Sample(NamedTuple):
    game: int
    position: tuple[str, list[str]]
    played: str
    rating: int | None


def predict(
    evaluator: PolicySource, files: Iterable[Path], selection: MoveSelection | None = None
) -> Prediction:
    """Count how many moves of the chess games in PGN files a policy predicts."""
    found = Prediction()
    games = set()
    for batch in batches(_samples(files, selection or MoveSelection(), found)):
        policies = opinions(evaluator, [sample.position for sample in batch])
        for sample, opinion in zip(batch, policies, strict=True):
            games.add(sample.game)
            found.add(opinion.policy, sample.played, sample.rating)
    found.games = len(games)
    return found


def _samples(files: Iterable[Path], selection: MoveSelection, found: Prediction) -> Iterator[_Sample]:
    left, number = selection.most, 0
    for file in files:
        for text in split_games(read_text(file)):
            number += 1
            try:
                game = parse_game(text, "chess")
            except AnnotationError:
                found.unreadable += 1
                continue
            for sample in _samples_of(game, number, selection):
                if left == 0:
                    return
                left -= 1
                yield sample


def _samples_of(game: chess.pgn.Game, number: int, selection: MoveSelection) -> Iterator[_Sample]:
    start, moves = game.board().fen(), list[str]()
    ratings = {chess.WHITE: _rating(game, "WhiteElo"), chess.BLACK: _rating(game, "BlackElo")}
    takes_all = (selection.lowest, selection.highest) == (0, 9999)
    for ply, node in enumerate(game.mainline()):
        move, turn = node.move.uci(), not node.turn()
        rating, seconds = ratings[turn], node.clock()
        fits = takes_all if rating is None else selection.lowest <= rating <= selection.highest
        if ply >= selection.first_ply and fits and (seconds is None or seconds >= LEAST_SECONDS):
            yield _Sample(number, (start, list(moves)), move, rating)
        moves.append(move)


def _rating(game: chess.pgn.Game, tag: str) -> int | None:
    text = game.headers.get(tag, "")
    return int(text) if text.isascii() and text.isdigit() else None
