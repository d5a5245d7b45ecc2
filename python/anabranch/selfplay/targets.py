"""What is learned from a search: a policy over the root's moves, a value, a weight.

The statistics of the root come as arrays, one number for each legal move. Nothing here knows games, files or
networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEW_EVALUATIONS = 64
"""Up to so many, `auto` takes completed Q."""
VALUE_SCALE = 0.1
"""c_scale of the improved policy, for values from 0 to 1."""
LEAST_PRIOR = 2.0**-24
"""The least prior of the core."""
WORTH = {"win": 1.0, "draw": 0.0, "loss": -1.0}
"""Results as values."""


@dataclass(frozen=True, slots=True)
class RootStatistics:
    """The root after a search, for the side to move."""

    visits: Floats
    """Without those of explorations, which the search made for their own sake."""
    improved: Floats
    """The improved policy of the core."""
    noisy: Floats
    """The priors of the search."""
    prior: Floats
    """What the evaluator thought of the moves, without noise."""
    proven: Floats
    """1, 0 or -1 for moves with a proof; NaN for the others."""
    value: float
    """Of the root, after the search."""
    solved: float | None = None
    """The proven result of the root."""


def root_statistics(report: dict[str, Any], prior: Floats | None = None) -> RootStatistics:
    """The statistics of a report of the core. Without a prior, that of the search."""
    rows, nan = report["moves"], float("nan")
    proven = [WORTH.get(row["state"].removeprefix("tb-"), nan) for row in rows]
    solved = report["solved"] and WORTH.get(report["solved"]["state"].removeprefix("tb-"))
    noisy = np.array([row["prior"] for row in rows], float)
    return RootStatistics(
        np.array([row["visits"] - row["explored"] for row in rows], float),
        np.array([row["improved"] for row in rows], float),
        noisy,
        noisy if prior is None else prior,
        np.array(proven, float),
        report["value"],
        solved,
    )


def completed_policy(root: RootStatistics) -> Floats:
    """The improved policy of Gumbel AlphaZero, Eq. (G3) of docs/algorithm.md, over the evaluator's own prior:
    the core has it over the prior with noise, which is a factor of it.
    """
    policy = root.improved * root.prior / np.maximum(root.noisy, LEAST_PRIOR)
    total = float(policy.sum())
    return policy / total if total > 0.0 else visit_policy(root)


def visit_policy(root: RootStatistics) -> Floats:
    """The shares of the visits; the prior where there are none."""
    total = float(root.visits.sum())
    shares = root.visits if total > 0.0 else root.prior
    policy: Floats = shares / shares.sum()
    return policy


def with_proofs(policy: Floats, root: RootStatistics) -> Floats:
    """A policy on what is proven best: of a solved root only moves that keep its result; no move that is
    proven to lose while there is another.

    >>> nan = float("nan")
    >>> even = np.ones(3) / 3
    >>> root = RootStatistics(np.ones(3), even, even, even, np.array([-1.0, nan, nan]), 0.0)
    >>> with_proofs(np.array([0.5, 0.25, 0.25]), root).tolist()
    [0.0, 0.5, 0.5]
    """
    keep = ~(root.proven == -1.0)
    if root.solved is not None and root.solved > -1.0:
        keep = root.proven == root.solved
    if not keep.any():
        return policy
    kept = np.where(keep, np.maximum(policy, 1e-3), 0.0) if root.solved is not None else policy * keep
    total = float(kept.sum())
    return kept / total if total > 0.0 else keep / keep.sum()


def policy_target(root: RootStatistics, kind: str, evaluations: int, proofs: bool) -> Floats:
    """The policy target of a root."""
    small = evaluations <= FEW_EVALUATIONS
    completed = kind == "completed-q" or (kind == "auto" and small)
    policy = completed_policy(root) if completed else visit_policy(root)
    return with_proofs(policy, root) if proofs else policy


def value_target(root: Any, result: Any, share: Any) -> Any:
    """The value target: a mix of the root's value and the result of the game, both for the side to move;
    numbers or arrays.

    >>> value_target(0.5, -1.0, 0.2)
    0.2
    """
    return (1.0 - share) * root + share * result


def wdl_of(value: NDArray[Any], drawn: NDArray[Any]) -> NDArray[np.float32]:
    """[B, 3]: win, draw and loss of values [B] with shares of draws [B].

    >>> wdl_of(np.array([0.5, 0.0]), np.array([0.5, 0.0])).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    """
    parts = [(1.0 - drawn + value) / 2.0, drawn, (1.0 - drawn - value) / 2.0]
    wdl: NDArray[np.float32] = np.clip(np.stack(parts, axis=1), 0.0, 1.0).astype(np.float32)
    return wdl


def surprise_of(policy: Floats, prior: Floats) -> float:
    """How much a search changed the policy: the divergence of target and prior in nats."""
    used = policy > 0.0
    return float((policy[used] * np.log(policy[used] / np.maximum(prior[used], 1e-9))).sum())


def surprise_weights(surprise: Floats, share: float) -> Floats:
    """Weights of mean 1: a share of them in proportion to the surprise, the rest equal.

    >>> surprise_weights(np.array([0.0, 1.0, 3.0, 0.0]), 0.5).tolist()
    [0.5, 1.0, 2.0, 0.5]
    """
    mean = float(surprise.mean()) if len(surprise) else 0.0
    if mean <= 0.0:
        return np.ones(len(surprise))
    return (1.0 - share) + share * np.maximum(surprise, 0.0) / mean
