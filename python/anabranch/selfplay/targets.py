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
VISIT_OFFSET = 50.0
"""c_visit of the transformation of Q values."""
VALUE_SCALE = 0.1
"""c_scale of it, for values from 0 to 1."""
WORTH = {"win": 1.0, "draw": 0.0, "loss": -1.0}


@dataclass(frozen=True, slots=True)
class RootStatistics:
    """The root after a search, for the side to move."""

    visits: Floats
    q: Floats
    """Q of moves with visits or a known child; NaN for the others."""
    prior: Floats
    """What the evaluator thought of the moves, without noise."""
    proven: Floats
    """1, 0 or -1 for moves with a proof; NaN for the others."""
    value: float
    """Of the root, after the search."""
    raw: float
    """Of the root, as the evaluator saw it."""
    solved: float | None = None
    """The proven result of the root."""


def root_statistics(
    report: dict[str, Any], prior: Floats | None = None, raw: float | None = None
) -> RootStatistics:
    """The statistics of a report of the core. Without a prior and a raw value, those of the report."""
    rows, nan = report["moves"], float("nan")
    q = [row["q"] if row["q"] is not None else row["child_value"] for row in rows]
    proven = [WORTH.get(row["state"].removeprefix("tb-"), nan) for row in rows]
    solved = report["solved"]
    return RootStatistics(
        np.array([row["visits"] for row in rows], float),
        np.array([nan if value is None else value for value in q], float),
        np.array([row["prior"] for row in rows], float) if prior is None else prior,
        np.array(proven, float),
        report["value"],
        report["value"] if raw is None else raw,
        None if solved is None else WORTH.get(solved["state"].removeprefix("tb-")),
    )


def completed_q(root: RootStatistics) -> Floats:
    """Q of every move: its own where it is known, else v_mix of Danihelka and others (2022), Eq. (33).

    >>> nan = float("nan")
    >>> root = RootStatistics(np.array([3.0, 1, 0]), np.array([0.5, -0.5, nan]), np.array([0.5, 0.25, 0.25]),
    ...                       np.full(3, nan), 0.2, 0.1)
    >>> completed_q(root).round(4).tolist()
    [0.5, -0.5, 0.1533]
    """
    known = np.isfinite(root.q)
    visits = float(root.visits.sum())
    mass = float(root.prior[known].sum())
    mean = float((root.prior[known] * root.q[known]).sum()) / mass if mass > 0.0 else root.raw
    mixed = (root.raw + visits * mean) / (1.0 + visits)
    filled = np.where(known, root.q, mixed)
    completed: Floats = np.where(np.isfinite(root.proven), np.nan_to_num(root.proven), filled)
    return completed


def improved_policy(root: RootStatistics) -> Floats:
    """softmax(logit + sigma(completed Q)), Eq. (11) of Danihelka and others, with Q scaled to [0, 1].

    Moves that are known to be better have more weight than in the prior, whatever their visits.
    """
    scores = (completed_q(root) + 1.0) / 2.0
    most = float(root.visits.max(initial=0.0))
    logits = np.log(np.maximum(root.prior, 1e-9)) + (VISIT_OFFSET + most) * VALUE_SCALE * scores
    powers: Floats = np.exp(logits - logits.max())
    policy: Floats = powers / powers.sum()
    return policy


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
    >>> root = RootStatistics(np.ones(3), np.zeros(3), np.ones(3) / 3, np.array([-1.0, nan, nan]), 0.0, 0.0)
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
    policy = improved_policy(root) if completed else visit_policy(root)
    return with_proofs(policy, root) if proofs else policy


def value_target(root: float, result: float, share: float) -> float:
    """The value target: a mix of the root's value and the result of the game, both for the side to move.

    >>> value_target(0.5, -1.0, 0.2)
    0.2
    """
    return (1.0 - share) * root + share * result


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
