"""What is in shards: games, results, scores, repeated positions, and the value scale that fits results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch import _core
from anabranch.data.scale import UNDECIDED, ScaleFit
from anabranch.data.shards import Damage, about, read_shards
from anabranch.errors import DataError
from anabranch.formats.scores import LARGEST_SCORE

EDGES = (0, 25, 50, 100, 200, 400, UNDECIDED, 1000, 2000, LARGEST_SCORE + 1)
"""Of the histogram of scores, whoever is better; beyond the last there is a mate."""


class ShardStatistics:
    """Sums over shards."""

    def __init__(self) -> None:
        self.variants: Counter[str] = Counter()
        self.shards = 0
        self.positions = 0
        self.lengths: list[NDArray[np.int64]] = []
        self.results: Counter[int] = Counter()  # of games, for the side to move at their first position
        self.scored = 0
        self.histogram = np.zeros(len(EDGES), dtype=np.int64)
        self.outcomes = np.zeros(len(EDGES))  # points of the better side
        self.with_result = np.zeros(len(EDGES), dtype=np.int64)
        self.keys: list[NDArray[np.uint64]] = []
        self.legal = 0
        self.all_games = ScaleFit()
        self.own_results = ScaleFit()

    def add(self, table: pa.Table) -> None:
        """Count a shard."""
        notes = about(table)
        variant = notes.get("variant", "chess")
        self.variants[variant] += table.num_rows
        self.shards += 1
        self.positions += table.num_rows
        if not table.num_rows:
            return
        games = table.column("game").to_numpy()
        starts = np.flatnonzero(np.append(True, games[1:] != games[:-1]))
        lengths = np.diff(np.append(starts, len(games)))
        self.lengths.append(lengths)
        result = table.column("result").cast(pa.float32()).to_numpy(zero_copy_only=False)
        self.results.update(result[starts][~np.isnan(result[starts])].astype(int).tolist())
        keys, legal, _ = _core.examine_samples(
            variant, table.column("fen").to_pylist(), [[]] * table.num_rows
        )
        self.keys.append(keys)
        self.legal += int(legal.sum())
        score = table.column("score").cast(pa.float32()).to_numpy(zero_copy_only=False)
        self._add_scores(score, result, game_weights(notes, score, starts, lengths))

    def _add_scores(
        self, score: NDArray[np.float32], result: NDArray[np.float32], weights: NDArray[np.float64]
    ) -> None:
        known = ~np.isnan(score)
        self.scored += int(known.sum())
        cells = np.searchsorted(EDGES, np.abs(score[known]), side="right") - 1
        self.histogram += np.bincount(cells, minlength=len(EDGES))
        both = known & ~np.isnan(result)
        cells = np.searchsorted(EDGES, np.abs(score[both]), side="right") - 1
        points = (np.where(score[both] >= 0, result[both], -result[both]) + 1) / 2
        self.with_result += np.bincount(cells, minlength=len(EDGES))
        self.outcomes += np.bincount(cells, weights=points, minlength=len(EDGES))
        self.all_games.add(score[both], result[both], np.ones(int(both.sum())))
        self.own_results.add(score[both], result[both], weights[both])

    def summary(self) -> dict[str, Any]:
        """The statistics as one document."""
        lengths = np.concatenate(self.lengths) if self.lengths else np.zeros(0, dtype=np.int64)
        distinct = len(np.unique(np.concatenate(self.keys))) if self.keys else 0
        counted = self.positions or 1
        return {
            "variants": dict(self.variants),
            "shards": self.shards,
            "games": len(lengths),
            "positions": self.positions,
            "positions_per_game": {
                "mean": float(lengths.mean()) if len(lengths) else None,
                "median": float(np.median(lengths)) if len(lengths) else None,
                "longest": int(lengths.max()) if len(lengths) else None,
            },
            "results": {
                name: self.results[value] for name, value in (("wins", 1), ("draws", 0), ("losses", -1))
            },
            "scored": self.scored,
            "undecided": self._undecided(),
            "repeated_positions": 1 - distinct / counted,
            "legal_moves": self.legal / counted,
            "scores": [
                {
                    "from": EDGES[cell],
                    "to": EDGES[cell + 1] if cell + 1 < len(EDGES) else None,
                    "positions": int(self.histogram[cell]),
                    "points_of_the_better_side": float(self.outcomes[cell] / self.with_result[cell])
                    if self.with_result[cell]
                    else None,
                }
                for cell in range(len(EDGES))
            ],
            "value_scale": self.all_games.scale(),
            "value_scale_of_games_played_out": self.own_results.scale(),
        }

    def _undecided(self) -> float | None:
        if not self.scored:
            return None
        return float(self.histogram[: EDGES.index(UNDECIDED)].sum() / self.scored)


def game_weights(
    notes: dict[str, str], score: NDArray[np.float32], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How much positions count where only games with results of their own do. One that was stopped because
    the teacher called it decided counts nothing; the share that was played out counts for it.
    """
    job = json.loads(notes.get("job", "{}"))
    weights = np.ones(len(lengths))
    limit, share = job.get("decided"), job.get("played_out")
    if limit is not None and share is not None and len(score) > 2:
        over = np.abs(score) >= limit
        game = np.repeat(np.arange(len(lengths)), lengths)
        held = np.flatnonzero(over[2:] & over[1:-1] & over[:-2] & (game[2:] == game[:-2])) + 2
        decided, first = np.unique(game[held], return_index=True)
        goes_on = held[first] < starts[decided] + lengths[decided] - 1
        weights[decided] = np.where(goes_on, 1 / share if share else 0.0, 0.0)
    return np.repeat(weights, lengths)


def collect(folders: Iterable[Path], report: Callable[[Damage], object]) -> dict[str, Any]:
    """The statistics of some folders; damaged shards are reported and left out."""
    statistics = ShardStatistics()
    for _, table in read_shards(folders, report=report):
        statistics.add(table)
    if not statistics.shards:
        raise DataError("there is no shard that can be read")
    return statistics.summary()
