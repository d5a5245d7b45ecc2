"""The folder of a match: its description, one JSON line for every finished game, the games as PGN or as
text, a summary.

The key of a game is the number of its pair and its place in the pair. How folders and journals survive the
end of a process is in `anabranch.jobs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anabranch.errors import MatchError
from anabranch.jobs.files import remove_files
from anabranch.jobs.folder import FolderKind, Place
from anabranch.jobs.journal import JournalFormat, has_records
from anabranch.match.game import GameRecord

RESULTS, SPEC, GAMES, SUMMARY = "results.jsonl", "match.json", "games.pgn", "summary.json"
GAMES_TEXT = "games.txt"
"""The games where they are not of chess."""


def _parse(line: Any) -> tuple[tuple[int, int], GameRecord]:
    record = GameRecord.from_dict(line)
    return record.key, record


def _may_differ(place: Place, stored: Any, wanted: Any) -> bool:
    """A match may become longer, ratings may have another anchor, and earlier versions stored less."""
    is_new = place in (("networks",), ("adjudication", "proofs"))
    return place[0] in ("pairs", "anchor") or (is_new and stored is None)


def _upgrade(stored: dict[str, Any]) -> dict[str, Any]:
    """Earlier versions called the timeout `patience`, and began with the first pair."""
    named = {"timeout" if name == "patience" else name: value for name, value in stored.items()}
    return {"first": 0, **named}


JOURNAL = JournalFormat("the record of a game", _parse, lambda key, record: record.to_dict(), MatchError)
FOLDER = FolderKind(
    "match",
    SPEC,
    has_results=lambda folder: has_records(folder / RESULTS),
    clear=lambda folder: remove_files(folder, RESULTS, GAMES, GAMES_TEXT, SUMMARY),
    is_document=lambda stored: stored["players"],
    may_differ=_may_differ,
    upgrade=_upgrade,
    outputs=(GAMES, GAMES_TEXT),
    error=MatchError,
)


def read_results(folder: Path) -> dict[tuple[int, int], GameRecord]:
    """The finished games of a folder, in the order in which they ended."""
    return JOURNAL.read(folder / RESULTS)
