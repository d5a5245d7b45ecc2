"""Learning of chess and its variants: the network, the batches and the losses of `anabranch.train`, on
positions of self-play and on the shards of a teacher beside them.

What the network reads of a position is computed by the core, ahead of the steps and in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from anabranch.data.shards import named_shards
from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.learner import Learner, StepLoss, drawn_rows
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import PlaySamples
from anabranch.selfplay.targets import value_target, wdl_of
from anabranch.selfplay.window import merged_chess
from anabranch.train.batches import Batch, training_batches
from anabranch.train.build import build_network
from anabranch.train.export import check_difference, write_compared
from anabranch.train.loop import make_optimiser
from anabranch.train.loss import policy_loss, value_loss
from anabranch.train.positions import Positions, mix_wdl, read_training_data
from anabranch.train.recipe import Recipe
from anabranch.train.sparse import BucketedNetwork, load_sparse

CHECKED = 64
"""Positions on which a network file is compared with its source."""


class ChessLearner(Learner):
    """The sparse network of chess or a variant."""

    def __init__(self, plan: LoopPlan, shards: tuple[str, ...]) -> None:
        self._plan = plan
        recipe = recipe_of(plan)
        network = build_network(recipe)
        assert isinstance(network, BucketedNetwork)
        self.network: BucketedNetwork = network
        self.optimiser = make_optimiser(network, plan.rate, plan.decay)
        self._teacher = read_teacher(shards, recipe) if shards else None

    def load_initial(self, path: Path) -> None:
        """Take the weights of a network file."""
        load_sparse(self.network, path)

    def merged(self, window: PlaySamples) -> ChessSamples:
        """Equal positions once."""
        assert isinstance(window, ChessSamples)
        return merged_chess(window) if self._plan.merge else window

    def losses(self, data: PlaySamples, steps: int, source: np.random.Generator) -> Generator[StepLoss]:
        """The losses of each step."""
        assert isinstance(data, ChessSamples)
        plan = self._plan
        positions = positions_of(data, plan.result_share)
        weights = data.weight.astype(np.float64)
        if self._teacher is not None:
            positions, weights = mixed(positions, weights, self._teacher, plan.data_share)
        order = DrawnOrder(drawn_rows(weights, plan.batch, steps, source), source)
        made = training_batches(self.network, positions, order, 0, steps, plan.symmetries, 0.0)
        with closing(made) as batches:
            for batch in batches:
                yield self._loss(batch)

    def _loss(self, batch: Batch) -> StepLoss:
        answer = self.network(batch.encoded)
        target, offsets = batch.encoded["target"], batch.encoded["move_offsets"]
        mass = torch.segment_reduce(target, "sum", offsets=offsets)
        count = max(1, int((mass > 0.0).sum()))
        policy = policy_loss(answer.logits, target, offsets).sum() / count
        entropy = -float(torch.special.xlogy(target, target).sum()) / count
        return StepLoss(policy, value_loss(answer, batch.wdl).mean(), entropy)

    def write(self, path: Path, about: dict[str, str], data: PlaySamples) -> None:
        """Write the network to a file, which is compared with its source."""
        assert isinstance(data, ChessSamples)
        positions = positions_of(data.take(slice(0, CHECKED)), self._plan.result_share)
        check_difference(write_compared(self.network, path, about, positions))


class DrawnOrder:
    """Rows of batches that were drawn beforehand."""

    def __init__(self, rows: NDArray[np.int64], source: np.random.Generator) -> None:
        self._rows = rows
        self._seed = int(source.integers(2**62))

    def rows(self, index: int) -> NDArray[np.int64]:
        """The rows of batch `index`."""
        rows: NDArray[np.int64] = self._rows[index]
        return rows

    def mirrored(self, index: int) -> NDArray[np.bool_]:
        """Which of them are mirrored: a random half."""
        drawn = np.random.default_rng([self._seed, index]).random(self._rows.shape[1])
        half: NDArray[np.bool_] = np.less(drawn, 0.5)
        return half


def recipe_of(plan: LoopPlan) -> Recipe:
    """The recipe of training that a plan has: for the network, the optimiser and the targets of shards."""
    return Recipe(
        plan.game,
        seed=plan.seed,
        policy_width=plan.policy_width,
        value_width=plan.value_width,
        rate=plan.rate,
        decay=plan.decay,
        held_out=0.0,
    )


@lru_cache(maxsize=1)
def read_teacher(shards: tuple[str, ...], recipe: Recipe) -> Positions:
    """The positions of shards, read once in a process."""
    return read_training_data(named_shards(shards), recipe).train


def positions_of(samples: ChessSamples, result_share: float) -> Positions:
    """Positions as training reads them. The value is a mix of root and result, the exact result alone where
    there is a proof; the draws of a root's value are fitted to the results of the window.
    """
    offsets = np.concatenate([[0], np.cumsum(samples.count)]).astype(np.int32)
    value, result = samples.value, samples.result
    open_values = value[~samples.exact]
    room = float((1.0 - np.abs(open_values)).sum())
    draws = min(float(samples.drawn[~samples.exact].sum()) / room, 1.0) if room > 0.0 else 0.0
    nothing = np.full(len(samples), np.nan, np.float32)
    searched = mix_wdl(value, nothing, draws, 0.0)
    played = wdl_of(result, samples.drawn)
    exact = wdl_of(value, 1.0 - np.abs(value))
    wdl = np.where(samples.exact[:, None], exact, value_target(searched, played, result_share))
    return Positions(
        pa.array(samples.position.astype(str).tolist(), pa.large_string()),
        pa.ListArray.from_arrays(
            pa.array(offsets), pa.array(samples.moves.astype(str).tolist(), pa.string())
        ),
        pa.ListArray.from_arrays(pa.array(offsets), pa.array(samples.policy.astype(np.float32))),
        np.full(len(samples), np.nan, np.float32),
        result,
        wdl.astype(np.float32),
        np.ones(len(samples), np.float32),
    )


def mixed(
    own: Positions, weights: NDArray[np.float64], teacher: Positions, share: float
) -> tuple[Positions, NDArray[np.float64]]:
    """Positions of self-play and of a teacher together, and the weights by which they are drawn: a share of
    them from the teacher.
    """
    together = Positions(
        *(
            pa.concat_arrays([getattr(own, name), getattr(teacher, name)])
            for name in ("fens", "moves", "weights")
        ),
        *(
            np.concatenate([getattr(own, name), getattr(teacher, name)])
            for name in ("scores", "results", "wdl", "importance")
        ),
    )
    parts = ((weights, 1.0 - share), (teacher.importance.astype(np.float64), share))
    return together, np.concatenate([part / max(part.sum(), 1e-12) * mass for part, mass in parts])
