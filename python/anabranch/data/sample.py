"""Positions for a teacher, drawn from games: as they were played, and off the path of the game.

A search looks at many positions that good players never reach. So a part of the positions is some moves away
from the game: moves drawn from the policy of a network, flattened, which leads to what a search would look
at, or drawn from all legal moves. All positions keep the number of their game, by which they are held out or
not. They have no targets: they wait for `anabranch data label`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.data.folder import DATA
from anabranch.data.jobs import SampleJob
from anabranch.data.shards import Seen, Shard, about, find_shards, read_shard, remove_parts, write_shard
from anabranch.errors import DataError
from anabranch.jobs.progress import OnProgress, no_progress


def sample_shards(
    job: SampleJob, network: _core.Network, out: Path, progress: OnProgress = no_progress
) -> int:
    """Write a shard of positions for each shard of games that has none yet; how many positions there are.

    No position occurs twice. A shard is written completely or not at all; the same job continues.
    """
    job.check()
    if network.variant != job.variant:
        raise DataError(f"the network is for {network.variant}, not for {job.variant}")
    sources = [shard for source in job.sources for shard in find_shards(Path(source))]
    if not sources:
        raise DataError(f"there is no shard in {', '.join(job.sources)}")
    with DATA.open(out, asdict(job)):
        remove_parts(out)
        done = {shard.number: shard for shard in find_shards(out)}
        seen = Seen()
        positions = 0
        for number, shard in enumerate(sources):
            if number in done:
                fens = read_shard(done[number]).column("fen").to_pylist()
                seen.add(_keys(job.variant, fens))
                positions += len(fens)
            else:
                rows = _sample(job, network, shard, seen)
                write_shard(out, number, rows, {"variant": job.variant})
                positions += len(rows)
            progress(number + 1, len(sources), f"{positions:,} positions")
    return positions


def _keys(variant: str, fens: list[str]) -> NDArray[np.uint64]:
    return _core.examine_samples(variant, fens, [[] for _ in fens])[0]


def _sample(job: SampleJob, network: _core.Network, shard: Shard, seen: Seen) -> list[dict[str, Any]]:
    """The positions of one shard of games, none that was seen."""
    table = read_shard(shard)
    has = about(table).get("variant")
    if has != job.variant:
        raise DataError(f"{shard.path} has positions of {has}, not of {job.variant}")
    games = table.column("game").to_numpy()
    generator = np.random.default_rng([job.seed, shard.number, int(shard.checksum, 16)])
    places = np.sort(_places(games, job.per_game, generator))
    columns = table.select(["game", "ply", "fen", "move", "result"])
    rows: list[dict[str, Any]] = columns.take(places).to_pylist()
    kinds = generator.random(len(rows))
    policy = kinds < job.policy_share
    random = ~policy & (kinds < job.policy_share + job.random_share)
    lengths = np.where(policy, generator.integers(1, job.policy_plies + 1, len(rows)), 0)
    lengths = np.where(random, generator.integers(1, job.random_plies + 1, len(rows)), lengths)
    walk = _Walk(job, network, generator)
    for step in range(int(lengths.max(initial=0))):
        walk.move([rows[i] for i in np.flatnonzero(policy & (lengths > step))], True)
        walk.move([rows[i] for i in np.flatnonzero(random & (lengths > step))], False)
    rows.sort(key=lambda row: (row["game"], row["ply"]))
    same = [before["game"] == row["game"] and before["ply"] == row["ply"] for before, row in pairwise(rows)]
    rows = [row for row, is_same in zip(rows, [False, *same], strict=True) if not is_same]
    is_new = seen.add(_keys(job.variant, [row["fen"] for row in rows]))
    return [row for row, new in zip(rows, is_new, strict=True) if new]


def _places(games: NDArray[np.uint64], per_game: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Up to some rows of each game, drawn at random."""
    shuffled = generator.permutation(len(games))
    by_game = shuffled[np.argsort(games[shuffled], kind="stable")]
    first = np.flatnonzero(np.diff(games[by_game], prepend=~games[by_game][:1]))
    rank = np.arange(len(games)) - np.repeat(first, np.diff(first, append=len(games)))
    places: NDArray[np.int64] = by_game[rank < per_game]
    return places


class _Walk:
    """Takes positions one move further, and forgets what followed in the game."""

    def __init__(self, job: SampleJob, network: _core.Network, generator: np.random.Generator) -> None:
        self._temperature = job.temperature
        self._network = network
        self._generator = generator
        self._rules = _core.Session(job.variant, False, {}, False)

    def move(self, rows: list[dict[str, Any]], by_policy: bool) -> None:
        """Play a move in each position; one that ends the game is not played."""
        answers = self._network.evaluate([row["fen"] for row in rows]) if by_policy else [None] * len(rows)
        for row, answer, drawn in zip(rows, answers, self._generator.random(len(rows)), strict=True):
            if answer is None:
                self._rules.set_position(row["fen"], [])
                moves = self._rules.legal_moves()
                move = moves[int(drawn * len(moves))]
            else:
                move = self._draw(answer[2], drawn)
            self._rules.set_position(row["fen"], [move])
            if self._rules.ending() is None:
                row |= {"fen": self._rules.fen(), "ply": row["ply"] + 1, "move": None, "result": None}

    def _draw(self, logits: list[tuple[str, float]], drawn: float) -> str:
        """A move of a softmax of the logits over the temperature."""
        top = max(logit for _, logit in logits)
        weights = [math.exp((logit - top) / self._temperature) for _, logit in logits]
        left = drawn * sum(weights)
        for (move, _), weight in zip(logits, weights, strict=True):
            left -= weight
            if left <= 0.0:
                return move
        return logits[-1][0]
