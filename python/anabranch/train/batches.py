"""Batches: encoded by the core in threads of their own, ahead of the optimiser.

Which positions make batch number i, and which of them are mirrored, is a pure function of seed and i. So a
run that goes on at batch i sees what an unbroken run sees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from anabranch.train.network import RawSamples, Tensors, TrainableNetwork
from anabranch.train.positions import Positions

AHEAD = 4
"""Batches in flight."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Positions as a network reads them, with their targets."""

    encoded: Tensors
    wdl: Tensor
    importance: Tensor
    scores: NDArray[np.float32]
    results: NDArray[np.float32]


class RowOrder(Protocol):
    """Which rows make a batch."""

    def rows(self, index: int) -> NDArray[np.int64]:
        """The rows of batch `index`."""

    def mirrored(self, index: int) -> NDArray[np.bool_]:
        """Which of them are mirrored."""


class BatchOrder:
    """Rows shuffled by epoch.

    Each epoch is shuffled anew; what does not fill a batch is left to the next epoch's shuffle.
    """

    def __init__(self, positions: int, batch: int, seed: int) -> None:
        self.batch = min(batch, positions)
        self.per_epoch = positions // self.batch
        self._positions = positions
        self._seed = seed
        self._epoch: tuple[int, NDArray[np.int64]] | None = None

    def rows(self, index: int) -> NDArray[np.int64]:
        """The rows of batch `index`."""
        epoch, place = divmod(index, self.per_epoch)
        if self._epoch is None or self._epoch[0] != epoch:
            shuffled = np.random.default_rng([self._seed, epoch]).permutation(self._positions)
            self._epoch = (epoch, shuffled)
        return self._epoch[1][place * self.batch : (place + 1) * self.batch]

    def mirrored(self, index: int) -> NDArray[np.bool_]:
        """Which of them are mirrored: a random half."""
        return np.random.default_rng([self._seed, index, 1]).random(self.batch) < 0.5


def make_batch(
    network: TrainableNetwork,
    positions: Positions,
    mirror: NDArray[np.bool_] | None = None,
    smoothing: float = 0.0,
    threads: int = 1,
) -> Batch:
    """Encode positions."""
    samples = RawSamples(
        _plain(positions.fens), _plain_lists(positions.moves), _plain_lists(positions.weights), mirror
    )
    encoded = network.encode(samples, threads)
    if smoothing > 0.0:
        offsets = encoded["move_offsets"]
        counts = torch.diff(offsets)
        share = (smoothing / counts.clamp(min=1)).to(torch.float32).repeat_interleave(counts)
        encoded["target"] = (1.0 - smoothing) * encoded["target"] + share
    return Batch(
        encoded,
        torch.from_numpy(positions.wdl),
        torch.from_numpy(positions.importance),
        positions.scores,
        positions.results,
    )


def _plain(array: pa.Array) -> list[Any]:
    """A list of an Arrow array; through NumPy it is several times faster than `to_pylist`."""
    plain: list[Any] = array.to_numpy(zero_copy_only=False).tolist()
    return plain


def _plain_lists(array: pa.ListArray) -> list[list[Any]]:
    flat = _plain(array.flatten())
    ends = (array.offsets.to_numpy() - array.offsets[0].as_py()).tolist()
    return [flat[begin:end] for begin, end in pairwise(ends)]


def training_batches(
    network: TrainableNetwork,
    positions: Positions,
    order: RowOrder,
    begin: int,
    end: int,
    mirror: bool,
    smoothing: float,
    workers: int = 1,
) -> Generator[Batch, None, None]:
    """Batches `begin` to `end` in their order, made ahead in threads."""

    def make(rows: NDArray[np.int64], mirrored: NDArray[np.bool_] | None) -> Batch:
        return make_batch(network, positions.take(rows), mirrored, smoothing)

    pool = ThreadPoolExecutor(workers, "batches")
    waiting: deque[Future[Batch]] = deque()
    try:
        for index in range(begin, end):
            waiting.append(pool.submit(make, order.rows(index), order.mirrored(index) if mirror else None))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
