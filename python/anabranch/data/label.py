"""Positions that exist already, labelled by a teacher: lists of FEN or EPD, games in PGN, other shards.

The positions are first cut into shards without targets, then labelled by any executor. Every position is
judged by a teacher that has just forgotten the last one, so neither the order nor an interruption makes a
difference.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch import _core
from anabranch.data.folder import DATA, POSITIONS, Samples, journal_path
from anabranch.data.jobs import TIMEOUT, LabelJob, PgnJob
from anabranch.data.pgn import Cursor, omissions, other_variant, read_tables
from anabranch.data.shards import (
    Seen,
    Shard,
    about,
    find_shards,
    game_number,
    new_games,
    read_shard,
    remove_parts,
    table_of,
    write_table,
)
from anabranch.data.targets import set_targets
from anabranch.data.teacher import Teacher, TeacherError
from anabranch.data.text import open_text
from anabranch.data.units import ShardJob
from anabranch.errors import DataError, PositionError
from anabranch.jobs.files import write_json

READY = "ready.json"
"""Written when all positions are cut into shards, and how many they are."""
Refuse = Callable[[str], object]
"""Called with a sentence about a position that cannot be labelled."""


@contextmanager
def open_labelling(
    job: LabelJob, folder: Path, refuse: Refuse, timeout: float = TIMEOUT
) -> Iterator[Labelling]:
    """Hold the folder of a job, new or to be continued."""
    job.check()
    with DATA.open(folder, asdict(job)):
        remove_parts(folder)
        _prepare(job, folder, refuse)
        yield Labelling(job, folder, timeout)


def _prepare(job: LabelJob, folder: Path, refuse: Refuse) -> None:
    """Cut the positions into shards without targets, if that was not done."""
    inner = _inner(folder)
    ready = inner / READY
    if not ready.exists():
        shutil.rmtree(inner, ignore_errors=True)
        shards = positions = units = 0
        for table in _cut(_positions(job, refuse), job.positions_per_shard):
            write_table(inner, shards, table, {"variant": job.variant})
            shards += 1
            positions += table.num_rows
            units += -(-table.num_rows // job.block)
        if positions == 0:
            raise DataError(_nothing(job))
        write_json(ready, {"shards": shards, "positions": positions, "units": units})
    done = {shard.number for shard in find_shards(folder)}
    for shard in find_shards(inner):
        if shard.number in done:  # interrupted between writing and clearing up
            journal_path(folder, shard.number).unlink(missing_ok=True)
            shard.path.unlink()


@dataclass(frozen=True, slots=True)
class BlockUnit:
    """Positions to be judged in a row: rows of a shard without targets."""

    job: LabelJob
    rows: list[dict[str, Any]]

    def make(self, teacher: Teacher) -> Samples:
        """Judge them."""
        return _label(self.job, self.rows, teacher)


@dataclass(frozen=True)
class Labelling(ShardJob[LabelJob]):
    """A job in its folder, with its positions cut into shards."""

    def total(self) -> int:
        """All blocks."""
        ready = json.loads((_inner(self.folder) / READY).read_text())
        count: int = ready.get("units", ready["positions"])
        return count

    def positions(self) -> int:
        """All positions."""
        count: int = json.loads((_inner(self.folder) / READY).read_text())["positions"]
        return count

    def missing(self) -> list[int]:
        """The shards that are still to be labelled."""
        have = {shard.number for shard in find_shards(self.folder)}
        return [shard.number for shard in find_shards(_inner(self.folder)) if shard.number not in have]

    def count(self, shard: int) -> int:
        """The number of blocks of a shard."""
        return -(-int(read_shard(self._source(shard)).num_rows) // self.job.block)

    def units(self, shard: int) -> dict[int, BlockUnit]:
        """The blocks of a shard."""
        rows = read_shard(self._source(shard)).select(["game", "ply", "fen", "move", "result"]).to_pylist()
        firsts = range(0, len(rows), self.job.block)
        blocks = (rows[first : first + self.job.block] for first in firsts)
        return {number: BlockUnit(self.job, block) for number, block in enumerate(blocks)}

    def write(self, shard: int, samples: Mapping[int, Samples], teacher: str) -> None:
        """Write a shard, and remove what it was made of."""
        labelled = (sample for number in sorted(samples) for sample in samples[number])
        self.write_rows(shard, labelled, teacher)
        self._source(shard).path.unlink()
        journal_path(self.folder, shard).unlink(missing_ok=True)

    def _source(self, number: int) -> Shard:
        return next(shard for shard in find_shards(_inner(self.folder)) if shard.number == number)


def _label(job: LabelJob, rows: list[dict[str, Any]], teacher: Teacher) -> Samples:
    teacher.new_game()
    fens = [row["fen"] for row in rows]
    if job.block == 1:
        judged = [teacher.judge(f"fen {fen}", job.nodes, job.depth) for fen in fens]
    else:
        judged = teacher.judge_all([f"fen {fen}" for fen in fens], job.nodes, job.depth)
    moves = [[judgement.move for judgement in judgements] for judgements in judged]
    faults = np.flatnonzero(_core.examine_samples(job.variant, fens, moves)[2])
    if len(faults):
        first = faults[0]
        raise TeacherError(f"the engine's moves {' '.join(moves[first])} are not all legal in {fens[first]}")
    samples = []
    for row, names, judgements in zip(rows, moves, judged, strict=True):
        scores = [judgement.score for judgement in judgements]
        sample = {**row, "moves": names, "scores": scores, "score": scores[0]}
        set_targets(job.variant, sample)
        samples.append(sample)
    return samples


def _inner(folder: Path) -> Path:
    return folder / POSITIONS


def _nothing(job: LabelJob) -> str:
    """Why there is nothing to label."""
    where = f"there is no position of {job.variant} to label in {', '.join(job.sources)}"
    other = other_variant([Path(source) for source in job.sources], job.variant)
    if other is None:
        return where
    if other not in _core.variants():
        return f"{where}; it is {other}, which cannot be labelled"
    return f"{where}; it is {other}, so give --variant {other}"


def _cut(tables: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of at least some length, but for the last; none ends within a game."""
    held: list[pa.Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        while count > rows:
            whole = pa.concat_tables(held)
            games = whole.column("game").to_numpy()
            ends = np.flatnonzero(games[rows:] != games[rows - 1 : -1])
            if not len(ends):
                held = [whole]
                break
            cut = rows + int(ends[0])
            yield whole.slice(0, cut)
            held = [whole.slice(cut)]
            count -= cut
    if count:
        yield pa.concat_tables(held)


def _positions(job: LabelJob, refuse: Refuse) -> Iterator[pa.Table]:
    seen = Seen()
    for source in job.sources:
        path = Path(source)
        if path.is_dir():
            for shard in find_shards(path):
                yield new_games(_of_shard(job, shard), seen)
        elif path.suffix == ".parquet":
            shards = [shard for shard in find_shards(path.absolute().parent) if shard.path.name == path.name]
            if not shards:
                raise DataError(f"{path} is not named like a shard")
            yield new_games(_of_shard(job, shards[0]), seen)
        elif ".pgn" in path.suffixes:
            games = PgnJob(job.variant, min_plies=1, bots=True, abandoned=True, unfinished=True)
            counts: dict[str, int] = {}
            for part in read_tables(games, [path], seen, Cursor()):
                counts = part.reading.counts
                yield part.table
            if left_out := omissions(counts):
                refuse(f"{path}: games left out: {left_out}")
        else:
            for table in _of_list(job, path, refuse):
                yield new_games(table, seen)


def _of_shard(job: LabelJob, shard: Shard) -> pa.Table:
    table = read_shard(shard)
    has = about(table).get("variant")
    if has != job.variant:
        raise DataError(f"{shard.path} has positions of {has}, not of {job.variant}")
    return table.replace_schema_metadata(None)


def _of_list(job: LabelJob, path: Path, refuse: Refuse) -> Iterator[pa.Table]:
    """The positions of a text, one in each line, none twice."""
    rules = _core.Session(job.variant, False, {}, False)
    stream, _ = open_text(path)
    seen: set[int] = set()
    rows: list[dict[str, Any]] = []
    with stream:
        for number, line in enumerate(stream, start=1):
            fen = _fen(line.decode(errors="replace").removeprefix("\ufeff"))
            if not fen:
                continue
            try:
                rules.set_position(fen, [])
            except PositionError as error:
                refuse(f"{path}, line {number}: {error}")
                continue
            if rules.ending() is not None:
                refuse(f"{path}, line {number}: the game is over there")
                continue
            game = game_number(job.variant, rules.fen(), [])
            if game not in seen:
                seen.add(game)
                rows.append({"game": game, "ply": 0, "fen": rules.fen()})
            if len(rows) == job.positions_per_shard:
                yield table_of(rows)
                rows = []
    if rows:
        yield table_of(rows)


def _fen(line: str) -> str:
    """The position of a line of FEN or EPD; nothing for an empty line or a comment.

    >>> _fen("4k3/8/8/8/8/8/8/4K2R w K - bm O-O; hmvc 3;")
    '4k3/8/8/8/8/8/8/4K2R w K -'
    >>> _fen("4k3/8/8/8/8/8/8/4K2R w K - 3 20")
    '4k3/8/8/8/8/8/8/4K2R w K - 3 20'
    """
    words = line.partition(";")[0].split()
    if not words or words[0].startswith("#"):
        return ""
    counters = [word for word in words[4:6] if word.isdigit()]
    return " ".join(words[:4] + (counters if len(counters) == 2 else []))
