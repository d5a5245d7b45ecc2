"""The replay window: the newest positions, equal ones merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.selfplay.records import GridSamples
from anabranch.selfplay.symmetries import Symmetry


def newest(parts: Sequence[GridSamples], size: int) -> GridSamples:
    """The newest `size` positions of generations, which come oldest first."""
    chosen: list[GridSamples] = []
    left = size
    for part in reversed(parts):
        if left <= 0:
            break
        kept = part.take(slice(max(0, len(part) - left), None))
        chosen.append(kept)
        left -= len(kept)
    return GridSamples.join(chosen[::-1])


def canonical(samples: GridSamples, symmetries: Sequence[Symmetry]) -> GridSamples:
    """Every position in that of its symmetric forms whose cells come first in order."""
    best, choice = samples.cells, np.zeros(len(samples), np.int64)
    for number, symmetry in enumerate(symmetries[1:], start=1):
        other = samples.cells[:, symmetry.source]
        differs = other != best
        first = differs.argmax(1)
        rows = np.arange(len(samples))
        smaller = differs.any(1) & (other[rows, first] < best[rows, first])
        best = np.where(smaller[:, None], other, best)
        choice[smaller] = number
    return transformed(samples, symmetries, choice)


def transformed(
    samples: GridSamples, symmetries: Sequence[Symmetry], choice: NDArray[np.int64]
) -> GridSamples:
    """Each position in the symmetric form that `choice` [B] names."""
    if len(symmetries) < 2:
        return samples
    source = np.stack([symmetry.source for symmetry in symmetries])[choice]
    places = np.stack([symmetry.places for symmetry in symmetries])[choice]
    return GridSamples(
        np.take_along_axis(samples.cells, source, 1),
        samples.constants,
        np.take_along_axis(samples.legal, places, 1),
        np.take_along_axis(samples.policy, places, 1),
        samples.value,
        samples.result,
        samples.exact,
        samples.weight,
        samples.has_policy,
    )


def merged(samples: GridSamples) -> GridSamples:
    """Equal positions once: targets averaged by weight, exact values before others; n of them together have
    the mean weight times log2(n) + 1.
    """
    if len(samples) == 0:
        return samples
    keys = np.ascontiguousarray(np.concatenate([samples.cells, samples.constants], axis=1))
    rows = keys.view(np.dtype((np.void, keys.shape[1]))).reshape(-1)
    _, first, group, count = np.unique(rows, return_index=True, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    order = np.argsort(first, kind="stable")  # in the order of their first occurrence
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    group, first, count = rank[group], first[order], count[order].astype(np.float64)

    def total(numbers: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(group, numbers.astype(np.float64), len(first)).astype(np.float64)

    weight = samples.weight.astype(np.float64)
    mass = np.maximum(total(weight), 1e-12)
    exact_mass = total(samples.exact.astype(np.float64))
    proven = exact_mass > 0.0
    exact_value = total(samples.value * samples.exact) / np.maximum(exact_mass, 1.0)
    value = np.where(proven, exact_value, total(samples.value * weight) / mass)
    with_policy = total(samples.has_policy.astype(np.float64)) > 0.0
    is_best = (samples.exact & samples.has_policy) | ~(total(samples.exact & samples.has_policy) > 0.0)[group]
    share = np.where(is_best & samples.has_policy, np.maximum(weight, 1e-6), 0.0)
    share_mass = np.maximum(total(share), 1e-12)
    # The legal moves of a position without a policy are not known.
    legal = np.zeros_like(samples.legal[first])
    for action in range(legal.shape[1]):
        known = samples.legal[:, action] & (samples.has_policy | ~with_policy[group])
        legal[:, action] = total(known.astype(np.float64)) > 0.0
    policy = np.zeros((len(first), samples.policy.shape[1]))
    for action in range(policy.shape[1]):
        policy[:, action] = total(samples.policy[:, action] * share) / share_mass
    return GridSamples(
        samples.cells[first],
        samples.constants[first],
        legal,
        policy.astype(np.float32),
        value.astype(np.float32),
        (total(samples.result * weight) / mass).astype(np.float32),
        proven,
        (mass / count * (np.log2(count) + 1.0)).astype(np.float32),
        with_policy,
    )
