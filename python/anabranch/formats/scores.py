"""Scores and values: centipawns, mates, and win, draw and loss.

A score of c centipawns is the value tanh(c / 2s); the scale s belongs to the variant, and to what the value
means. Two scales are in use. `SHOWN_SCALE` is that of the networks of the package: the search's value q is
shown as 2s atanh(q). `RESULT_SCALE` predicts results of a teacher's games from its scores, and is used where
training data is made. What is proven is not on the curve: `score_of`, `chances_of` and `mate_in` handle it.

Scores of UCI engines are one number, mates included: `read_score` and `mate_of`. All scores and values belong
to the side to move.
"""

from __future__ import annotations

import math
from functools import lru_cache

SHOWN_SCALE = {"chess": 250.0, "crazyhouse": 400.0}
"""The value scale that the networks of the package were trained with."""
RESULT_SCALE = {"chess": 270.0, "crazyhouse": 700.0}
"""What `anabranch data stats` fits to results of games of Stockfish and Fairy-Stockfish at 400 nodes."""
DEFAULT_SCALE = 400.0
"""Of other variants, in both."""
MATE = 32000
"""A mate in n moves is the score MATE - n."""
LARGEST_SCORE = MATE - 1000
"""No score of an engine is larger, mates apart."""
LARGEST_SHOWN = 9999
"""No value is shown as a larger score."""
TABLEBASE_WIN = 20000
"""A win by a tablebase is shown as this less the plies to it: above all values, below all mates."""
SHARPNESS = {"chess": 5.0, "crazyhouse": 1000.0, "hex": 1000.0, "breakthrough": 1000.0}
"""The s of `wdl` that fits the networks' own win, draw and loss over 10,000 positions each; the teacher's
games of crazyhouse had no draws, and Hex and Breakthrough know none."""
DEFAULT_SHARPNESS = 5.0
_LEAST = 0.0005
"""What a network gives to an outcome counts as at least that much: half of what is shown."""


def centipawns(value: float, variant: str = "chess") -> int:
    """A value in [-1, 1] as centipawns.

    >>> centipawns(0.0), centipawns(0.197), centipawns(-0.197), centipawns(1.0)
    (0, 100, -100, 9999)
    """
    return curve_of(None, variant).score(value)


def value_of(score: float, variant: str = "chess") -> float:
    """The value of a score in centipawns.

    >>> round(value_of(100), 3), centipawns(value_of(-250))
    (0.197, -250)
    """
    return value_at(score, SHOWN_SCALE.get(variant, DEFAULT_SCALE))


def value_at(score: float, scale: float) -> float:
    """The value of a score at a scale.

    >>> value_at(0, 200.0), round(value_at(700, result_scale("crazyhouse")), 3)
    (0.0, 0.462)
    """
    return math.tanh(score / (2.0 * scale))


def result_scale(variant: str) -> float:
    """The scale that predicts results from a teacher's scores."""
    return RESULT_SCALE.get(variant, DEFAULT_SCALE)


def read_score(kind: bytes, number: int) -> int:
    """A score of UCI (`cp` or `mate`) as one number, mates beyond all others.

    >>> read_score(b"cp", -31), read_score(b"mate", 2), read_score(b"mate", -2)
    (-31, 31998, -31998)
    """
    if kind == b"mate":
        distance = min(abs(number), MATE - LARGEST_SCORE - 1)
        return MATE - distance if number > 0 else distance - MATE
    if kind != b"cp":
        raise ValueError(kind)
    return max(-LARGEST_SCORE, min(LARGEST_SCORE, number))


def mate_of(score: int) -> int | None:
    """Moves to the mate that a score means, negative for the side that is mated; `None` for other scores.

    >>> mate_of(31998), mate_of(-31998), mate_of(120)
    (2, -2, None)
    """
    if abs(score) <= LARGEST_SCORE:
        return None
    return MATE - score if score > 0 else -(MATE + score)


def wdl(
    value: float, raw: tuple[float, float, float] | None = None, variant: str = "chess"
) -> tuple[int, int, int]:
    """Win, draw and loss per mille, sum 1000; win less loss is the value.

    The model is a logistic distribution with mean `mu` and width `s`: the part above 1 is won, the part below
    -1 is lost. `raw`, the network's win, draw and loss at the root, gives the width, because a search does
    not measure how drawish a position is; the mean is moved until win less loss is the value. Without `raw`
    the width is that of the variant.

    >>> wdl(0.0), wdl(0.5), wdl(1.0)
    ((450, 100, 450), (713, 74, 213), (1000, 0, 0))
    >>> wdl(0.2, (0.3, 0.6, 0.1))
    (300, 600, 100)
    """
    return curve_of(raw, variant).chances(value)


