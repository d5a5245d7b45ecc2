"""Shards held against what they should be: whole, with the right columns, positions and moves by the rules,
targets in their ranges, no game twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anabranch import _core
from anabranch.data.shards import Damage, Seen, about, find_shards, find_strays, read_shard
from anabranch.errors import DataError
from anabranch.jobs.progress import OnProgress, no_progress

SAMPLE = 1000
"""Positions of a shard that are held against the rules, unless all are."""
FRESH = 60.0
"""Seconds for which a temporary file may belong to a process at work."""


class CheckedShards(NamedTuple):
    """What `check_folders` has found."""

    shards: int
    positions: int
    faults: list[Damage]


def check_folders(
    folders: Sequence[Path],
    every_position: bool = False,
    progress: OnProgress = no_progress,
) -> CheckedShards:
    """What is wrong in some folders."""
    faults: list[Damage] = []
    seen = Seen()
    shards = {folder: find_shards(folder) for folder in folders}
    total = sum(map(len, shards.values()))
    checked = positions = 0
    for folder in folders:
        faults += [Damage(path, "is not named like a shard") for path in find_strays(folder)]
        faults += [Damage(path, "was left behind by something interrupted") for path in _leftovers(folder)]
        for shard in shards[folder]:
            checked += 1
            try:
                table = read_shard(shard)
            except DataError as error:
                faults.append(Damage(shard.path, str(error).removeprefix(f"{shard.path} ")))
            else:
                faults += [Damage(shard.path, reason) for reason in check_table(table, seen, every_position)]
                positions += table.num_rows
            progress(checked, total, f"{positions:,} positions")
    return CheckedShards(checked, positions, faults)


def _leftovers(folder: Path) -> list[Path]:
    now = time.time()
    return sorted(path for path in folder.glob(".*.part") if now - path.stat().st_mtime > FRESH)


def check_table(table: pa.Table, seen: Seen, every_position: bool) -> list[str]:
    """What is wrong with the rows of a shard, each as the end of a sentence about it."""
    faults = []
    for name in ("game", "ply", "fen", "moves", "weights", "source"):
        if table.column(name).null_count:
            faults.append(f"has rows without {name}")
    variant = about(table).get("variant")
    if variant not in (*_core.variants(), "chess960"):
        return [*faults, f"names no known variant, but {variant}"]
    if faults or not table.num_rows:
        return faults
    faults += _check_games(table, seen)
    faults += _check_targets(table)
    faults += _check_rules(table, variant, every_position)
    return faults


def _check_games(table: pa.Table, seen: Seen) -> list[str]:
    games, ply = table.column("game").to_numpy(), table.column("ply").to_numpy()
    faults = []
    changes = games[1:] != games[:-1]
    known = np.unique(games)
    if changes.sum() + 1 != len(known) or (~changes & (ply[1:] < ply[:-1])).any():
        faults.append("has a game twice, or its plies out of order")
    places = pa.table({name: table.column(name) for name in ("game", "ply", "fen")})
    if places.group_by(["game", "ply", "fen"]).aggregate([]).num_rows != table.num_rows:
        faults.append("has a position of a game twice")
    twice = len(known) - int(seen.add(known).sum())
    if twice:
        faults.append(f"has {twice} games that other shards have too")
    return faults


def _check_targets(table: pa.Table) -> list[str]:
    faults = []
    counts = pc.list_value_length(table.column("moves")).to_numpy()
    if ((counts == 0) & ~table.column("score").is_valid().to_numpy()).any():
        faults.append("has positions without a target move or a score")
    weights = table.column("weights").combine_chunks()
    if (pc.list_value_length(weights).to_numpy() != counts).any():
        return [*faults, "has other numbers of weights than of moves"]
    flat = weights.flatten().to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(counts)), counts)
    sums = np.bincount(rows, weights=flat, minlength=len(counts))[counts > 0]
    if not (np.abs(sums - 1) < 1e-3).all() or not (flat >= 0).all():
        faults.append("has weights that are negative or whose sum is not 1")
    lengths = pc.list_value_length(table.column("scores")).to_numpy(zero_copy_only=False).astype(float)
    if ((lengths != counts) & ~np.isnan(lengths)).any():
        faults.append("has other numbers of scores than of moves")
    value = table.column("value").to_numpy(zero_copy_only=False)
    known = table.column("value").is_valid().to_numpy()
    if not (np.abs(value[known]) <= 1).all():
        faults.append("has values outside [-1, 1]")
    if (known != table.column("score").is_valid().to_numpy()).any():
        faults.append("has values without a score, or scores without a value")
    results = set(pc.unique(table.column("result")).to_pylist())
    if not results <= {-1, 0, 1, None}:
        faults.append("has results other than 1, 0 and -1")
    return faults


def _check_rules(table: pa.Table, variant: str, every_position: bool) -> list[str]:
    if not every_position and table.num_rows > SAMPLE:
        table = table.take(pa.array(np.linspace(0, table.num_rows - 1, SAMPLE).astype(np.int64)))
    fens = table.column("fen").to_pylist()
    moves = [
        targets if played is None else [*targets, played]
        for targets, played in zip(
            table.column("moves").to_pylist(), table.column("move").to_pylist(), strict=True
        )
    ]
    try:
        _, _, faults = _core.examine_samples(variant, fens, moves)
    except TypeError:
        return ["has moves that are no text"]
    reasons = []
    for fault, what in ((1, "that cannot be read"), (2, "with illegal moves")):
        where = np.flatnonzero(faults == fault)
        if len(where):
            noun = "position" if len(where) == 1 else "positions"
            reasons.append(f"has {len(where)} {noun} {what}, the first {fens[where[0]]!r}")
    return reasons
