"""Positions in memory with their targets, split by game into those to train on and those held out.

Texts stay in Arrow arrays, about 150 bytes a position; features and planes are made batch by batch elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch.data.shards import Damage, Shard, about, find_shards, read_shard
from anabranch.errors import DataError
from anabranch.formats.scores import result_scale
from anabranch.train.recipe import Recipe

UNDECIDED = 600
"""Centipawns: the band in which a game is still open."""
FEWEST = 100
"""Positions with a score and a result that it takes to fit the scale."""
_FITTED = 2000
"""Scores beyond say nothing about the scale."""


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
class Material:
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


def list_shards(folders: Iterable[Path]) -> list[Shard]:
    """The shards of some folders."""
    return [shard for folder in folders for shard in find_shards(folder)]


def name_shards(paths: Iterable[str]) -> list[Shard]:
    """The shards of a list of paths, as a checkpoint has it."""
    shards = []
    for path in map(Path, paths):
        number, _, checksum = path.stem.partition("-")
        if not path.is_file():
            raise DataError(f"the shard {path}, which the run was trained on, is gone")
        shards.append(Shard(int(number), checksum, path))
    return shards


def read_material(
    shards: Sequence[Shard],
    recipe: Recipe,
    report: Callable[[Damage], object] | None = None,
    draw_share: float | None = None,
) -> Material:
    """Read shards, leave damaged ones and games seen before out, split by game and make the targets."""
    tables: list[pa.Table] = []
    used: list[str] = []
    notes: dict[str, str] = {}
    seen: set[int] = set()
    for shard in shards:
        try:
            table = read_shard(shard)
        except DataError as error:
            if report is None:
                raise
            report(Damage(shard.path, str(error)))
            continue
        has = about(table)
        if has.get("variant") != recipe.variant:
            raise DataError(f"{shard.path} has positions of {has.get('variant')}, not of {recipe.variant}")
        notes = notes or has
        used.append(str(shard.path.resolve()))
        table, games = _new_games(table.drop_columns(["source", "move", "ply", "value"]), seen)
        seen |= games
        tables.append(table)
    rows = pa.concat_tables([table.replace_schema_metadata(None) for table in tables]) if tables else None
    if rows is None or rows.num_rows == 0:
        raise DataError("there is no position to train on")
    rows = rows.combine_chunks()
    scores = _floats(rows["score"])
    results = _floats(rows["result"])
    policy = _policy(rows, recipe.policy_temperature)
    kept = (_lengths(policy) > 0) & ~(np.isnan(scores) & np.isnan(results))
    if recipe.score_limit is not None:
        kept &= ~(np.abs(scores) > recipe.score_limit)
    held = _held_out(rows["game"], recipe.held_out)
    has_scores = not bool(np.isnan(scores[kept]).all())
    scale, sentences = choose_scale(recipe, scores[kept & ~held], results[kept & ~held])
    values = np.tanh(scores / (2.0 * scale)).astype(np.float32)
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
    held_out = everything.take(np.flatnonzero(kept & held))
    return Material(train, held_out, scale, draw_share, used, notes, sentences, has_scores)


def choose_scale(
    recipe: Recipe, scores: NDArray[np.float32], results: NDArray[np.float32]
) -> tuple[float, tuple[str, ...]]:
    """The value scale of the recipe, else the fitted one; where there is nothing to fit or where it makes no
    difference, that of the variant, and sentences that say so.
    """
    usual = result_scale(recipe.variant)
    if np.isnan(scores).all():
        sentence = "no position has a score, so the value is learned from the results alone"
        return recipe.value_scale or usual, (f"{sentence} (--result-share 1)",)
    if recipe.value_scale is not None:
        return recipe.value_scale, ()
    if recipe.result_share == 1.0:
        return usual, ()
    known = int((~np.isnan(results) & (np.abs(scores) <= _FITTED)).sum())
    if known < FEWEST:
        sentence = f"only {known} positions have a score and a result, so the value scale is not fitted"
        return usual, (f"{sentence}; it is {usual:g} (--value-scale)",)
    return fit_scale(scores, results), ()


def fit_scale(scores: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """Centipawns s for which sigmoid(score / s) predicts the results best: logistic regression by Newton's
    method.
    """
    known = ~np.isnan(scores) & ~np.isnan(results) & (np.abs(scores) <= _FITTED)
    x = scores[known].astype(np.float64)
    y = (results[known].astype(np.float64) + 1.0) / 2.0
    if len(x) < FEWEST or np.corrcoef(x, y + 1e-9 * x)[0, 1] <= 0.01:
        raise DataError(
            "the scores do not predict the results, so the value scale cannot be fitted; "
            "--value-scale sets it, and --result-share 1 leaves the scores aside"
        )
    k = 1.0 / 300.0
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-k * x))
        change = float(((y - p) * x).sum() / (p * (1.0 - p) * x * x).sum())
        k = min(max(k + change, k / 2.0), k * 2.0)
        if abs(change) < 1e-9:
            break
    return round(1.0 / k, 1)


def fit_draws(values: NDArray[np.float32], results: NDArray[np.float32]) -> float:
    """The share D for which draws are as frequent as D (1 - |value|) says."""
    known = ~np.isnan(values) & ~np.isnan(results)
    room = float((1.0 - np.abs(values[known])).sum())
    draws = float((results[known] == 0.0).sum())
    return round(min(draws / room, 1.0), 4) if room > 0.0 else 0.0


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


def _new_games(table: pa.Table, seen: set[int]) -> tuple[pa.Table, set[int]]:
    """The rows of games that no earlier shard had, and those games."""
    games = set(table["game"].unique().to_pylist())
    known = games & seen
    if known:
        column = table["game"].combine_chunks().to_numpy()
        table = table.filter(pa.array(~np.isin(column, np.array(sorted(known), np.uint64))))
    return table, games - known


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


def _held_out(games: pa.ChunkedArray, share: float) -> NDArray[np.bool_]:
    """`is_held_out` for a column."""
    numbers: NDArray[np.uint64] = games.combine_chunks().to_numpy()
    mixed = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return mixed < np.uint64(int(share * 2**32))
