"""Play and predictions by the policy of a network alone, without search: what a network that was trained on
the games of people is for.

`opinions` evaluates positions with their history, `choose` picks a move, `predict` counts how many moves of
games a policy predicts. Nothing here searches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

import chess.pgn
import numpy as np

from anabranch import _core
from anabranch.errors import AnnotationError, EvaluatorError, SettingError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.call import EvaluatorCall, planes_version, takes_positions
from anabranch.formats.pgn import parse_game, read_text, split_games
from anabranch.networks.folders import installed_networks
from anabranch.networks.planes import encode, shape_of
from anabranch.positions import Position, read_position
from anabranch.settings import Settings

BATCH = 256
MAIA = re.compile(r"maia-?(\d{3,4})$")
FIRST_PLY = 10
"""Plies at the start of a game that are not predicted, as in the paper of Maia."""
LEAST_SECONDS = 30.0
"""Moves with less time on the clock are not predicted, as there."""

T = TypeVar("T")
Judge: TypeAlias = _core.Network | AnyEvaluator | str


class Opinion(NamedTuple):
    """What a network says about a position, without search."""

    value: float
    """For the side to move."""
    policy: dict[str, float]
    """The legal moves (UCI) with their probabilities, the most probable first."""


def opinions(
    evaluator: Judge, positions: Iterable[Position], variant: str = "chess", *, chess960: bool = False
) -> Iterator[Opinion]:
    """Value and policy of positions in which the game is not over, each with the moves that led to it."""
    if isinstance(evaluator, str):
        raise EvaluatorError(f"the evaluator {evaluator!r} has no policy of its own; a network has one")
    if isinstance(evaluator, _core.Network):
        yield from _opinions_of_core(evaluator, positions, variant, chess960)
        return
    if takes_positions(evaluator):
        raise EvaluatorError("an evaluator that takes positions has no policy without a search")
    version = planes_version(evaluator) or "v3"
    call = EvaluatorCall(evaluator, shape_of(variant, version)[1])
    for batch in _batches(positions):
        planes, moves = encode(batch, variant, version, chess960=chess960)
        values, logits = call.of_planes(planes)
        for value, row, places in zip(values, logits, moves, strict=True):
            yield Opinion(float(value), _softmax(list(places), row[list(places.values())]))


def _opinions_of_core(
    network: _core.Network, positions: Iterable[Position], variant: str, chess960: bool
) -> Iterator[Opinion]:
    session = _core.Session(variant, chess960, asdict(Settings()), True)
    for position in positions:
        session.set_position(*read_position(position, variant, chess960))
        value, _, logits = network.evaluate([session.fen()])[0]
        names = [move for move, _ in logits]
        yield Opinion(value, _softmax(names, np.array([logit for _, logit in logits])))


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _softmax(moves: Sequence[str], logits: np.ndarray) -> dict[str, float]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    weights /= weights.sum()
    ranked = sorted(zip(moves, weights.tolist(), strict=True), key=lambda pair: -pair[1])
    return dict(ranked)


def choose(policy: Mapping[str, float], random: Random, temperature: float = 1.0) -> str:
    """A move of a policy: drawn by its probabilities, which a temperature below 1 sharpens; the most probable
    one at 0.

    >>> choose({"e2e4": 0.7, "d2d4": 0.3}, Random(1), temperature=0)
    'e2e4'
    """
    if not policy:
        raise SettingError("there is no move to choose from")
    if not (math.isfinite(temperature) and temperature >= 0.0):
        raise SettingError(f"a temperature is a number from 0 on, not {temperature}")
    best = max(policy, key=lambda move: policy[move])
    if temperature == 0.0:
        return best
    weights = [(share / policy[best]) ** (1.0 / temperature) for share in policy.values()]
    return random.choices(list(policy), weights)[0]


def human_networks(folder: Path | None = None) -> dict[int, Path]:
    """The installed Maia networks by the rating of the players that they imitate."""
    found = ((MAIA.search(name), path) for name, path in installed_networks(folder).items())
    return dict(sorted((int(match[1]), path) for match, path in found if match is not None))


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
class Selection:
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


def predict(evaluator: Judge, files: Iterable[Path], selection: Selection | None = None) -> Prediction:
    """Count how many moves of the chess games in PGN files a policy predicts."""
    found = Prediction()
    games = set()
    for batch in _batches(_samples(files, selection or Selection(), found)):
        policies = opinions(evaluator, [sample.position for sample in batch])
        for sample, opinion in zip(batch, policies, strict=True):
            games.add(sample.game)
            found.add(opinion.policy, sample.played, sample.rating)
    found.games = len(games)
    return found


def _samples(files: Iterable[Path], selection: Selection, found: Prediction) -> Iterator[_Sample]:
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


def _samples_of(game: chess.pgn.Game, number: int, selection: Selection) -> Iterator[_Sample]:
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
