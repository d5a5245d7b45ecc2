"""Labelled positions, and those after the moves that the teacher has scored, with the scores of the moves.

A teacher that scores all legal moves of a position gives some thirty labels for little more than the cost of
one, and they tell the good moves from the bad ones, which is what a search needs of a value. The new ones
keep the number of the game, and have no policy target.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import _core
from anabranch.data.folder import DATA
from anabranch.data.jobs import ExpandJob
from anabranch.data.shards import Shard, about, find_shards, read_shard, remove_parts, write_shard
from anabranch.errors import DataError
from anabranch.formats.scores import result_scale, value_at
from anabranch.jobs.progress import OnProgress, no_progress


def expand_shards(job: ExpandJob, out: Path, progress: OnProgress = no_progress) -> int:
    """Write a shard for each labelled shard that has none yet; how many positions were written now.

    A shard is written completely or not at all; the same job continues, and takes shards that are new.
    """
    job.check()
    with DATA.open(out, asdict(job)):
        remove_parts(out)
        shards = find_shards(Path(job.source))
        done = {shard.number for shard in find_shards(out)}
        positions = 0
        for place, shard in enumerate(shards):
            if shard.number not in done:
                rows, notes = _expand(job, shard)
                write_shard(out, shard.number, rows, notes)
                positions += len(rows)
            progress(place + 1, len(shards), f"{positions:,} positions")
    return positions


def _expand(job: ExpandJob, shard: Shard) -> tuple[list[dict[str, Any]], dict[str, str]]:
    table = read_shard(shard)
    notes = about(table)
    if notes.get("variant") != job.variant:
        raise DataError(f"{shard.path} has positions of {notes.get('variant')}, not of {job.variant}")
    generator = np.random.default_rng([job.seed, shard.number, int(shard.checksum, 16)])
    rules = _core.Session(job.variant, False, {}, False)
    scale = result_scale(job.variant)
    seen = set(table.column("fen").to_pylist())
    rows: list[dict[str, Any]] = []
    for row in table.to_pylist():
        if job.parents:
            rows.append(row)
        scores = row["scores"] or []
        gaps = max(scores, default=0) - np.array(scores)
        kept = generator.random(len(scores)) < np.maximum(np.exp(-gaps / job.gap), job.least)
        for place in np.flatnonzero(kept):
            rules.set_position(row["fen"], [row["moves"][place]])
            fen = rules.fen()
            if rules.ending() is not None or fen in seen:
                continue
            seen.add(fen)
            score = -scores[place]
            child = {"game": row["game"], "ply": row["ply"] + 1, "fen": fen, "moves": [], "weights": []}
            rows.append(child | {"score": score, "value": value_at(score, scale), "source": row["source"]})
    return rows, {name: text for name, text in notes.items() if name != "version"}
