"""Files that appear whole or not at all, and checksums of their content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write a file: beside, to the disk, then renamed."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document as `write_atomic` does."""
    write_atomic(path, json.dumps(document, indent=1) + "\n")


@contextmanager
def replacing(
    path: Path, part: Path | None = None, keep: tuple[type[BaseException], ...] = ()
) -> Iterator[Path]:
    """A path beside `path` to write to. It takes the name at the end; after an exception it is removed, but
    for those of `keep`.
    """
    part = part or path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        with part.open("r+b") as file:
            os.fsync(file.fileno())
        part.replace(path)
        _keep_names(path.parent)
    except BaseException as error:
        if not isinstance(error, keep):
            with suppress(OSError):
                part.unlink(missing_ok=True)
        raise


def _keep_names(folder: Path) -> None:
    """Write the names in a folder to the disk, where its file system can: a journal that names a file should
    not outlive it.
    """
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def user_folder(variable: str, otherwise: str) -> Path:
    """The folder of the package below a base folder of the user: that of an XDG variable, or of the home.

    >>> user_folder("XDG_DATA_HOME", ".local/share").name
    'anabranch'
    """
    given = os.environ.get(variable, "")
    return (Path(given) if os.path.isabs(given) else Path.home() / otherwise) / "anabranch"


def checksum(path: Path) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def remove_files(folder: Path, *names: str) -> None:
    """Remove files of a folder, and the folder if it is empty then."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
