"""Play by the policy of a network alone, without search: what a network that was trained on the games of
people is for.

`opinions` evaluates positions with their history, `choose` picks a move. Nothing here searches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from anabranch import _core
from anabranch.errors import EvaluatorError, SettingError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.call import EvaluatorCall, planes_version, takes_positions
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.networks.planes import encode, shape_of
from anabranch.positions import Position, read_position
from anabranch.settings import Settings

BATCH = 256

T = TypeVar("T")
PolicySource: TypeAlias = _core.Network | AnyEvaluator | str


class Opinion(NamedTuple):
    """What a network says about a position, without search."""

    value: float
    """For the side to move."""
    policy: dict[str, float]
    """The legal moves (UCI) with their probabilities, the most probable first."""


def opinions(
    evaluator: PolicySource, positions: Iterable[Position], variant: str = "chess", *, chess960: bool = False
) -> Iterator[Opinion]:
    """Value and policy of positions in which the game is not over, each with the moves that led to it.

    `evaluator` is a network, its file or name, or an evaluator over planes.
    """
    evaluator = resolve_evaluator(evaluator, variant)
    if isinstance(evaluator, str):
        raise EvaluatorError(f"the evaluator {evaluator!r} has no policy of its own; a network has one")
    if isinstance(evaluator, _core.Network):
        yield from _opinions_of_core(evaluator, positions, variant, chess960)
        return
    if takes_positions(evaluator):
        raise EvaluatorError("an evaluator that takes positions has no policy without a search")
    version = planes_version(evaluator) or "v3"
    call = EvaluatorCall(evaluator, shape_of(variant, version)[1])
    for batch in batches(positions):
        planes, moves = encode(batch, variant, version, chess960=chess960)
        values, logits = call.of_planes(planes)
        for value, row, places in zip(values, logits, moves, strict=True):
            of_moves = zip(places, row[list(places.values())].tolist(), strict=True)
            yield Opinion(float(value), softmax(list(of_moves)))


def _opinions_of_core(
    network: _core.Network, positions: Iterable[Position], variant: str, chess960: bool
) -> Iterator[Opinion]:
    session = _core.Session(variant, chess960, asdict(Settings()), True)
    for position in positions:
        session.set_position(*read_position(position, variant, chess960))
        value, _, logits = network.evaluate([session.fen()])[0]
        yield Opinion(value, softmax(logits))


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """The items in lists, as many as are evaluated at once."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def softmax(logits: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The policy of moves with their logits, the most probable first.

    >>> softmax([("d2d4", 0.5), ("e2e4", 0.5)])
    {'d2d4': 0.5, 'e2e4': 0.5}
    """
    values = np.array([logit for _, logit in logits], np.float64)
    weights = np.exp(values - values.max())
    shares = zip((move for move, _ in logits), (weights / weights.sum()).tolist(), strict=True)
    return dict(sorted(shares, key=lambda pair: -pair[1]))


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
