"""The paper's formulas on plain numbers: Eq. (4) to (10), and the priors of a node.

Each function takes numbers and returns a number. Eq. (3) is in `select`, Eq. (11) in `explore`, Eq. (12) to
(15) are in `policy`; Eq. (1) and (2), of an earlier method, in `ucb`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence


def c_puct(total: int, c_base: float, c_init: float) -> float:
    """Eq. (6): log((sum_a N(s, a) + c_base + 1) / c_base) + c_init; total is the sum."""
    return math.log((total + c_base + 1.0) / c_base) + c_init


def u_value(c: float, p: float, total: int, n: int) -> float:
    """Eq. (4): U(s, a) = c_puct P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a))."""
    return c * math.sqrt(total) * p * (1 / (1 + n))


def running_mean(q: float, n: int, x: float) -> float:
    """Eq. (5): Q' = Q + (x - Q) / n, where n counts x."""
    return q + (x - q) / n


def v_star(v: float) -> float:
    """Eq. (7): V*(s) = -V(s), the child's value in the frame of its parent, as the mover always changes."""
    return -v


def q_delta(q: float, target: float) -> float:
    """Eq. (8): Q_delta = Q(s_t, a) - V*(s_t+1), the leak of an edge."""
    return q - target


def q_phi(n: int, q: float, target: float) -> float:
    """Eq. (9): the value x that puts the mean of n visits at q, and x, exactly on the target.

    Differs from the paper: it prints N Q_delta + V*, which moves Q away from the target; the sign must be
    minus.
    """
    return target + n * (target - q)


def clip(x: float, v_min: float, v_max: float) -> float:
    """Eq. (10): Q'_phi = max(V_min, min(Q_phi, V_max))."""
    return max(v_min, min(x, v_max))


def softmax_priors(logits: Sequence[float], node_temperature: float) -> list[float]:
    """The policy of a node: softmax of logit / temperature over the legal moves, each rounded to a half."""
    top = max(logits)
    sharpness = 1 / node_temperature
    weights = [math.exp((logit - top) * sharpness) for logit in logits]
    total = 0.0
    for weight in weights:
        total += weight
    scale = 1 / total
    return [to_f16(weight * scale) for weight in weights]


def to_f32(x: float) -> float:
    """Round to the nearest IEEE single."""
    return float(struct.unpack("<f", struct.pack("<f", x))[0])


def to_f16(x: float) -> float:
    """Round to the nearest IEEE half, ties to even, straight from the double."""
    return float(struct.unpack("<e", struct.pack("<e", x))[0])
