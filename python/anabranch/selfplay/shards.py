"""Positions of self-play as shards: for `train run`, beside or instead of those of a teacher.

The policy target is that of the run, visits or completed values. The score is the value of the root in
centipawns, at the scale of the networks of the package.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.data.folder import DATA
from anabranch.data.jobs import check_variant
from anabranch.data.shards import find_shards, game_number, notes_of, remove_parts, write_shard
from anabranch.errors import DataError
from anabranch.formats.scores import centipawns, result_scale, value_at
from anabranch.jobs.progress import OnProgress, no_progress
from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.folder import read_run


@dataclass(frozen=True, slots=True)
class SelfPlayJob:
    """Which positions become shards."""

    variant: str
    source: str
    plan: str
    """Digest of the plan of the run: another run in the same place is another job."""


def import_selfplay(variant: str, source: Path, out: Path, progress: OnProgress = no_progress) -> int:
    """Write a shard for each file of positions that has none yet; how many positions were written now.

    The same call continues, and takes files that are new.
    """
    check_variant(variant)
    if source.resolve() == out.resolve():
        raise DataError(f"{out} is the folder of the self-play; shards need one of their own")
    run = read_run(source)
    if run.plan.game != variant:
        raise DataError(f"{source} has positions of {run.plan.game}, not of {variant}")
    files = {f"{key[1]:04d}/{int(key[2]):04d}": (key[1], int(key[2])) for key in run.records("play")}
    if not files:
        raise DataError(f"{source} has no positions yet")
    plan = hashlib.sha256(json.dumps(run.plan.as_dict(), sort_keys=True).encode()).hexdigest()
    job = SelfPlayJob(variant, str(source.resolve()), plan)
    notes = {"variant": variant, "teacher": "self-play", "job": json.dumps(asdict(job))}
    with DATA.open(out, asdict(job)):
        remove_parts(out)
        shards = find_shards(out)
        done = {notes_of(shard).get("file") for shard in shards}
        number = max((shard.number for shard in shards), default=-1)
        positions = 0
        for place, (name, place_in_run) in enumerate(sorted(files.items())):
            if name not in done:
                rows = rows_of(ChessSamples.read(run.positions_file(*place_in_run)), variant)
                number += 1
                write_shard(out, number, rows, {**notes, "file": name})
                positions += len(rows)
            progress(place + 1, len(files), f"{positions:,} positions")
    return positions


def rows_of(samples: ChessSamples, variant: str) -> list[dict[str, Any]]:
    """The rows of a shard. The number of a game is a hash of its positions."""
    fens = samples.position.astype(str).tolist()
    plies = plies_of(fens)
    games = games_of(plies, samples.count.tolist(), samples.result.tolist())
    texts: dict[int, list[str]] = {}
    for game, fen in zip(games, fens, strict=True):
        texts.setdefault(game, []).append(fen)
    numbers = {game: game_number(variant, one[0], one[1:]) for game, one in texts.items()}
    ends = np.cumsum(samples.count)
    moves, weights = samples.moves.astype(str).tolist(), samples.policy.tolist()
    scale = result_scale(variant)
    rows = []
    for place, fen in enumerate(fens):
        part = slice(ends[place] - samples.count[place], ends[place])
        best = sorted(zip(moves[part], weights[part], strict=True), key=lambda pair: -pair[1])
        score = centipawns(float(samples.value[place]), variant)
        rows.append(
            {
                "game": numbers[games[place]],
                "ply": plies[place],
                "fen": fen,
                "moves": [move for move, _ in best],
                "weights": [weight for _, weight in best],
                "score": score,
                "value": value_at(score, scale),
                "result": round(float(samples.result[place])),
                "source": "self-play",
            }
        )
    return rows


def plies_of(fens: Sequence[str]) -> list[int]:
    """Moves played before each position, by its counters."""
    plies = []
    for fen in fens:
        fields = fen.split()
        plies.append(2 * (max(int(fields[5]), 1) - 1) + (fields[1] == "b"))
    return plies


def games_of(plies: Sequence[int], counts: Sequence[int], results: Sequence[float]) -> list[int]:
    """The game of each position, from 0 on. A new one begins where the ply does not grow, or where the result
    is another one. Positions without a policy are those that a game adds at its end, and belong to it.

    >>> games_of([6, 7, 9, 3, 4, 8], [2, 2, 0, 5, 5, 5], [1, -1, 1, 0, 0, 1])
    [0, 0, 0, 1, 1, 2]
    """
    games: list[int] = []
    last = None
    for ply, count, result in zip(plies, counts, results, strict=True):
        for_white = -result if ply % 2 else result
        is_new = count > 0 and last is not None and (ply <= last[0] or for_white != last[1])
        games.append((games[-1] if games else 0) + is_new)
        if count > 0:
            last = (ply, for_white)
    return games
