"""SplitMix64, the one source of chance in a search.

The same seed gives the same draws as in the core, bit by bit.
"""

from __future__ import annotations

import math

MASK64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    """The finaliser of SplitMix64, applied to x + GOLDEN."""
    z = (x + GOLDEN) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


class Random:
    """SplitMix64: the one source of chance in a search."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK64

    def next(self) -> int:
        """64 random bits."""
        z = mix(self.state)
        self.state = (self.state + GOLDEN) & MASK64
        return z

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self.next() >> 11) * 2.0**-53

    def index(self, n: int) -> int:
        """An index below n."""
        return (self.next() * n) >> 64

    def normal(self) -> float:
        """Polar method; the second variate is thrown away."""
        while True:
            u = 2.0 * self.uniform() - 1.0
            v = 2.0 * self.uniform() - 1.0
            s = u * u + v * v
            if 0.0 < s < 1.0:
                return u * math.sqrt(-2.0 * math.log(s) / s)

    def gamma(self, alpha: float) -> float:
        """Marsaglia-Tsang with shape alpha + 1, then the boost that lowers the shape to alpha."""
        d = alpha + 1.0 - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            t = 1.0 + c * x
            if t <= 0.0:
                continue
            v = t * t * t
            u = self.uniform()
            if u > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                break
        return float(d * v * self.uniform() ** (1.0 / alpha))
