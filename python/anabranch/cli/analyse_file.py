"""`anabranch analyse --file`: search every position of a file, and print a line for each as it is found.

A line that cannot be searched gets one that says so, and the others go on. With `--out` the same command
continues.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from anabranch.cli.output import end_interrupted, notices, plural, print_json_line, show_progress
from anabranch.errors import JobError, SuiteError
from anabranch.formats.epd import PositionLine, is_position_line, read_positions
from anabranch.jobs.lines import appending, last_line
from anabranch.jobs.progress import no_progress
from anabranch.result import Result

if TYPE_CHECKING:
    from anabranch.engine import Engine
    from anabranch.limits import Limits

STDIN = Path("-")


def analyse_file(
    engine: Engine,
    path: Path,
    limits: Limits,
    lines: int,
    document_of: Callable[[Result], dict[str, Any]] | None,
    out: Path | None,
) -> None:
    """Search the positions of a file and write a line for each: JSON by `document_of`, or a row for people.

    The exit code is 1 where a position was refused, and 130 after Ctrl-C.
    """
    common = _plain(
        {
            "limits": asdict(limits),
            "evaluator": Path(str(getattr(engine.evaluator, "path", engine.settings.evaluator))).name,
            "settings": asdict(engine.settings),
        }
    )
    done = 0 if out is None else _count_done(path, out, common)
    total = None if path == STDIN else _count(path)
    refused, shown = 0, done
    target = nullcontext(sys.stdout) if out is None else appending(out)
    is_watched = out is None and sys.stdout.isatty()  # the rows are progress enough
    progress = nullcontext(no_progress) if is_watched else show_progress("positions")
    try:
        with target as file, progress as on_progress:
            for entry, found in _search(engine, path, limits, lines, done):
                refused += isinstance(found, str)
                if document_of is None:
                    print(_row(entry, found), file=file, flush=True)
                else:
                    print_json_line(_document(entry, found, document_of, common), file)
                shown += 1
                on_progress(shown, total, f"{refused} refused" if refused else "")
    except KeyboardInterrupt:
        if out is not None:
            end_interrupted()
        raise typer.Exit(130) from None
    if shown == 0:
        raise SuiteError(f"there is no position in {path}")
    if refused:
        notices().print(f"{plural(refused, 'position')} refused", soft_wrap=True)
        raise typer.Exit(1)


def _search(
    engine: Engine, path: Path, limits: Limits, lines: int, done: int
) -> Iterator[tuple[PositionLine, Result | str]]:
    """The lines of a file after the first `done`, with the result or the reason for a refusal."""
    read: deque[PositionLine] = deque()

    def positions(entries: Iterator[PositionLine]) -> Iterator[str]:
        for entry in entries:
            read.append(entry)
            # What is no position of chess is refused, and the line says why.
            yield entry.text if engine.is_grid else entry.position or ""

    with _opened(path) as file:
        entries = islice(read_positions(file), done, None)
        results = engine.search_many(positions(entries), limits, lines=lines, return_exceptions=True)
        with closing(results):
            for result in results:
                entry = read.popleft()
                error = None if engine.is_grid else entry.error
                yield entry, result if isinstance(result, Result) else error or str(result)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if path == STDIN:
        yield sys.stdin
        return
    try:
        # What is no text is refused with its line.
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            yield file
    except OSError as error:
        raise SuiteError(f"the file {path} cannot be read: {error.strerror}") from error


def _count(path: Path) -> int:
    with _opened(path) as file:
        return sum(map(is_position_line, file))


def _count_done(path: Path, out: Path, common: dict[str, Any]) -> int:
    """How many positions an earlier run of the same command has written."""
    text = last_line(out)
    if text is None:
        return 0
    if path == STDIN:
        raise JobError(f"{out} has lines already, and positions of the standard input cannot be continued")
    try:
        last = json.loads(text)
        number, line, stored = last["line"], last["input"], {name: last[name] for name in common}
    except (ValueError, TypeError, LookupError):
        raise JobError(f"{out} does not hold results of 'analyse --file'; take another file") from None
    stored["settings"] = {**stored["settings"], "threads": common["settings"]["threads"]}  # changes no result
    if stored != common:
        raise JobError(f"{out} holds results of other limits or settings; take another file")
    with _opened(path) as file:
        for count, entry in enumerate(read_positions(file), start=1):
            if (entry.number, entry.text) == (number, line):
                return count
    raise JobError(f"{out} ends with a line that is not in {path}; take another file")


def _document(
    entry: PositionLine,
    found: Result | str,
    document_of: Callable[[Result], dict[str, Any]],
    common: dict[str, Any],
) -> dict[str, Any]:
    head = {"line": entry.number, "id": entry.id, "input": entry.text}
    if isinstance(found, str):
        return {**head, "error": found, **common}
    return {**head, **document_of(found), **common}


def _row(entry: PositionLine, found: Result | str) -> str:
    """One line for people: where it stands in the file, the score, and the first line."""
    name = f"{entry.number:>6}  {entry.id or '':<20.20}"
    if isinstance(found, str):
        return f"{name}  refused: {' '.join(found.split())}"
    line = found.lines[0].san if found.lines else found.best_move
    if found.mate is not None:
        score = f"mate {found.mate}"
    else:
        score = f"{found.value:+.3f}" if found.centipawns is None else f"{found.centipawns:+d}"
    return f"{name}  {score:>8}  {line}"


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """A dictionary as it comes back from a file."""
    plain: dict[str, Any] = json.loads(json.dumps(value))
    return plain
