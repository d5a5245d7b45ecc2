"""Positions in memory with their targets, split by game into those to train on and those held out.

Texts stay in Arrow arrays, about 150 bytes a position; features and planes are made batch by batch elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch.data.scale import FITTED, UNDECIDED, ScaleFit
from anabranch.data.shards import Damage, Shard, about, held_out, read_shards
from anabranch.errors import DataError
from anabranch.formats.scores import result_scale
from anabranch.train.recipe import Recipe

FEWEST = 100
"""Positions with a score and a result that it takes to fit the scale."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Rows of shards, column by column. Missing scores and results are NaN."""

    fens: pa.LargeStringArray
    moves: pa.ListArray
    weights: pa.ListArray
    """Of the moves, sum 1: the policy target."""
    scores: NDArray[np.float32]
    results: NDArray[np.float32]
    wdl: NDArray[np.float32]
    """[N, 3]: the value target as win, draw, loss."""
    importance: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.fens)

    def take(self, rows: NDArray[np.int64]) -> Positions:
        """Some rows, in their order."""
        chosen = pa.array(rows)
        return Positions(
            self.fens.take(chosen),
            self.moves.take(chosen),
            self.weights.take(chosen),
            self.scores[rows],
            self.results[rows],
            self.wdl[rows],
            self.importance[rows],
        )


@dataclass(frozen=True, slots=True)
class TrainingData:
    """All that a run reads."""

    train: Positions
    held_out: Positions
    value_scale: float
    draw_share: float
    shards: list[str]
    about: dict[str, str]
    """Notes of the first shard: teacher and job."""
    notes: tuple[str, ...] = ()
    """Sentences about what was decided for want of scores or results."""
    has_scores: bool = True


def read_training_data(
    sources: Iterable[Path | Shard],
    recipe: Recipe,
    report: Callable[[Damage], object] | None = None,
) -> TrainingData:
    """Read shards, leave damaged ones and games seen before out, split by game and make the targets."""
    tables: list[pa.Table] = []
    used: list[str] = []
    notes: dict[str, str] = {}
    for shard, table in read_shards(sources, recipe.variant, report):
        notes = notes or about(table)
        used.append(str(shard.path.resolve()))
        tables.append(table.drop_columns(["source", "move", "ply", "value"]))
    rows = pa.concat_tables([table.replace_schema_metadata(None) for table in tables]) if tables else None
    if rows is None or rows.num_rows == 0:
        raise DataError("there is no position to train on")
    rows = rows.combine_chunks()
    scores = _floats(rows["score"])
    results = _floats(rows["result"])
    policy = _policy(rows, recipe.policy_temperature)
    kept = ~(np.isnan(scores) & np.isnan(results))
    if recipe.network != "sparse" or recipe.policy_width:
        kept &= _lengths(policy) > 0
    if recipe.score_limit is not None:
        kept &= ~(np.abs(scores) > recipe.score_limit)
    held = held_out(rows["game"].combine_chunks().to_numpy(), recipe.held_out)
    has_scores = not bool(np.isnan(scores[kept]).all())
    scale, sentences = choose_scale(recipe, scores[kept & ~held], results[kept & ~held])
    values = np.tanh(scores / (2.0 * scale)).astype(np.float32)
    draw_share = recipe.draw_share
    if draw_share is None:
        draw_share = fit_draws(values[kept & ~held], results[kept & ~held])
    importance = np.where(np.abs(scores) > UNDECIDED, recipe.decided_weight, 1.0).astype(np.float32)
    everything = Positions(
        rows["fen"].combine_chunks().cast(pa.large_string()),
        rows["moves"].combine_chunks(),
        policy,
        scores,
        results,
        mix_wdl(values, results, draw_share, recipe.result_share),
        importance,
    )
    train = everything.take(np.flatnonzero(kept & ~held))
    if len(train) == 0:
        raise DataError("there is no position to train on: all are held out or left out")
    validation = everything.take(np.flatnonzero(kept & held))
    return TrainingData(train, validation, scale, draw_share, used, notes, sentences, has_scores)


