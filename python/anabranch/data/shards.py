"""Shards: positions with their targets as Parquet files that prove themselves.

The name of a shard carries its number and the beginning of its SHA-256, so writing, checksum and name are one
atomic step, and damage is found without a list that could be lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from anabranch.errors import DataError
from anabranch.jobs.files import write_atomic

VERSION = 1
"""Of the columns below."""

SCHEMA = pa.schema(
    [
        ("game", pa.uint64()),  # a hash of start and moves: the same game has the same number anywhere
        ("ply", pa.uint16()),
        ("fen", pa.string()),
        ("move", pa.string()),  # played (UCI)
        ("moves", pa.list_(pa.string())),  # of the policy target, best first
        ("weights", pa.list_(pa.float32())),  # their weights, sum 1
        ("scores", pa.list_(pa.int16())),  # the teacher's centipawns for them, where there is a teacher
        ("score", pa.int16()),  # of the position for the side to move, where there is a teacher
        ("value", pa.float32()),  # in [-1, 1] for the side to move, where there is a score
        ("result", pa.int8()),  # of the game for the side to move: 1, 0, -1
        ("source", pa.dictionary(pa.int16(), pa.string())),
    ]
)

DICTIONARIES = ["move", "moves.list.element", "source"]
"""Columns with few different texts."""

Rows: TypeAlias = Sequence[Mapping[str, Any]]

_NAME = re.compile(r"(\d{6})-([0-9a-f]{16})\.parquet")


class Shard(NamedTuple):
    """A finished file."""

    number: int
    checksum: str
    path: Path


class Damage(NamedTuple):
    """A file that cannot be used, and why."""

    path: Path
    reason: str


def find_shards(folder: Path) -> list[Shard]:
    """The shards of a folder by their names, in the order of their numbers. Nothing is opened."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder with shards")
    found = []
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match:
            found.append(Shard(int(match[1]), match[2], path))
    return sorted(found)


def find_strays(folder: Path) -> list[Path]:
    """Parquet files of a folder whose names are not those of shards."""
    return sorted(path for path in folder.glob("*.parquet") if not _NAME.fullmatch(path.name))


def table_of(rows: Rows) -> pa.Table:
    """Rows as a table with the columns of a shard."""
    return pa.Table.from_pydict({name: [row.get(name) for row in rows] for name in SCHEMA.names}, SCHEMA)


def write_shard(folder: Path, number: int, rows: Rows, about: Mapping[str, str]) -> Path:
    """Write rows as the shard of that number: beside, then renamed."""
    return write_table(folder, number, table_of(rows), about)


def write_table(folder: Path, number: int, table: pa.Table, about: Mapping[str, str]) -> Path:
    """Write a table with the columns of a shard."""
    notes = {f"anabranch.{name}": text for name, text in {**about, "version": str(VERSION)}.items()}
    table = table.cast(SCHEMA).replace_schema_metadata(notes)
    folder.mkdir(parents=True, exist_ok=True)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True, use_dictionary=DICTIONARIES)
    content = sink.getvalue().to_pybytes()
    path = folder / f"{number:06d}-{hashlib.sha256(content).hexdigest()[:16]}.parquet"
    write_atomic(path, content)
    return path


def replace_shard(folder: Path, number: int, rows: Rows, about: Mapping[str, str]) -> Path:
    """Write rows as the shard of that number; what had the number before goes."""
    path = write_shard(folder, number, rows, about)
    for shard in find_shards(folder):
        if shard.number == number and shard.path != path:
            shard.path.unlink(missing_ok=True)
    return path


def remove_parts(folder: Path) -> None:
    """Remove what interrupted writing left behind. Only for the one process that works in a folder."""
    for path in folder.glob(".*.part"):
        path.unlink(missing_ok=True)


def remove_repeated_games(folder: Path) -> int:
    """Rewrite the shards of a folder that have games of shards before them; how many games went. The outcome
    depends on the shards alone. Only for the one process that works in a folder.
    """
    by_number: dict[int, list[Shard]] = {}
    for shard in find_shards(folder):
        by_number.setdefault(shard.number, []).append(shard)
    seen = Seen()
    removed = 0
    for number in sorted(by_number):
        # Two files with one number: rewriting was interrupted, and the longer is the original.
        games = {shard: _games(shard) for shard in by_number[number]}
        shard = max(games, key=lambda shard: len(games[shard]))
        known = np.unique(games[shard])
        is_new = seen.add(known)
        if is_new.all() and len(games) == 1:
            continue
        try:
            table = read_shard(shard)
        except DataError:
            continue
        kept = table.filter(pa.array(np.isin(games[shard], known[is_new])))
        path = write_table(folder, number, kept, about(table))
        for other in games:
            if other.path != path:
                other.path.unlink()
        removed += int((~is_new).sum())
    return removed


def _games(shard: Shard) -> NDArray[np.uint64]:
    """The games of the rows; none if the shard is damaged."""
    try:
        games: NDArray[np.uint64] = pq.read_table(shard.path, columns=["game"]).column("game").to_numpy()
    except (pa.ArrowException, OSError, KeyError):
        return np.zeros(0, dtype=np.uint64)
    return games