def mate_in(state: str, plies: int | None) -> int | None:
    """Moves to the end of a game that is won or lost in so many plies, negative when the side to move loses;
    `None` where that is not proven.

    >>> mate_in("win", 3), mate_in("loss", 2), mate_in("draw", 4), mate_in("tb-win", None)
    (2, -1, None, None)
    """
    if plies is None or state not in ("win", "loss"):
        return None
    return (plies + 1) // 2 if state == "win" else -(plies // 2)


def score_of(value: float, state: str, variant: str = "chess") -> int:
    """Centipawns of a value that may be proven: a draw is 0, and results of tablebases are beyond all values.
    Proven mates have no centipawns: call `mate_in` first.

    >>> score_of(0.197, "unknown"), score_of(0.1, "draw"), score_of(0.9, "tb-win"), score_of(-1.0, "tb-loss")
    (100, 0, 20000, -20000)
    """
    match state:
        case "tb-win":
            return TABLEBASE_WIN
        case "tb-loss":
            return -TABLEBASE_WIN
        case "draw" | "tb-draw":
            return 0
    return centipawns(value, variant)


def chances_of(
    value: float, state: str, raw: tuple[float, float, float] | None = None, variant: str = "chess"
) -> tuple[int, int, int]:
    """Win, draw and loss per mille of a value that may be proven; others as in `wdl`.

    >>> chances_of(0.5, "unknown"), chances_of(0.9, "tb-draw"), chances_of(-0.9, "loss")
    ((713, 74, 213), (0, 1000, 0), (0, 0, 1000))
    """
    match state:
        case "win" | "tb-win":
            return 1000, 0, 0
        case "loss" | "tb-loss":
            return 0, 0, 1000
        case "draw" | "tb-draw":
            return 0, 1000, 0
    return wdl(value, raw, variant)


def _checked(value: float) -> float:
    if math.isnan(value):
        raise ValueError("a value is a number from -1 to 1, not NaN")
    return max(-1.0, min(1.0, value))


class Curve:
    """Scores and chances of values that are not proven, in one position: what is the same for all its moves
    is computed once. `centipawns` and `wdl` say what they mean.

    >>> curve = Curve((0.3, 0.6, 0.1), "chess")
    >>> curve.score(0.197), curve.chances(0.2)
    (100, (300, 600, 100))
    """

    __slots__ = ("_k", "_k_sum", "_scale")

    def __init__(self, raw: tuple[float, float, float] | None, variant: str) -> None:
        width = SHARPNESS.get(variant.partition(":")[0], DEFAULT_SHARPNESS) if raw is None else _width(raw)
        self._scale = 2.0 * SHOWN_SCALE.get(variant, DEFAULT_SCALE)
        self._k = math.exp(1.0 / width)
        self._k_sum = self._k + 1.0 / self._k

    def score(self, value: float) -> int:
        """A value in centipawns."""
        if -1.0 < value < 1.0:
            score = round(self._scale * math.atanh(value))
            if -LARGEST_SHOWN <= score <= LARGEST_SHOWN:
                return score
        return int(math.copysign(LARGEST_SHOWN, _number(value)))

    def chances(self, value: float) -> tuple[int, int, int]:
        """Win, draw and loss per mille of a value.

        With K = exp(1 / s) and x = exp(mu / s), win is x / (x + K) and loss 1 / (1 + K x). Their difference
        is v where (1 - v) x^2 - v (K + 1/K) x - (1 + v) = 0.
        """
        if not -1.0 < value < 1.0:
            return (1000, 0, 0) if _number(value) > 0.0 else (0, 0, 1000)
        v, k = abs(value), self._k  # one side of zero, so that the other is its exact mirror
        b = v * self._k_sum
        x = (b + math.sqrt(b * b + 4.0 * (1.0 - v * v))) / (2.0 * (1.0 - v))
        better, worse = 1000.0 * (x / (x + k)), 1000.0 * (1.0 / (1.0 + k * x))
        more, less = round(better), round(worse)
        if more + less > 1000:  # both halves rounded up
            more, less = math.floor(better), math.floor(worse)
        draws = 1000 - more - less
        return (more, draws, less) if value >= 0.0 else (less, draws, more)


@lru_cache(maxsize=64)
def curve_of(raw: tuple[float, float, float] | None, variant: str) -> Curve:
    """The curve of a position; all moves of a result have the same."""
    return Curve(raw, variant)


def _number(value: float) -> float:
    if math.isnan(value):
        raise ValueError("a value is a number from -1 to 1, not NaN")
    return value


def _width(raw: tuple[float, float, float]) -> float:
    """The width s = 2 / (a + b) with a = ln(1/L - 1) and b = ln(1/W - 1)."""
    floored = [max(share, _LEAST) if share > 0.0 else _LEAST for share in raw]  # NaN is none of both
    total = sum(floored)
    win, _, loss = (share / total for share in floored)
    return 2.0 / (math.log(1.0 / loss - 1.0) + math.log(1.0 / win - 1.0))
