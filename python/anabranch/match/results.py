"""Results of a match on disk: one line of JSON for every finished game, written through at once.

A game is there whole or not at all: whatever ends the process, a line that was cut short is dropped and its
game played again. Its key is the number of its pair and its place there; the first line of a key counts.
Beside the results stands what was asked for, and a folder with another match is refused. A folder without a
single game is nobody's: it refuses nothing, and what fails before the first game takes its files with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from anabranch.errors import MatchError
from anabranch.jobs.files import remove_files, write_atomic
from anabranch.jobs.folder import locked
from anabranch.match.game import GameRecord
from anabranch.match.pgn import pgn_of

RESULTS, SPEC, GAMES, SUMMARY = "results.jsonl", "match.json", "games.pgn", "summary.json"


class Results:
    """The results of a folder, open for more. One process at a time."""

    def __init__(self, folder: Path, file: IO[str], records: dict[tuple[int, int], GameRecord]) -> None:
        self.folder = folder
        self.records = records
        self._file = file

    def add(self, record: GameRecord) -> bool:
        """Keep a game for good; not if it is there already."""
        if record.key in self.records:
            return False
        self._file.write(json.dumps(record.to_dict(), separators=(",", ":")) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record.key] = record
        with (self.folder / GAMES).open("a", encoding="utf-8") as games:
            games.write(pgn_of(record) + "\n")
        return True


@contextmanager
def open_results(folder: Path, spec: Mapping[str, Any]) -> Iterator[Results]:
    """The results in a folder, new or to be continued; refused if they belong to another match."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock"):
        check_folder(folder, spec)
        write_atomic(folder / SPEC, json.dumps(spec, indent=1) + "\n")
        path = folder / RESULTS
        records, good = _read(path)
        try:
            with path.open("a", encoding="utf-8") as file:
                os.truncate(path, good)
                # The games are written anew, because their file may have been cut short anywhere.
                text = "".join(pgn_of(record) + "\n" for record in records.values())
                write_atomic(folder / GAMES, text)
                yield Results(folder, file, records)
        except Exception:
            if not records:
                remove_files(folder, SPEC, RESULTS, GAMES, SUMMARY, ".lock")
            raise


def read_results(folder: Path) -> dict[tuple[int, int], GameRecord]:
    """The finished games of a folder, in the order in which they ended."""
    return _read(folder / RESULTS)[0]


def _read(path: Path) -> tuple[dict[tuple[int, int], GameRecord], int]:
    """The records, and the bytes of the lines that hold them."""
    records: dict[tuple[int, int], GameRecord] = {}
    good = 0
    if not path.exists():
        return records, good
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            record = GameRecord.from_dict(json.loads(line))
            if not line.endswith(b"\n"):
                break
        except (ValueError, TypeError, KeyError):
            if number == len(lines):
                break
            raise MatchError(f"line {number} of {path} is not the record of a game") from None
        records.setdefault(record.key, record)
        good += len(line)
    return records, good


FREE = ("pairs", "anchor")
"""What may differ when a match is continued: it may become longer, and ratings may have another nought."""


def check_folder(folder: Path, spec: Mapping[str, Any]) -> None:
    """Refuse a folder that holds another match. Nothing is written."""
    path = folder / SPEC
    wanted = json.loads(json.dumps(spec))
    has_games = holds_lines(folder / RESULTS)
    if path.exists():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            stored["players"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MatchError(f"{path} does not describe a match: {error}; take another folder") from error
        for name in wanted if has_games else ():
            if name == "networks" and name not in stored:
                continue  # folders of earlier versions lack it
            if name not in FREE and stored.get(name) != wanted[name]:
                before, after = _difference(stored.get(name), wanted[name])
                raise MatchError(
                    f"{folder} holds another match: its {name} {before}, now {after}; take another folder"
                )
    elif has_games:
        raise MatchError(
            f"{folder} holds results without {SPEC}, so nobody knows of what; take another folder"
        )
    elif (folder / GAMES).exists():
        raise MatchError(f"{folder} holds a {GAMES} that is of no match; take another folder")


def holds_lines(path: Path) -> bool:
    """Whether a file has a line that is whole."""
    return path.is_file() and b"\n" in path.read_bytes()


def _difference(stored: Any, wanted: Any) -> tuple[str, str]:
    """The two values, short: where both are objects or lists, the first part in which they differ."""
    name = ""
    while True:
        if isinstance(stored, dict) and isinstance(wanted, dict):
            step: Any = next(key for key in {**stored, **wanted} if stored.get(key) != wanted.get(key))
            stored, wanted = stored.get(step), wanted.get(step)
        elif isinstance(stored, list) and isinstance(wanted, list) and len(stored) == len(wanted):
            step = next(place for place, item in enumerate(stored) if item != wanted[place])
            stored, wanted = stored[step], wanted[step]
        else:
            break
        name += f"{step} " if isinstance(step, str) else f"{step + 1} "
    return f"{name}was {_short(stored)}", f"{name}is {_short(wanted)}".replace(name, "", 1)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