def game_number(variant: str, start: str, moves: Sequence[str]) -> int:
    """The number of a game: the same moves from the same start have the same number anywhere."""
    digest = hashlib.sha256(f"{variant} {start} {' '.join(moves)}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def notes_of(shard: Shard) -> dict[str, str]:
    """The notes of a shard without reading its rows; none if it is damaged."""
    try:
        return _notes(pq.read_schema(shard.path).metadata)
    except (pa.ArrowException, OSError):
        return {}


def read_shard(shard: Shard) -> pa.Table:
    """All of a shard, or a sentence about its damage."""
    try:
        data = shard.path.read_bytes()
    except OSError as error:
        raise DataError(f"{shard.path} cannot be read: {error.strerror}") from error
    if not hashlib.sha256(data).hexdigest().startswith(shard.checksum):
        raise DataError(f"{shard.path} is damaged: its content does not have the checksum of its name")
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{shard.path} is not a Parquet file: {error}") from error
    version = about(table).get("version", "1")
    if version != str(VERSION):
        raise DataError(f"{shard.path} has columns of version {version}, which this program does not know")
    missing = [name for name in SCHEMA.names if name not in table.column_names]
    if missing:
        raise DataError(f"{shard.path} lacks the column {missing[0]}")
    return table.select(SCHEMA.names).cast(SCHEMA.with_metadata(table.schema.metadata))


def about(table: pa.Table) -> dict[str, str]:
    """The notes of a shard: variant, teacher, settings."""
    return _notes(table.schema.metadata)


def _notes(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    return {
        key.decode(errors="replace").removeprefix("anabranch."): value.decode(errors="replace")
        for key, value in (metadata or {}).items()
        if key.startswith(b"anabranch.")
    }


def list_shards(folders: Iterable[Path]) -> list[Shard]:
    """The shards of some folders."""
    return [shard for folder in folders for shard in find_shards(folder)]


def named_shards(paths: Iterable[str]) -> list[Shard]:
    """The shards of a list of paths, as a checkpoint has it."""
    shards = []
    for path in map(Path, paths):
        number, _, checksum = path.stem.partition("-")
        if not path.is_file():
            raise DataError(f"the shard {path}, which the run was trained on, is gone")
        shards.append(Shard(int(number), checksum, path))
    return shards


def read_shards(
    sources: Iterable[Path | Shard],
    variant: str | None = None,
    report: Callable[[Damage], object] | None = None,
) -> Iterator[tuple[Shard, pa.Table]]:
    """Shards, and those of folders, one after the other, no game twice. Those of another variant are refused,
    damaged ones reported and left out.
    """
    seen = Seen()
    for source in sources:
        if report is not None and isinstance(source, Path):
            for path in find_strays(source):
                report(Damage(path, f"{path} is not named like a shard"))
        for shard in find_shards(source) if isinstance(source, Path) else [source]:
            try:
                table = read_shard(shard)
            except DataError as error:
                if report is None:
                    raise
                report(Damage(shard.path, str(error)))
                continue
            has = about(table).get("variant")
            if variant is not None and has != variant:
                raise DataError(f"{shard.path} has positions of {has}, not of {variant}")
            yield shard, new_games(table, seen)


def new_games(table: pa.Table, seen: Seen) -> pa.Table:
    """The rows of games not seen yet, which are seen then."""
    games = table.column("game").to_numpy()
    known = np.unique(games)
    is_new = seen.add(known)
    return table if is_new.all() else table.filter(pa.array(np.isin(games, known[is_new])))


class Seen:
    """Games that were met, eight bytes each."""

    def __init__(self) -> None:
        self._blocks: list[NDArray[np.uint64]] = []  # each sorted, and at least twice as long as the next

    def add(self, games: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of some games are met for the first time.

        >>> seen = Seen()
        >>> seen.add(np.array([7, 8, 7], dtype=np.uint64)).tolist()
        [True, True, False]
        >>> seen.add(np.array([8, 9], dtype=np.uint64)).tolist()
        [False, True]
        """
        is_new = np.zeros(len(games), dtype=bool)
        is_new[np.unique(games, return_index=True)[1]] = True
        for block in self._blocks:
            at = np.minimum(np.searchsorted(block, games), len(block) - 1)
            is_new &= block[at] != games
        if is_new.any():
            self._blocks.append(np.sort(games[is_new]))
        while len(self._blocks) > 1 and len(self._blocks[-2]) < 2 * len(self._blocks[-1]):
            last = self._blocks.pop()
            self._blocks[-1] = np.sort(np.concatenate([self._blocks[-1], last]))
        return is_new


def held_out(games: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Which games belong to the held-out part: a property of the number of a game, so no split is stored.

    >>> held_out(np.arange(5, dtype=np.uint64), 0.5).tolist()
    [True, False, True, False, True]
    """
    mixed = (games * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    return mixed < np.uint64(int(share * 2**32))
