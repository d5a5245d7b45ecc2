"""The statistics of a match: Elo with its error, normalised Elo, likelihood of superiority, and the
sequential probability ratio test (SPRT).

Results come as counts. Five counts are pairs of games from one opening with colours reversed, by the score of
the pair: 0, 1/2, 1, 3/2, 2 points. Three counts are losses, draws and wins of single games. Prefer
pairs: an opening that favours one colour widens the spread of single games, not that of pairs. Every
formula is derived in docs/matches.md. Nothing here knows games or players.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

from anabranch.errors import MatchError

Model: TypeAlias = Literal["logistic", "normalised"]
Verdict: TypeAlias = Literal["continue", "accepted", "rejected"]

ELO_SCALE = 400.0 / math.log(10.0)
"""Elo per unit of log odds."""
NORMALISED_SCALE = 800.0 / math.log(10.0)
"""Normalised Elo per standard deviation of a game: the two kinds of Elo agree for equal players who never
draw and never gain by colour."""
NORMAL_95 = NormalDist().inv_cdf(0.975)
_LEAST = 1e-3
"""What an outcome that never occurred counts as, so that every likelihood is finite."""
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and the half width of its interval of 95 %; infinite where the data do not determine it."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:+.2f} ± {self.error:.2f}"

    def to_dict(self) -> dict[str, float | None]:
        """As plain values; JSON has no infinity, so it becomes None.

        >>> Estimate(12.0, math.inf).to_dict()
        {'value': 12.0, 'error': None}
        """
        return {
            name: number if math.isfinite(number) else None
            for name, number in (("value", self.value), ("error", self.error))
        }


@dataclass(frozen=True, slots=True)
class Sample:
    """Mean and variance of the score of one unit, a game or a pair, with points from 0 to 1."""

    units: float
    mean: float
    variance: float
    games_per_unit: int

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return math.sqrt(self.variance / self.units) if self.units else math.inf

    @property
    def game_deviation(self) -> float:
        """Standard deviation that a single game would have if the games of a unit were independent."""
        return math.sqrt(self.variance * self.games_per_unit)


def sample_of(counts: Sequence[float]) -> Sample:
    """Mean and variance of three counts (losses, draws, wins) or five (pairs by their points).

    >>> sample_of([96, 111, 136]).mean
    0.558...
    """
    if len(counts) not in (3, 5):
        raise MatchError(f"results are three counts of games or five of pairs, not {len(counts)}")
    if any(not (math.isfinite(count) and count >= 0) for count in counts):
        raise MatchError(f"counts are numbers from 0 on, not {list(counts)}")
    units = float(sum(counts))
    points = points_of(counts)
    games = (len(counts) - 1) // 2
    if not units:
        return Sample(0.0, 0.5, 0.0, games)
    mean = sum(count * point for count, point in zip(counts, points, strict=True)) / units
    variance = sum(count * (point - mean) ** 2 for count, point in zip(counts, points, strict=True)) / units
    return Sample(units, mean, variance, games)


def points_of(counts: Sequence[float]) -> list[float]:
    """The points of a unit for each count, from 0 to 1.

    >>> points_of([0, 0, 0, 0, 0])
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return [place / (len(counts) - 1) for place in range(len(counts))]


def elo_of(score: float) -> float:
    """The difference in Elo at which a score is expected.

    >>> round(elo_of(0.64), 1), elo_of(1.0)
    (100.0, inf)
    """
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return ELO_SCALE * math.log(score / (1.0 - score))


def score_of(elo: float) -> float:
    """The score that a difference in Elo makes expected.

    >>> round(score_of(100.0), 2)
    0.64
    """
    half = 0.5 * math.tanh(0.5 * elo / ELO_SCALE)
    return 0.5 + half


def elo(counts: Sequence[float]) -> Estimate:
    """Elo with its error of 95 %: half the distance of the Elo at both ends of the interval of the score.
    Results that are all equal give no error.

    >>> print(elo([96, 111, 136]))
    +40.70 ± 30.43
    """
    sample = sample_of(counts)
    if not sample.units:
        return Estimate(0.0, math.inf)
    width = NORMAL_95 * sample.standard_error
    value = elo_of(sample.mean)
    low, high = elo_of(sample.mean - width), elo_of(sample.mean + width)
    if not (sample.variance and math.isfinite(value) and math.isfinite(low) and math.isfinite(high)):
        return Estimate(value, math.inf)
    return Estimate(value, (high - low) / 2.0)


def normalised_elo(counts: Sequence[float]) -> Estimate:
    """The advantage in standard deviations of a game, on the scale of Elo. It
    determines how many games a difference takes to be seen, whatever the draws and the openings.

    >>> print(normalised_elo([96, 111, 136]))
    +49.77 ± 36.77
    """
    sample = sample_of(counts)
    if not sample.units:
        return Estimate(0.0, math.inf)
    if sample.variance == 0.0:
        ahead = sample.mean - 0.5
        return Estimate(math.copysign(math.inf, ahead) if ahead else 0.0, math.inf)
    advantage = (sample.mean - 0.5) / sample.game_deviation
    games = sample.units * sample.games_per_unit
    return Estimate(NORMALISED_SCALE * advantage, NORMALISED_SCALE * NORMAL_95 / math.sqrt(games))


