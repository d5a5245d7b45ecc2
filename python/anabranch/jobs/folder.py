"""Job folders: one job in each, one process at work in each.

A document in the folder describes its job, and a folder that holds another job is refused. A folder without
results is free: it refuses nothing, and a job that fails before its first result removes its files.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from anabranch.errors import AnabranchError, FolderBusyError, JobError
from anabranch.jobs.files import remove_files, write_json

try:
    import fcntl
except ImportError:  # Windows, where two processes in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
Place: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a JSON document: the names and indices that lead to it."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file that no other process holds. The system releases it with the process, however that ends."""
    with path.open("a") as file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderBusyError(f"another process is at work in {path.parent}") from None
        yield


@dataclass(frozen=True, slots=True)
class FolderKind:
    """What the folders of one kind of job have in common."""

    what: str
    """The kind in one word: `match`."""
    document: str
    """The file that describes the job: `match.json`."""
    has_results: Callable[[Path], bool]
    """Whether the folder contains results."""
    clear: Callable[[Path], object]
    """Removes the files of a job without results; the lock stays."""
    is_document: Callable[[dict[str, Any]], object]
    """Whether a document describes a job of this kind; may raise `KeyError`, `TypeError` or `ValueError`."""
    may_differ: Callable[[Place, Any, Any], bool] = lambda place, stored, wanted: False
    """Whether a job can be continued although the value at a place was another one."""
    upgrade: Callable[[dict[str, Any]], dict[str, Any]] = lambda stored: stored
    """Adds to a document of an earlier version what that version lacked."""
    outputs: tuple[str, ...] = ()
    """Files that a job overwrites, so where there is no document they are of something else."""
    error: type[AnabranchError] = JobError

    def read(self, folder: Path) -> dict[str, Any]:
        """The document of a folder."""
        path = folder / self.document
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(stored, dict) or not self.is_document(stored):
                raise ValueError("it is something else")
            stored = _plain(self.upgrade(stored))
        except FileNotFoundError:
            raise self.error(f"{folder} holds no {self.what}: there is no {self.document}") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, AnabranchError) as error:
            reason = f"{path} does not describe a {self.what}: {error}; take another folder"
            raise self.error(reason) from error
        return stored

    def check(self, folder: Path, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Refuse a folder that holds another job; the document of one to be continued. Writes nothing."""
        has_results = self.has_results(folder)
        if (folder / self.document).exists():
            stored = self.read(folder)
            refusal = self._refusal(folder, stored, _plain(wanted))
            if refusal and has_results:
                raise self.error(f"{refusal}; take another folder")
            return {} if refusal else stored
        if has_results:
            raise self.error(
                f"{folder} holds results without {self.document}, which describes them; take another folder"
            )
        for name in self.outputs:
            if (folder / name).exists():
                raise self.error(f"{folder} holds a {name} that is of no {self.what}; take another folder")
        return {}

    def _refusal(self, folder: Path, stored: dict[str, Any], wanted: dict[str, Any]) -> str:
        """In what a stored job differs from the wanted one, as a sentence."""
        for place, before, after in differences({name: stored.get(name) for name in wanted}, wanted):
            if not self.may_differ(place, before, after):
                name = " ".join(step if isinstance(step, str) else str(step + 1) for step in place)
                change = f"was {shortened(before)}, now is {shortened(after)}"
                return f"{folder} holds another {self.what}: its {name} {change}"
        return ""

    @contextmanager
    def open(
        self,
        folder: Path,
        wanted: Mapping[str, Any],
        merge: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] = operator.or_,
    ) -> Iterator[dict[str, Any]]:
        """Hold the folder of a job, new or to be continued; its document, which is stored.

        `merge` makes that document of the stored and the wanted one.
        """
        with locked_folder(folder):
            stored = self.check(folder, wanted)
            with self._cleared_after_failure(folder):
                if not stored and (folder / self.document).exists():
                    self.clear(folder)
                document = merge(stored, _plain(wanted))
                write_json(folder / self.document, document)
                yield document

    @contextmanager
    def _cleared_after_failure(self, folder: Path) -> Iterator[None]:
        try:
            yield
        except Exception:
            if not self.has_results(folder):
                self.clear(folder)
                remove_files(folder, self.document, LOCK)
            raise


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / LOCK):
        yield


def differences(stored: Any, wanted: Any, place: Place = ()) -> Iterator[tuple[Place, Any, Any]]:
    """The values in which two JSON documents differ. Lists of different lengths differ as a whole.

    >>> list(differences({"size": {"pairs": 2}, "seed": 1}, {"size": {"pairs": 3}, "seed": 1}))
    [(('size', 'pairs'), 2, 3)]
    """
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for name in {**stored, **wanted}:
            yield from differences(stored.get(name), wanted.get(name), (*place, name))
    elif isinstance(stored, list) and isinstance(wanted, list) and len(stored) == len(wanted):
        for index, (before, after) in enumerate(zip(stored, wanted, strict=True)):
            yield from differences(before, after, (*place, index))
    elif stored != wanted:
        yield place, stored, wanted


def _plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document as it comes back from a file."""
    plain: dict[str, Any] = json.loads(json.dumps(document))
    return plain


def shortened(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
