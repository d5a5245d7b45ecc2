"""Syzygy tablebases: where they lie, how they are opened, how the small ones are fetched.

The core reads and probes the files, and reports what is wrong with them. This file knows paths and the
package index, and nothing of chess.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from pathlib import Path, PurePosixPath

from anabranch import _core
from anabranch.errors import SettingError, TablebaseError
from anabranch.jobs.files import user_folder, write_atomic

TablebasePaths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A directory, several in a sequence, or several in a text with the separator of PATH."""

PACKAGE = "chess==1.11.2"
"""The source package on PyPI that carries the tables of three and four men."""
PACKAGE_HASH = "sha256:a8b43e5678fdb3000695bdaa573117ad683761e5ca38e591c4826eba6d25bb39"
FOLDER = "data/syzygy/regular"
SUFFIXES = (".rtbw", ".rtbz")


def default_directory() -> Path:
    """Where the tables of this user lie: below XDG_DATA_HOME, or ~/.local/share without it.

    >>> default_directory().parts[-2:]
    ('anabranch', 'syzygy')
    """
    return user_folder("XDG_DATA_HOME", ".local/share") / "syzygy"


def read_paths(paths: object) -> list[str]:
    """The directories of a search path, one by one.

    >>> read_paths(os.pathsep.join(["tables/3-4", "", "tables/5"]))
    ['tables/3-4', 'tables/5']
    >>> read_paths([Path("one"), "two"])
    ['one', 'two']
    """
    if isinstance(paths, str):
        return [part for part in paths.split(os.pathsep) if part.strip()]
    if isinstance(paths, os.PathLike):
        return [os.fsdecode(paths)]
    if isinstance(paths, Sequence) and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return [os.fsdecode(path) for path in paths]
    raise SettingError(f"tablebases are given as directories, not as {type(paths).__name__}")


def open_tablebases(paths: TablebasePaths, *, whole: bool = False) -> _core.Tablebases:
    """Open the tables of directories. What cannot be used is skipped, and named in `problems`.

    `whole` checks every byte of large tables too; small ones are always checked.

    >>> tables = open_tablebases("no/such/directory")
    >>> tables.men, tables.problems
    (0, ['The directory no/such/directory cannot be read: ...'])
    """
    return _core.Tablebases(read_paths(paths), whole)


def small_tables() -> list[str]:
    """The names of the files of all endings with three and four men.

    >>> names = small_tables()
    >>> len(names), names[:2]
    (70, ['KQvK.rtbw', 'KQvK.rtbz'])
    """
    pieces = "QRBNP"
    endings = [f"K{piece}vK" for piece in pieces]
    pairs = list(combinations_with_replacement(pieces, 2))
    endings += [f"K{one}{other}vK" for one, other in pairs]
    endings += [f"K{one}vK{other}" for one, other in pairs]
    return [ending + suffix for ending in endings for suffix in SUFFIXES]


def fetch(to: str | os.PathLike[str] | None = None, archive: str | os.PathLike[str] | None = None) -> int:
    """Get the tables of three and four men; the number of files that were not there before.

    They come out of the source package of `chess` on PyPI, which pip downloads, or out of `archive`, which is
    that package. Every table is checked before it takes its place, and what is sound already stays, so that a
    fetch that was interrupted can be repeated.
    """
    directory = default_directory() if to is None else Path(to)
    directory.mkdir(parents=True, exist_ok=True)
    sound = {Path(file).name for file in _core.Tablebases([directory], True).files}
    wanted = [name for name in small_tables() if name not in sound]
    if not wanted:
        return 0
    # Beside the place where they go, so that renaming is all that is left to do.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as folder:
        beside = Path(folder)
        unpack(_download(beside) if archive is None else Path(archive), beside)
        for name in wanted:
            if (directory / name).is_dir():
                raise TablebaseError(f"{directory / name} is a directory, and a table should go there")
            write_atomic(directory / name, (beside / name).read_bytes())
    return len(wanted)


def _download(folder: Path) -> Path:
    """The source package, as pip gets it. Its hash is checked before anything is done with it."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE} --hash={PACKAGE_HASH}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    command += ["--no-binary", "chess", "--require-hashes", "--dest", str(folder), "-r", str(requirements)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    archives = list(folder.glob("chess-*.tar.gz"))
    if done.returncode != 0 or not archives:
        reasons = [line for line in done.stderr.splitlines() if line.strip()]
        reason = reasons[-1].strip().removeprefix("ERROR: ") if reasons else "there was no message"
        raise TablebaseError(f"pip could not download the source package {PACKAGE}: {reason}")
    return archives[0]


def unpack(archive: Path, folder: Path) -> None:
    """Take the small tables out of the source package, and check all of them."""
    try:
        with tarfile.open(archive, "r:gz") as package:
            for member, name in _tables_of(package):
                content = package.extractfile(member)
                if content is not None:
                    (folder / name).write_bytes(content.read())
    except (tarfile.TarError, EOFError, OSError) as error:
        raise TablebaseError(f"the archive {archive} cannot be unpacked: {error}") from error
    tables = _core.Tablebases([folder], True)
    if tables.problems:
        raise TablebaseError(f"the archive {archive} has damaged tables: {tables.problems[0]}")
    missing = sorted(set(small_tables()) - {Path(file).name for file in tables.files})
    if missing:
        raise TablebaseError(f"the archive {archive} lacks {len(missing)} tables, {missing[0]} for one")


def _tables_of(package: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, str]]:
    """The members that are wanted: nothing else of the package is written, and only under these names."""
    names = set(small_tables())
    for member in package:
        path = PurePosixPath(member.name)
        if member.isfile() and path.name in names and str(path.parent).endswith(FOLDER):
            yield member, path.name
