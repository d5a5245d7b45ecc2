"""The replay window: the newest positions, equal ones merged.

Symmetric forms of a position on a grid count as equal. Nothing here knows files, games or networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.records import GridSamples, PlaySamples
from anabranch.selfplay.symmetries import Symmetry

AnySamples = TypeVar("AnySamples", bound=PlaySamples)


def newest(parts: Sequence[AnySamples], size: int) -> AnySamples:
    """The newest `size` positions of generations, which come oldest first."""
    chosen: list[AnySamples] = []
    left = size
    for part in reversed(parts):
        if left <= 0:
            break
        kept = part.take(slice(max(0, len(part) - left), None))
        chosen.append(kept)
        left -= len(kept)
    return type(parts[-1]).join(chosen[::-1])


def comes_before(rows: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """[B]: whether a row [B, n] comes before another in order.

    >>> comes_before(np.array([[1, 2], [1, 3]], np.uint8), np.array([[1, 3], [1, 3]], np.uint8)).tolist()
    [True, False]
    """
    differs = rows != others
    first, every = differs.argmax(1), np.arange(len(rows))
    before: NDArray[np.bool_] = differs.any(1) & (rows[every, first] < others[every, first])
    return before


def canonical(samples: GridSamples, symmetries: Sequence[Symmetry]) -> GridSamples:
    """Every position in that of its symmetric forms whose cells come first in order."""
    best, choice = samples.cells, np.zeros(len(samples), np.int64)
    for number, symmetry in enumerate(symmetries[1:], start=1):
        other = samples.cells[:, symmetry.source]
        smaller = comes_before(other, best)
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
    return moved(samples, np.take_along_axis(samples.cells, source, 1), places)


def moved(samples: GridSamples, cells: NDArray[np.uint8], places: NDArray[np.int64]) -> GridSamples:
    """The samples with other cells [B, area], and with the moves at `places` [B, A] of what they were."""
    return replace(
        samples,
        cells=cells,
        legal=np.take_along_axis(samples.legal, places, 1),
        policy=np.take_along_axis(samples.policy, places, 1),
    )


class _Groups:
    """Equal positions together: what they have in common. Exact values come before others, if one of them
    holds for all.
    """

    def __init__(self, samples: PlaySamples, keys: NDArray[Any], one_for_all: bool = True) -> None:
        _, first, group, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first, kind="stable")  # in the order of their first occurrence
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.of: NDArray[np.int64] = rank[group.reshape(-1)]
        """[B]: the group of each position."""
        self.first = first[order]
        self.count = count[order].astype(np.float64)
        weight = samples.weight.astype(np.float64)
        mass = np.maximum(self.total(weight), 1e-12)
        exact_mass = self.total(samples.exact)
        exact_value = self.total(samples.value * samples.exact) / np.maximum(exact_mass, 1.0)
        if one_for_all:
            self.exact = exact_mass > 0.0
        else:  # all are exact, and agree
            differences = self.total(np.abs(samples.value - exact_value[self.of]) * samples.exact)
            self.exact = (exact_mass == self.count) & (differences < 1e-3)
        value = np.where(self.exact, exact_value, self.total(samples.value * weight) / mass)
        self.value = value.astype(np.float32)
        self.result = (self.total(samples.result * weight) / mass).astype(np.float32)
        self.drawn = (self.total(samples.drawn * weight) / mass).astype(np.float32)
        self.weight = (mass / self.count * (np.log2(self.count) + 1.0)).astype(np.float32)

    def total(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of some numbers [B] in each group."""
        return np.bincount(self.of, numbers.astype(np.float64), len(self.first)).astype(np.float64)

    def shares(self, samples: PlaySamples, has_policy: NDArray[np.bool_]) -> NDArray[np.float64]:
        """[B]: what the policy of a position counts for that of its group."""
        proven = samples.exact & has_policy & self.exact[self.of]
        is_best = proven | ~(self.total(proven) > 0.0)[self.of]
        weight = np.maximum(samples.weight.astype(np.float64), 1e-6)
        share = np.where(is_best & has_policy, weight, 0.0)
        return share / np.maximum(self.total(share), 1e-12)[self.of]


def merged(samples: GridSamples, whole: bool = True) -> GridSamples:
    """Equal positions once: targets averaged by weight, exact values before others; n of them together have
    the mean weight times log2(n) + 1.

    Unless the samples are `whole`, equal ones may differ in what the rules know and a network does not see:
    in Go the boards before. Then an exact value counts like the others, and a move is legal if it was once.
    """
    if len(samples) == 0:
        return samples
    keys = np.ascontiguousarray(np.concatenate([samples.cells, samples.constants], axis=1))
    groups = _Groups(samples, keys.view(np.dtype((np.void, keys.shape[1]))).reshape(-1), whole)
    with_policy = groups.total(samples.has_policy) > 0.0
    share = groups.shares(samples, samples.has_policy)
    # The legal moves of a position without a policy are not known.
    legal = np.zeros_like(samples.legal[groups.first])
    for action in range(legal.shape[1]):
        known = samples.legal[:, action] & (samples.has_policy | ~with_policy[groups.of])
        legal[:, action] = groups.total(known) > 0.0
    policy = np.zeros((len(groups.first), samples.policy.shape[1]))
    for action in range(policy.shape[1]):
        policy[:, action] = groups.total(samples.policy[:, action] * share)
    return GridSamples(
        samples.cells[groups.first],
        samples.constants[groups.first],
        legal,
        policy.astype(np.float32),
        groups.value,
        groups.result,
        groups.drawn,
        groups.exact,
        groups.weight,
        with_policy,
    )


def merged_chess(samples: ChessSamples) -> ChessSamples:
    """The same for chess and its variants; positions are equal whatever their move counters."""
    if len(samples) == 0:
        return samples
    groups = _Groups(samples, samples.places)
    owners = samples.owners
    share = groups.shares(samples, samples.has_policy)[owners] * samples.policy
    names, number = np.unique(samples.moves, return_inverse=True)
    pairs, place = np.unique(groups.of[owners] * max(1, len(names)) + number.reshape(-1), return_inverse=True)
    policy = np.bincount(place.reshape(-1), share, len(pairs))
    used = policy > 0.0
    pairs, policy = pairs[used], policy[used]
    count = np.bincount(pairs // max(1, len(names)), minlength=len(groups.first))
    return ChessSamples(
        samples.position[groups.first],
        count.astype(np.int32),
        names[pairs % max(1, len(names))],
        policy.astype(np.float32),
        groups.value,
        groups.result,
        groups.drawn,
        groups.exact,
        groups.weight,
    )
