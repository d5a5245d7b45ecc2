"""Folders of training data: shards, the journals of unfinished ones, and the job that makes them.

A folder belongs to one job, whose document it holds; what a job does is not known here.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.data.shards import Shard, find_shards
from anabranch.errors import DataError
from anabranch.jobs.folder import FolderKind
from anabranch.jobs.journal import JournalFormat

Samples = list[dict[str, Any]]
JOURNAL = JournalFormat[int, Samples](
    "a number with samples",
    lambda line: (int(line[0]), list(line[1])),
    lambda number, samples: [number, samples],
    DataError,
)
"""The units of a shard: of each its number, and its samples."""
POSITIONS = ".positions"
"""Positions that wait for their labels."""


def journal_path(folder: Path, shard: int) -> Path:
    """Where the journal of a shard is."""
    return folder / f".{shard:06d}.journal"


def holds_samples(folder: Path) -> bool:
    """Whether there is a sample in a folder. A damaged shard counts."""
    if not folder.is_dir():
        return False
    if any(not _is_empty(shard) for shard in find_shards(folder)):
        return True
    return any(any(JOURNAL.read(path).values()) for path in folder.glob(".*.journal"))


def _is_empty(shard: Shard) -> bool:
    try:
        return bool(pq.read_metadata(shard.path).num_rows == 0)
    except (pa.ArrowException, OSError):
        return False


def _clear(folder: Path) -> None:
    for shard in find_shards(folder):
        shard.path.unlink()
    for path in folder.glob(".*.journal"):
        path.unlink()
    shutil.rmtree(folder / POSITIONS, ignore_errors=True)


DATA = FolderKind(
    "job",
    "job.json",
    holds_samples,
    _clear,
    is_document=lambda stored: (
        stored["variant"] and stored.keys() & {"games_per_shard", "source", "sources", "files"}
    ),
    upgrade=lambda stored: {"block": 1, **stored} if {"engine", "sources"} <= stored.keys() else stored,
    error=DataError,
)
