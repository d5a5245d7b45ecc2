"""The folder of a run: plan, journal, positions of every job, networks of every generation.

The journal says what is done. A file is written before its record, so that a record always has its file; a
file without a record is made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.catalogue import is_grid
from anabranch.errors import SelfPlayError
from anabranch.jobs.folder import FolderKind
from anabranch.jobs.journal import Journal, JournalFormat, has_records
from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.plan import LoopPlan, read_plan
from anabranch.selfplay.records import GridSamples, PlaySamples

DOCUMENT = "selfplay.json"
JOURNAL = "journal.jsonl"
StepKey: TypeAlias = tuple[str, int, str]
"""What was done, in which generation, and its number or name."""
StepRecord: TypeAlias = dict[str, Any]


def _parse(line: Any) -> tuple[StepKey, StepRecord]:
    return (str(line["what"]), int(line["generation"]), str(line["number"])), line["done"]


def _format(key: StepKey, record: StepRecord) -> Any:
    what, generation, number = key
    return {"what": what, "generation": generation, "number": number, "done": record}


FORMAT: JournalFormat[StepKey, StepRecord] = JournalFormat(
    "a record of self-play", _parse, _format, SelfPlayError
)


def _is_document(stored: dict[str, Any]) -> bool:
    read_plan(stored["plan"])
    return True


FOLDER = FolderKind(
    "self-play",
    DOCUMENT,
    has_results=lambda folder: has_records(folder / JOURNAL),
    clear=lambda folder: (folder / JOURNAL).unlink(missing_ok=True),
    is_document=_is_document,
    outputs=(JOURNAL,),
    error=SelfPlayError,
)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run, open for work or for reading."""

    path: Path
    plan: LoopPlan
    journal: Journal[StepKey, StepRecord]

    def positions_file(self, generation: int, number: int) -> Path:
        """Positions of a job."""
        return self.path / "positions" / f"{generation:04d}" / f"{number:04d}.npz"

    def network_folder(self, generation: int) -> Path:
        """Network and weights that were learned after the games of a generation."""
        return self.path / "networks" / f"{generation:04d}"

    def network_file(self, generation: int) -> Path:
        """The network that was learned after the games of a generation."""
        return self.network_folder(generation) / self.plan.network_name

    def records(self, what: str, generation: int | None = None) -> dict[StepKey, StepRecord]:
        """The records of a kind, of one generation or of all."""
        return {
            key: record
            for key, record in self.journal.records.items()
            if key[0] == what and generation in (None, key[1])
        }

    def generations(self, what: str) -> list[int]:
        """The generations that have records of a kind."""
        return sorted({key[1] for key in self.journal.records if key[0] == what})

    def match_folder(self, generation: int, name: str) -> Path:
        """The games of a match of the network of a generation."""
        plain = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name)
        if len(plain) > 60:  # the ends of two long names may be equal
            plain = f"{hashlib.sha256(name.encode()).hexdigest()[:8]}-{plain[-51:]}"
        return self.path / "matches" / f"{generation:04d}" / plain

    def samples(self, generation: int) -> PlaySamples:
        """The positions of a generation, in the order of its jobs."""
        numbers = sorted(int(key[2]) for key in self.records("play", generation))
        kind: type[PlaySamples] = GridSamples if is_grid(self.plan.game) else ChessSamples
        return kind.join([kind.read(self.positions_file(generation, number)) for number in numbers])

    def positions(self, generation: int) -> int:
        """How many positions the games of a generation gave."""
        return sum(record["positions"] for record in self.records("play", generation).values())

    @property
    def best(self) -> int | None:
        """The newest generation whose network passed its gate."""
        passed = [key[1] for key, record in self.records("gate").items() if record["passed"]]
        return max(passed, default=None)

    @property
    def elapsed(self) -> float:
        """Seconds at work so far."""
        return max((record.get("elapsed", 0.0) for record in self.journal.records.values()), default=0.0)


@contextmanager
def open_run(path: Path, plan: LoopPlan) -> Iterator[RunFolder]:
    """Hold the folder of a run, new or to be continued."""
    with FOLDER.open(path, {"plan": plan.as_dict()}), FORMAT.open(path / JOURNAL) as journal:
        yield RunFolder(path, plan, journal)


def read_run(path: Path) -> RunFolder:
    """A run as it is now; another process may be at work in it."""
    plan = read_plan(FOLDER.read(path)["plan"])
    return RunFolder(path, plan, Journal(FORMAT, path / JOURNAL, FORMAT.read(path / JOURNAL)))