def superiority(counts: Sequence[float]) -> float:
    """Likelihood of superiority: how probable it is that the player is the stronger one.

    >>> round(superiority([96, 111, 136]), 4)
    0.996
    """
    sample = sample_of(counts)
    ahead = sample.mean - 0.5
    if not sample.units or ahead == 0.0:
        return 0.5
    if sample.variance == 0.0:
        return 1.0 if ahead > 0.0 else 0.0
    return NormalDist().cdf(ahead / sample.standard_error)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of `elo1` against `elo0` that ends as soon as the data suffice.

    >>> test = Sprt(0.0, 2.0, model="normalised")
    >>> round(test.ratio([365, 16618, 36229, 16974, 390]), 2)
    2.25
    """

    elo0: float
    """The smaller difference: a match ends as rejected when it is the likelier one."""
    elo1: float
    """The larger difference: a match ends as accepted when it is the likelier one."""
    alpha: float = 0.05
    """Probability to accept where elo0 is true."""
    beta: float = 0.05
    """Probability to reject where elo1 is true."""
    model: Model = "logistic"
    """The scale of both differences: logistic or normalised Elo."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise MatchError(f"an SPRT takes two numbers, the smaller first, not {self.elo0}, {self.elo1}")
        if not (0.0 < self.alpha < 0.5 and 0.0 < self.beta < 0.5):
            raise MatchError("the errors of an SPRT are probabilities between 0 and 0.5")
        if self.model not in ("logistic", "normalised"):
            raise MatchError(f"an SPRT is 'logistic' or 'normalised', not {self.model!r}")

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which the test rejects."""
        return math.log(self.beta / (1.0 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which the test accepts."""
        return math.log((1.0 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[float]) -> float:
        """The generalised log-likelihood ratio (LLR) of the results."""
        if self.model == "logistic":
            return logistic_ratio(counts, self.elo0, self.elo1)
        return normalised_ratio(counts, self.elo0, self.elo1)

    def verdict(self, counts: Sequence[float]) -> Verdict:
        """Whether the test accepts, rejects or continues."""
        ratio = self.ratio(counts)
        if ratio >= self.upper:
            return "accepted"
        return "rejected" if ratio <= self.lower else "continue"


def logistic_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """LLR of two differences in Elo: of the most likely distributions with these two mean scores."""
    points = points_of(counts)
    return _ratio(counts, lambda shares, elo: fit_mean(shares, points, score_of(elo)), elo0, elo1)


def normalised_ratio(counts: Sequence[float], elo0: float, elo1: float) -> float:
    """The same of two differences in normalised Elo, which are advantages in standard deviations."""
    points, scale = points_of(counts), math.sqrt((len(counts) - 1) // 2) / NORMALISED_SCALE
    return _ratio(counts, lambda shares, elo: fit_advantage(shares, points, elo * scale), elo0, elo1)


Fit: TypeAlias = Callable[[Sequence[float], float], list[float]]


def _ratio(counts: Sequence[float], fit: Fit, elo0: float, elo1: float) -> float:
    if not sample_of(counts).units:
        return 0.0
    kept = [max(float(count), _LEAST) for count in counts]
    units = sum(kept)
    shares = [count / units for count in kept]
    null, other = fit(shares, elo0), fit(shares, elo1)
    return sum(
        count * math.log(after / before) for count, before, after in zip(kept, null, other, strict=True)
    )


def fit_mean(shares: Sequence[float], points: Sequence[float], mean: float) -> list[float]:
    """The distribution with that mean under which the observed shares are most likely.

    >>> [round(share, 3) for share in fit_mean([0.25, 0.5, 0.25], [0, 0.5, 1], 0.6)]
    [0.169, 0.463, 0.369]
    """
    return _fit_zero(shares, [point - mean for point in points])


def fit_advantage(
    shares: Sequence[float], points: Sequence[float], advantage: float, centre: float = 0.5
) -> list[float]:
    """The distribution whose mean is `advantage` standard deviations above the centre under which the
    observed shares are most likely.

    The condition is not linear; where it is stationary it has the tangent used here. The tangent is drawn
    again at every solution until it stays.
    """
    fitted = _start(points, advantage)
    for _ in range(200):
        mean = sum(share * point for share, point in zip(fitted, points, strict=True))
        spread = sum(share * (point - mean) ** 2 for share, point in zip(fitted, points, strict=True))
        deviation = math.sqrt(spread)
        tangent = [
            point - centre - advantage * deviation * (1.0 + ((point - mean) / deviation) ** 2) / 2.0
            for point in points
        ]
        before, fitted = fitted, _fit_zero(shares, tangent)
        if max(abs(new - old) for new, old in zip(fitted, before, strict=True)) < _CLOSE:
            break
    return fitted


def _start(points: Sequence[float], advantage: float) -> list[float]:
    """A distribution with nearly that advantage: almost all of it on the first and the last point."""
    high = 0.5 + 0.5 * advantage / math.sqrt(1.0 + advantage * advantage)
    shares = [1e-3 / len(points)] * len(points)
    shares[0] += (1.0 - 1e-3) * (1.0 - high)
    shares[-1] += (1.0 - 1e-3) * high
    return shares


def _fit_zero(shares: Sequence[float], heights: Sequence[float]) -> list[float]:
    """The most likely distribution under which the mean of the heights is zero: share / (1 + x height)."""
    low, high = min(heights), max(heights)
    if not low < 0.0 < high:
        raise MatchError("no distribution of results fits such a difference in Elo")
    # The mean falls all the way between the two poles, so bisection cannot fail.
    left, right = -1.0 / high, -1.0 / low
    for _ in range(200):
        x = (left + right) / 2.0
        if not left < x < right:
            break
        mean = sum(s * h / (1.0 + x * h) for s, h in zip(shares, heights, strict=True))
        left, right = (x, right) if mean > 0.0 else (left, x)
    x = (left + right) / 2.0
    fitted = [share / (1.0 + x * height) for share, height in zip(shares, heights, strict=True)]
    total = sum(fitted)
    return [share / total for share in fitted]
