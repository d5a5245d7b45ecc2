"""Games from PGN files as shards: the move played is the policy, the result and scores in comments the value.

The core reads the games; this takes the text there and the columns to shards. The notes of a shard hold how
far the reading had come, so the folder is the state: what was interrupted goes on after its last shard.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from anabranch import _core
from anabranch.data.folder import DATA
from anabranch.data.jobs import PgnJob
from anabranch.data.shards import SCHEMA, Seen, find_shards, notes_of, read_shard, remove_parts, write_table
from anabranch.data.text import Piece, read_pieces
from anabranch.errors import DataError, VariantError
from anabranch.formats.scores import result_scale
from anabranch.jobs.progress import OnProgress, no_progress

OMITTED = {
    "variant": "another variant",
    "unfinished": "no result",
    "rating": "rating",
    "time": "time control",
    "bots": "bots",
    "abandoned": "abandoned",
    "short": "too short",
    "unevaluated": "not evaluated",
    "illegal": "illegal moves",
    "unreadable": "unreadable",
    "twice": "twice",
}
"""Why games are left out, in words."""
_VARIANT_TAG = re.compile(rb'^\s*\[\s*Variant\s+"([^"\n]*)"', re.MULTILINE)
_POCKET = re.compile(rb"(?:[1-8pnbrqk~]+/){7}[1-8pnbrqk~]+(?:\[[a-z-]*\]|/[a-z-]*) [wb] ", re.IGNORECASE)


class Cursor(NamedTuple):
    """How far the reading has come."""

    file: int = 0
    offset: int = 0
    """In the text of the file, in bytes."""
    counts: dict[str, int] = {}  # noqa: RUF012


class PgnReading(NamedTuple):
    """What was read so far."""

    file: int
    consumed: int
    """Bytes of that file."""
    positions: int
    counts: dict[str, int]


class Part(NamedTuple):
    """The samples of some games."""

    table: pa.Table
    cursor: Cursor
    """Where to go on after it."""
    reading: PgnReading


def read_tables(
    job: PgnJob, files: Sequence[Path], seen: Seen, cursor: Cursor, threads: int = 1, positions: int = 0
) -> Iterator[Part]:
    """The samples of some games after the other, no game twice."""
    counts = Counter(cursor.counts)
    for number in range(cursor.file, len(files)):
        begin = cursor.offset if number == cursor.file else 0
        source = files[number].name if str(files[number]) != "-" else "stdin"
        for piece, columns in _read_columns(job, read_pieces(files[number], begin), threads):
            table, kept, twice = _take(job, columns, source, seen, counts["kept"])
            before = dict(counts)
            counts.update(columns["counts"])
            counts.update(kept=kept, twice=twice)
            positions += table.num_rows
            reading = PgnReading(number, piece.consumed, positions, dict(counts))
            if job.max_games is not None and counts["kept"] >= job.max_games:
                # Games of this piece may be left: for more it is read again, and these are met twice.
                again = Counter(before)
                again.update(kept=kept, twice=-kept)
                yield Part(table, Cursor(number, piece.end - len(piece.text), dict(again)), reading)
                return
            yield Part(table, Cursor(number, piece.end, dict(counts)), reading)


def omissions(counts: Mapping[str, int]) -> str:
    """How many games were left out, and why.

    >>> omissions({"games": 9, "kept": 6, "variant": 2, "twice": 1})
    'another variant 2, twice 1'
    """
    return ", ".join(f"{words} {counts[name]:,}" for name, words in OMITTED.items() if counts.get(name))


def other_variant(paths: Iterable[Path], variant: str) -> str | None:
    """The variant that files seem to be of, by the tags and positions at their beginning, if it is another
    one.
    """
    found: Counter[str] = Counter()
    for path in paths:
        if str(path) == "-" or not path.is_file():
            continue
        text = next((piece.text for piece in read_pieces(path)), b"")
        for tag, count in Counter(_VARIANT_TAG.findall(text)).items():
            try:
                name, is_960 = _core.Session(tag.decode(errors="replace"), False, {}, False).variant()
            except VariantError:
                continue
            found["chess960" if is_960 else name] += count
        if not found and _POCKET.search(text):
            found["crazyhouse"] += 1
    del found[variant]
    return found.most_common(1)[0][0] if found else None


def _read_columns(
    job: PgnJob, pieces: Iterator[Piece], threads: int
) -> Iterator[tuple[Piece, dict[str, Any]]]:
    """The columns of pieces in their order, read by several threads: the core lets go of the interpreter."""
    given: deque[tuple[Piece, Future[dict[str, Any]]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in pieces:
                given.append((piece, pool.submit(_core.read_pgn, piece.text, **job.filter())))
                if len(given) > threads:
                    first, future = given.popleft()
                    yield first, future.result()
            while given:
                first, future = given.popleft()
                yield first, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _take(
    job: PgnJob, columns: dict[str, Any], source: str, seen: Seen, have: int
) -> tuple[pa.Table, int, int]:
    """The table of the games that are new; how many those are, and how many are not."""
    games, ply = columns["game"], columns["ply"]
    count = len(games)
    is_first = np.ones(count, dtype=bool)
    is_first[1:] = (games[1:] != games[:-1]) | (ply[1:] <= ply[:-1])
    starts = np.flatnonzero(is_first)
    is_new = seen.add(games[starts])
    kept = int(is_new.sum())
    twice = len(starts) - kept
    if job.max_games is not None and have + kept > job.max_games:
        is_new &= np.cumsum(is_new) <= job.max_games - have
        kept = job.max_games - have
    table = _table(columns, source, result_scale(job.variant))
    if kept < len(starts):
        rows = np.repeat(is_new, np.diff(np.append(starts, count)))
        table = table.filter(pa.array(rows))
    return table, kept, twice


def _table(columns: dict[str, Any], source: str, scale: float) -> pa.Table:
    count = len(columns["game"])
    each = pa.array(np.arange(count + 1, dtype=np.int32))
    moves = _texts(count, columns["move_offsets"], columns["moves"])
    unknown = ~columns["has_score"]
    value = np.tanh(columns["score"] / np.float32(2.0 * scale), dtype=np.float32)
    arrays = {
        "game": pa.array(columns["game"]),
        "ply": pa.array(columns["ply"]),
        "fen": _texts(count, columns["fen_offsets"], columns["fens"]),
        "move": moves,
        "moves": pa.ListArray.from_arrays(each, moves),
        "weights": pa.ListArray.from_arrays(each, pa.array(np.ones(count, dtype=np.float32))),
        "scores": pa.nulls(count, SCHEMA.field("scores").type),
        "score": pa.array(columns["score"], mask=unknown),
        "value": pa.array(value, mask=unknown),
        "result": pa.array(columns["result"], mask=~columns["has_result"]),
        "source": pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int16)), [source]),
    }
    return pa.table(arrays, SCHEMA)


def _texts(count: int, offsets: Any, letters: Any) -> pa.Array:
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(letters))


def import_pgn(
    job: PgnJob,
    files: Sequence[Path],
    folder: Path,
    progress: OnProgress = no_progress,
    threads: int = 1,
) -> PgnReading:
    """Read games into a folder, from where an earlier reading was interrupted."""
    job.check()
    for path in files:
        if str(path) != "-" and not path.is_file():
            raise DataError(f"there is no file {path}")
    sizes = [[path.name, path.stat().st_size if path.is_file() else None] for path in files]
    with IMPORTED.open(folder, {**asdict(job), "files": sizes}):
        return _import(job, files, folder, progress, threads)


def _import(
    job: PgnJob, files: Sequence[Path], folder: Path, progress: OnProgress, threads: int
) -> PgnReading:
    remove_parts(folder)
    seen = Seen()
    cursor = Cursor()
    number = positions = 0
    for shard in find_shards(folder):
        if shard.number != number:
            raise DataError(
                f"{folder} lacks shard {number}; delete those after it too, and they are read again"
            )
        number += 1
        cursor = Cursor(*json.loads(notes_of(shard).get("cursor", "[]")))
        games = read_shard(shard).column("game").to_numpy()
        seen.add(np.unique(games))
        positions += len(games)
    reading = PgnReading(cursor.file, 0, positions, cursor.counts)
    sizes = [path.stat().st_size / 1e6 if path.is_file() else 0.0 for path in files]
    began = time.monotonic()
    tables: list[pa.Table] = []
    if job.max_games is None or cursor.counts.get("kept", 0) < job.max_games:
        for table, reached, reading in read_tables(job, files, seen, cursor, threads, positions):
            cursor = reached
            tables.append(table)
            if sum(part.num_rows for part in tables) >= job.positions_per_shard:
                _write(job, folder, number, tables, cursor)
                number += 1
                tables = []
            count = reading.counts.get("games", 0)
            rate = count / max(time.monotonic() - began, 1e-9)
            words = f"{count:,} games, {reading.positions:,} positions, {rate:,.0f} games/s"
            progress(sum(sizes[: reading.file]) + reading.consumed / 1e6, sum(sizes) or None, words)
    if any(table.num_rows for table in tables):
        _write(job, folder, number, tables, cursor)
    return reading


def _write(job: PgnJob, folder: Path, number: int, tables: list[pa.Table], cursor: Cursor) -> None:
    notes = {"variant": job.variant, "job": json.dumps(asdict(job)), "cursor": json.dumps(cursor)}
    write_table(folder, number, pa.concat_tables(tables), notes)


IMPORTED = replace(
    DATA,
    may_differ=lambda place, stored, wanted: (
        place == ("max_games",) or (place == ("files",) and wanted[: len(stored or ())] == stored)
    ),
)
"""More or fewer games may be wanted, or more files."""
