"""The value scale that fits the results of games, by logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNDECIDED = 600
"""Centipawns below which a position is undecided."""
FITTED = 2000
"""Scores up to which the value scale is fitted; those beyond carry no information about it."""


class ScaleFit:
    """A logistic regression of results on scores, without intercept."""

    def __init__(self) -> None:
        self._weight = np.zeros(2 * FITTED + 1)  # by score
        self._points = np.zeros(2 * FITTED + 1)

    def add(
        self, score: NDArray[np.float32], result: NDArray[np.float32], weight: NDArray[np.float64]
    ) -> None:
        """Add positions that have both."""
        fit = np.abs(score) <= FITTED
        at = score[fit].astype(int) + FITTED
        size = 2 * FITTED + 1
        self._weight += np.bincount(at, weights=weight[fit], minlength=size)
        self._points += np.bincount(at, weights=weight[fit] * (result[fit] + 1) / 2, minlength=size)

    def scale(self) -> float | None:
        """Centipawns s for which 1 / (1 + exp(-cp / s)), and so value = tanh(cp / (2 s)), predicts best; by
        Newton's method.
        """
        scores = np.arange(-FITTED, FITTED + 1) / 100.0
        slope = 0.5
        for _ in range(100):
            chance = 1 / (1 + np.exp(-slope * scores))
            gradient = float(((self._points - self._weight * chance) * scores).sum())
            curvature = float((self._weight * chance * (1 - chance) * scores**2).sum())
            if curvature <= 0:
                return None
            step = max(-slope / 2, min(slope, gradient / curvature))
            slope += step
            if not 1e-3 < slope < 20.0:  # scores do not predict results, or are the results
                return None
            if abs(step) < 1e-9 * slope:
                break
        return 100.0 / slope
