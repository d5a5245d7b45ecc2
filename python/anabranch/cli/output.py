"""How commands print: tables for people, one JSON document for programs, and numbers that read well.

Texts from outside, FENs with their brackets above all, are never taken for markup.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from anabranch.formats.json_lines import dump_line, finite

if TYPE_CHECKING:
    from anabranch.jobs.executor import Executor
    from anabranch.jobs.progress import OnProgress


class _Console(Console):
    """A console that raises an error when its output is closed, instead of leaving."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


PIPE_WIDTH = 120
"""Columns where there is no terminal."""


def output() -> Console:
    """Where results go."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return _Console(width=width, markup=False, highlight=False, emoji=False)


def notices() -> Console:
    """Where progress is shown."""
    return _Console(stderr=True, markup=False, highlight=False, emoji=False)


@contextmanager
def show_progress(unit: str) -> Iterator[OnProgress]:
    """A progress bar on stderr where that is a terminal; elsewhere a line a minute."""
    console = notices()
    columns = (BarColumn(), TextColumn("{task.description}, time left", markup=False), TimeRemainingColumn())
    hidden = not console.is_terminal
    last = time.monotonic()
    with Bar(*columns, console=console, transient=True, redirect_stdout=False, disable=hidden) as bar:
        task = bar.add_task(unit, total=None)

        def update(done: float, total: float | None, words: str) -> None:
            nonlocal last
            text = f"{done:,.0f}{'' if total is None else f' of {total:,.0f}'} {unit}{words and f', {words}'}"
            bar.update(task, description=text, completed=done, total=total)
            if hidden and time.monotonic() - last > 60:
                last = time.monotonic()
                console.print(text, soft_wrap=True)

        yield update


def announce(what: str, seconds: float, jobs: int, executor: Executor, *, is_most: bool) -> None:
    """Say beforehand how long jobs will take that one process would need so many seconds for."""
    from anabranch.jobs.executor import Processes, cores
    from anabranch.match.estimate import in_words

    prefix = "at most " if is_most else ""
    if isinstance(executor, Processes):
        processes = max(1, min(executor.workers, jobs, cores()))
        duration = f"{in_words(seconds / processes)} on {plural(processes, 'core')}"
    else:
        duration = f"{in_words(seconds)} of one core, divided among those of the cluster"
    notices().print(f"{what} to do, {prefix}roughly {duration}", soft_wrap=True)


def end_interrupted() -> NoReturn:
    """End a command after Ctrl-C that can be continued."""
    notices().print("interrupted; the same command continues")
    raise typer.Exit(130)


def print_json(document: object) -> None:
    """Print one JSON document; numbers that JSON cannot represent become null."""
    sys.stdout.write(json.dumps(finite(document), indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def print_json_line(document: object, file: TextIO) -> None:
    """Write one JSON document as a line, at once."""
    file.write(dump_line(document) + "\n")
    file.flush()


def table(title: str | None, columns: Iterable[str], rows: Iterable[Iterable[str | Text]]) -> Table:
    """A plain table; columns whose name begins with '>' are set flush right.

    >>> table(None, ["move", ">visits"], [["e2e4", "12"]]).row_count
    1
    """
    from rich import box

    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        made.add_column(Text(column.removeprefix(">")), justify="right" if right else "left")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return made


def plural(number: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "position"), plural(2500, "position"), plural(0, "game")
    ('1 position', '2,500 positions', '0 games')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