def choose_scale(
    recipe: Recipe, scores: NDArray[np.float32], results: NDArray[np.float32]
) -> tuple[float, tuple[str, ...]]:
    """The value scale of the recipe, else the fitted one; where there is nothing to fit or where it makes no
    difference, that of the variant, and sentences about that.
    """
    usual = result_scale(recipe.variant)
    if np.isnan(scores).all():
        sentence = "no position has a score, so the value is learned from the results alone"
        return recipe.value_scale or usual, (f"{sentence} (--result-share 1)",)
    if recipe.value_scale is not None:
        return recipe.value_scale, ()
    if recipe.result_share == 1.0:
        return usual, ()
    known = int((~np.isnan(results) & (np.abs(scores) <= FITTED)).sum())
    if known < FEWEST:
        sentence = f"only {known} positions have a score and a result, so the value scale is not fitted"
        return usual, (f"{sentence}; it is {usual:g} (--value-scale)",)
    return fit_scale(scores, results), ()


def fit_scale(scores: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """Centipawns s for which sigmoid(score / s) predicts the results best."""
    known = ~np.isnan(scores) & ~np.isnan(results) & (np.abs(scores) <= FITTED)
    x, y = scores[known], results[known]
    fit = ScaleFit()
    fit.add(x, y, np.ones(len(x)))
    scale = fit.scale()
    if scale is None or len(x) < FEWEST or np.corrcoef(x, y + 1e-9 * x)[0, 1] <= 0.01:
        raise DataError(
            "the scores do not predict the results, so the value scale cannot be fitted; "
            "--value-scale sets it, and --result-share 1 leaves the scores aside"
        )
    return round(scale, 1)


def fit_draws(values: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """The share D for which draws are as frequent as D (1 - |value|); 0.5 where nothing is known."""
    known = ~np.isnan(values) & ~np.isnan(results)
    room = float((1.0 - np.abs(values[known])).sum())
    draws = float((results[known] == 0.0).sum())
    return round(min(draws / room, 1.0), 4) if room > 0.0 else 0.5


def mix_wdl(
    values: NDArray[np.float32], results: NDArray[np.float32], draw_share: float, result_share: float
) -> NDArray[np.float32]:
    """Win, draw and loss from teacher and result; one alone where the other is missing.

    The teacher's draw is D (1 - |v|), and win minus loss is v.
    """
    draw = draw_share * (1.0 - np.abs(values))
    teacher = np.stack([(1.0 + values - draw) / 2.0, draw, (1.0 - values - draw) / 2.0], axis=1)
    result = np.stack([results == 1.0, results == 0.0, results == -1.0], axis=1).astype(np.float32)
    share = np.full(len(values), result_share, np.float32)
    share[np.isnan(values)] = 1.0
    share[np.isnan(results)] = 0.0
    mixed = (1.0 - share)[:, None] * np.nan_to_num(teacher) + share[:, None] * result
    return mixed.astype(np.float32)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float32]:
    numbers: NDArray[np.float32] = column.combine_chunks().cast(pa.float32()).to_numpy(zero_copy_only=False)
    return numbers


def _lengths(lists: pa.ListArray) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = np.diff(lists.offsets.to_numpy())
    return lengths


def _policy(rows: pa.Table, temperature: float | None) -> pa.ListArray:
    """Weights of the moves: those of the shards, or made of the scores where there are scores for all."""
    moves = rows["moves"].combine_chunks()
    weights = rows["weights"].combine_chunks()
    offsets = moves.offsets.to_numpy().astype(np.int64)
    flat = weights.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    if len(flat) != len(moves.flatten()) or not np.array_equal(_lengths(weights), _lengths(moves)):
        raise DataError("a position has not as many weights as moves")
    if temperature is not None and len(flat):
        scores = rows["scores"].combine_chunks()
        flat = _from_scores(scores, offsets - offsets[0], flat, temperature)
    return pa.ListArray.from_arrays(pa.array((offsets - offsets[0]).astype(np.int32)), pa.array(flat))


def _from_scores(
    scores: Any, offsets: NDArray[np.int64], weights: NDArray[np.float32], temperature: float
) -> NDArray[np.float32]:
    lengths = np.diff(offsets)
    has = np.asarray(scores.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)) == lengths
    has &= lengths > 0
    owner = np.repeat(np.arange(len(lengths)), lengths)
    flat = np.full(len(weights), np.nan, np.float32)
    given = scores.filter(pa.array(has)).flatten().cast(pa.float32()).to_numpy(zero_copy_only=False)
    flat[has[owner]] = given
    top = np.full(len(lengths), -np.inf, np.float32)
    np.fmax.at(top, owner, flat)
    raw = np.exp((flat - top[owner]) / temperature)
    total = np.zeros(len(lengths), np.float32)
    np.add.at(total, owner, raw)
    made = raw / total[owner]
    return np.where(np.isnan(made), weights, made).astype(np.float32)
