"""Positions for a teacher, drawn from games: as they were played, and off the path of the game.

A search looks at many positions that good players never reach. So a part of the positions is some moves away
from the game, drawn from the policy of a network, flattened, or from all legal moves, and a part is replaced
by leaves of short searches. All positions keep the number of their game, by which they are held out or not.
They have no targets: they wait for `anabranch data label`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch import _core
from anabranch.data.folder import DATA
from anabranch.data.jobs import SampleJob
from anabranch.data.shards import (
    Seen,
    Shard,
    about,
    find_shards,
    list_shards,
    read_shard,
    remove_parts,
    write_shard,
)
from anabranch.engine import Engine
from anabranch.errors import DataError
from anabranch.evaluators import Leaf
from anabranch.human import choose, softmax
from anabranch.jobs.progress import OnProgress, no_progress
from anabranch.result import board_of

DRAWN_FROM = "drawn_from"
"""The note of a shard that names the shard of games its positions were drawn from."""


def sample_shards(
    job: SampleJob, network: _core.Network, out: Path, progress: OnProgress = no_progress
) -> int:
    """Write a shard of positions for each shard of games that has none yet; how many positions there are.

    No position occurs twice. A shard is written completely or not at all; the same job continues, and takes
    shards of games that are new.
    """
    job.check()
    if network.variant != job.variant:
        raise DataError(f"the network is for {network.variant}, not for {job.variant}")
    sources = {shard.path.stem: shard for shard in list_shards(map(Path, job.sources))}
    if not sources:
        raise DataError(f"there is no shard in {', '.join(job.sources)}")
    with DATA.open(out, asdict(job)):
        remove_parts(out)
        seen = Seen()
        positions = 0
        numbers = {}
        for shard in find_shards(out):
            table = read_shard(shard)
            numbers[_origin(shard, table)] = shard.number
            seen.add(_keys(job.variant, table.column("fen").to_pylist()))
            positions += table.num_rows
        for place, (name, shard) in enumerate(sources.items()):
            if name not in numbers:
                # Not the place: that of a shard changes when a folder before it gets another one.
                numbers[name] = next(number for number in count(place) if number not in numbers.values())
                rows = _sample(job, network, shard, seen)
                write_shard(out, numbers[name], rows, {"variant": job.variant, DRAWN_FROM: name})
                positions += len(rows)
            progress(place + 1, len(sources), f"{positions:,} positions")
    return positions


def _origin(shard: Shard, table: pa.Table) -> str:
    """The shard of games that the positions of a shard were drawn from, by its name."""
    name = about(table).get(DRAWN_FROM)
    if name is None:
        raise DataError(f"{shard.path} does not name the shard of its games; delete it to draw them again")
    return name


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
    searched = np.flatnonzero(generator.random(len(rows)) < job.search_share)
    if len(searched):
        leaves = _Leaves(job, network, generator)
        for i in searched:
            leaves.replace(rows[i])
    rows.sort(key=lambda row: (row["game"], row["ply"]))
    is_new = seen.add(_keys(job.variant, [row["fen"] for row in rows]))
    return [row for row, new in zip(rows, is_new, strict=True) if new]


class _Leaves:
    """Replaces positions by leaves of short searches: what the value of a network is asked for."""

    def __init__(self, job: SampleJob, network: _core.Network, generator: np.random.Generator) -> None:
        self._variant = job.variant
        self._evaluations = job.search_evaluations
        self._generator = generator
        self._observer = _Observer(network)
        self._engine = Engine(job.variant, evaluator=self._observer, threads=1, batch_size=4)
        self._rules = _core.Session(job.variant, False, {}, False)

    def replace(self, row: dict[str, Any]) -> None:
        """Put a leaf, drawn from all but the position itself, in the place of a position, unless the game is
        over there.
        """
        self._rules.set_position(row["fen"], [])
        if self._rules.ending() is not None:
            return
        self._observer.seen = []
        self._engine.reset(row["fen"])
        self._engine.search(evaluations=self._evaluations)
        leaves = [leaf for leaf in self._observer.seen if leaf != row["fen"]]
        if leaves:
            fen = leaves[int(self._generator.integers(len(leaves)))]
            depth = self._ply(fen) - self._ply(row["fen"])
            row |= {"fen": fen, "ply": row["ply"] + depth, "move": None, "result": None}

    def _ply(self, fen: str) -> int:
        """By the number of the move."""
        return board_of(self._variant, fen, False).ply()


class _Observer:
    """A network as an evaluator that remembers what it was asked."""

    inputs: Literal["positions"] = "positions"

    def __init__(self, network: _core.Network) -> None:
        self._network = network
        self.seen: list[str] = []

    def evaluate(self, leaves: Sequence[Leaf]) -> tuple[NDArray[np.float32], list[list[float]]]:
        """Values, and the logits of the legal moves."""
        fens = [leaf.fen for leaf in leaves]
        self.seen += fens
        answers = self._network.evaluate(fens)
        logits = []
        for leaf, (_, _, moves) in zip(leaves, answers, strict=True):
            by_name = dict(moves)
            logits.append([by_name[move] for move in leaf.moves])
        return np.array([value for value, _, _ in answers], np.float32), logits


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
        self._random = Random(int(generator.integers(2**63)))
        self._rules = _core.Session(job.variant, False, {}, False)

    def move(self, rows: list[dict[str, Any]], by_policy: bool) -> None:
        """Play a move in each position; one that ends the game is not played, nor any where it is over:
        people play on in dead positions.
        """
        answers = self._network.evaluate([row["fen"] for row in rows]) if by_policy else [None] * len(rows)
        for row, answer in zip(rows, answers, strict=True):
            self._rules.set_position(row["fen"], [])
            if self._rules.ending() is not None:
                continue
            if answer is None:
                move = self._random.choice(self._rules.legal_moves())
            else:
                move = choose(softmax(answer[2]), self._random, self._temperature)
            self._rules.set_position(row["fen"], [move])
            if self._rules.ending() is None:
                row |= {"fen": self._rules.fen(), "ply": row["ply"] + 1, "move": None, "result": None}
