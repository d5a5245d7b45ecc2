"""Positions that exist already, labelled by a teacher: lists of FEN or EPD, games in PGN, other shards.

The positions are first cut into shards without targets; then labelling is one shard in, one shard out, and
any process can do it. Every position is judged by a teacher that has just forgotten the last one, so neither
the order nor what was interrupted makes a difference.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anabranch import _core
from anabranch.data.folder import JOB, POSITIONS, clear_failed_job
from anabranch.data.generate import check_options, store_document
from anabranch.data.pgn import Cursor, PgnJob, omissions, other_variant, read_tables
from anabranch.data.shards import (
    SCHEMA,
    Seen,
    Shard,
    about,
    find_shards,
    game_number,
    new_games,
    read_shard,
    replace_shard,
    write_table,
)
from anabranch.data.targets import set_targets
from anabranch.data.teacher import PATIENCE, Teacher, TeacherError
from anabranch.data.text import open_text
from anabranch.errors import DataError, PositionError
from anabranch.jobs.journal import Advance, Failures, Samples, fill_journal, journal_path, read_journal

Refuse = Callable[[str], object]
"""Hears a sentence about a position that cannot be labelled."""


@dataclass(frozen=True, slots=True)
class LabelJob:
    """What to label, and how."""

    variant: str
    engine: str
    sources: tuple[str, ...]
    nodes: int = 500
    lines: int = 2
    positions_per_shard: int = 5_000
    options: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what makes no sense."""
        if self.variant not in _core.variants():
            raise DataError(f"there is no variant {self.variant}")
        for name in ("nodes", "lines", "positions_per_shard"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1")
        if not self.sources:
            raise DataError("there is nothing to label")
        check_options(self.options)


def prepare(job: LabelJob, folder: Path, refuse: Refuse) -> tuple[int, int]:
    """Cut the positions into shards without targets, if that was not done; how many shards and positions."""
    job.check()
    _store(job, folder)
    inner = _inner(folder)
    ready = inner / "ready.json"
    if not ready.exists():
        shutil.rmtree(inner, ignore_errors=True)
        shards = positions = 0
        for table in _cut(_positions(job, refuse), job.positions_per_shard):
            write_table(inner, shards, table, {"variant": job.variant})
            shards += 1
            positions += table.num_rows
        if positions == 0:
            raise DataError(_nothing(job))
        store_document({"shards": shards, "positions": positions}, ready)
    document = json.loads(ready.read_text())
    done = {shard.number for shard in find_shards(folder)}
    for shard in find_shards(inner):
        if shard.number in done:  # interrupted between writing and clearing up
            journal_path(folder, shard.number).unlink(missing_ok=True)
            shard.path.unlink()
    return document["shards"], document["positions"]


def missing_labels(folder: Path) -> list[int]:
    """The shards that are still to be labelled."""
    have = {shard.number for shard in find_shards(folder)}
    return [shard.number for shard in find_shards(_inner(folder)) if shard.number not in have]


def finished_positions(job: LabelJob, folder: Path, missing: list[int], positions: int) -> int:
    """Positions that need not be judged any more."""
    todo = 0
    for shard in find_shards(_inner(folder)):
        if shard.number in missing:
            todo += read_shard(shard).num_rows - len(read_journal(journal_path(folder, shard.number)))
    return positions - todo


def label_shard(
    job: LabelJob, folder: Path, number: int, advance: Advance, patience: float, failures: Failures
) -> None:
    """Label the positions of a shard that its journal lacks, then write it."""
    shard = next(shard for shard in find_shards(_inner(folder)) if shard.number == number)
    rows = read_shard(shard).select(["game", "ply", "fen", "move", "result"]).to_pylist()

    def hire() -> Teacher:
        return Teacher(job.engine, job.variant, {**job.options, "MultiPV": str(job.lines)}, patience)

    def judge(at: int, teacher: Teacher) -> Samples:
        return [_label(job, rows[at], teacher)]

    journal = journal_path(folder, number)
    numbers = range(len(rows))
    done, name = fill_journal(journal, numbers, hire, judge, job.engine, advance, failures)
    if name is None:
        with hire() as teacher:
            name = teacher.name
    source = f"{name} nodes={job.nodes} lines={job.lines}"
    labelled = [{**sample, "source": source} for at in numbers for sample in done[at]]
    notes = {"variant": job.variant, "teacher": name, "job": json.dumps(asdict(job))}
    replace_shard(folder, number, labelled, notes)
    shard.path.unlink()
    journal.unlink()


def _label(job: LabelJob, row: dict[str, Any], teacher: Teacher) -> dict[str, Any]:
    teacher.new_game()
    judgements = teacher.judge(f"fen {row['fen']}", job.nodes)
    moves = [judgement.move for judgement in judgements]
    faults = _core.examine_samples(job.variant, [row["fen"]], [moves])[2]
    if faults[0]:
        raise TeacherError(f"the engine's moves {' '.join(moves)} are not all legal in {row['fen']}")
    scores = [judgement.score for judgement in judgements]
    sample = {**row, "moves": moves, "scores": scores, "score": scores[0]}
    set_targets(job.variant, sample)
    return sample


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


def _store(job: LabelJob, folder: Path) -> None:
    path = folder / JOB
    document = json.loads(json.dumps(asdict(job)))
    if path.exists():
        try:
            is_same = json.loads(path.read_text()) == document
        except ValueError:
            raise DataError(f"{path} does not hold the job of labelling") from None
        if is_same:
            return
        if not clear_failed_job(folder):
            raise DataError(f"{folder} holds another job; go on with its options, or take another folder")
    elif folder.is_dir() and find_shards(folder):
        raise DataError(f"{folder} holds shards of something else; take another folder")
    store_document(document, path)


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
                counts = part.progress.counts
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
                yield _table(rows)
                rows = []
    if rows:
        yield _table(rows)


def _table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pydict({name: [row.get(name) for row in rows] for name in SCHEMA.names}, SCHEMA)


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


@dataclass(frozen=True, slots=True)
class Labelling:
    """The work of a job, for any number of processes."""

    job: LabelJob
    folder: Path
    patience: float = PATIENCE

    def make(self, shard: int, advance: Advance, failures: Failures) -> None:
        """Label a shard."""
        label_shard(self.job, self.folder, shard, advance, self.patience, failures)
