"""The folder of a job: one job to a folder, unless the one that is there has come to nothing.

What counts are samples, in shards or in journals. A command that failed before it had any leaves nothing that
the corrected command would have to respect.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from anabranch.data.shards import Shard, find_shards
from anabranch.jobs.journal import read_journal

JOB = "job.json"
POSITIONS = ".positions"
"""Positions that wait for their labels."""
_KINDS = ("games_per_shard", "sources", "files")
"""One word from each kind of job: generating, labelling, reading games."""


def holds_samples(folder: Path) -> bool:
    """Whether there is a sample in a folder. Of a damaged shard nobody knows, so it counts."""
    if not folder.is_dir():
        return False
    if any(not _is_empty(shard) for shard in find_shards(folder)):
        return True
    return any(any(read_journal(path).values()) for path in folder.glob(".*.journal"))


def clear_failed_job(folder: Path) -> bool:
    """Remove a job that has no samples, and what it left behind; whether there was one. Only for the one
    process that works in the folder.
    """
    if not _is_job(folder / JOB) or holds_samples(folder):
        return False
    for shard in find_shards(folder):
        shard.path.unlink()
    for path in folder.glob(".*.journal"):
        path.unlink()
    shutil.rmtree(folder / POSITIONS, ignore_errors=True)
    (folder / JOB).unlink()
    return True


def _is_job(path: Path) -> bool:
    """Whether a file was written by a job of this package: others' files are left alone."""
    try:
        stored = json.loads(path.read_text())
    except (OSError, ValueError):
        return False
    return isinstance(stored, dict) and "variant" in stored and any(name in stored for name in _KINDS)


def _is_empty(shard: Shard) -> bool:
    try:
        return bool(pq.read_metadata(shard.path).num_rows == 0)
    except (pa.ArrowException, OSError):
        return False


__all__ = ["clear_failed_job", "holds_samples"]
