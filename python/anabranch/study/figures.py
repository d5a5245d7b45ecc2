"""The tables and charts of a study as plain values.

A cell holds the value, its column holds the format; so the same table is written as JSON, Markdown, HTML and
terminal text. `anabranch.study.draw` draws the charts.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from anabranch.match.statistics import NORMAL_95, Estimate

CellKind = Literal["text", "count", "number", "percent", "estimate", "counts"]
"""The format of a column; an `estimate` is a value with its error."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    key: str
    title: str
    kind: CellKind = "text"


def columns(kind: CellKind, **titles: str) -> tuple[Column, ...]:
    """Neighbouring columns of one kind, by their keys.

    >>> columns("count", games="games")
    (Column(key='games', title='games', kind='count'),)
    """
    return tuple(Column(key, title, kind) for key, title in titles.items())


@dataclass(frozen=True, slots=True)
class Table:
    """Rows by the keys of their columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]

    def cells(self) -> list[list[str]]:
        """All rows as text."""
        return [[text_of(row.get(column.key), column.kind) for column in self.columns] for row in self.rows]

    def to_markdown(self) -> str:
        """The table in Markdown."""
        head = [column.title for column in self.columns]
        marks = [":--" if column.kind == "text" else "--:" for column in self.columns]
        lines = [head, marks, *self.cells()]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )

    def to_html(self) -> str:
        """The table in HTML."""
        kinds = ["text" if column.kind == "text" else "figure" for column in self.columns]
        head = "".join(
            f'<th class="{kind}">{html.escape(column.title)}</th>'
            for kind, column in zip(kinds, self.columns, strict=True)
        )
        body = "\n".join(
            "<tr>"
            + "".join(
                f'<td class="{kind}">{html.escape(cell)}</td>' for kind, cell in zip(kinds, row, strict=True)
            )
            + "</tr>"
            for row in self.cells()
        )
        caption = html.escape(self.title)
        inside = f"<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
        return f"<table>\n{inside}\n</table>"


def text_of(value: Any, kind: CellKind) -> str:
    """A value as text; a missing one is a dash.

    >>> text_of({"value": 40.7, "error": 30.43}, "estimate"), text_of(0.5, "percent"), text_of(None, "text")
    ('+40.7 ± 30.4', '50.0 %', '–')
    >>> text_of(1234567, "count"), text_of([1, 2, 3, 2, 1], "counts"), text_of(0.01234, "number")
    ('1,234,567', '1, 2, 3, 2, 1', '0.01234')
    """
    if value is None:
        return "–"
    match kind:
        case "count":
            return f"{value:,.0f}"
        case "number":
            return f"{value:.4g}"
        case "percent":
            return f"{100.0 * value:.1f} %"
        case "counts":
            return ", ".join(str(number) for number in value)
        case "estimate":
            return _estimate(value)
    return str(value)


def _estimate(value: Mapping[str, float | None]) -> str:
    middle, error = value["value"], value["error"]
    if middle is None:
        return "beyond measure"
    return f"{middle:+.1f}" if error is None else f"{middle:+.1f} ± {error:.1f}"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a chart, with the half width of its interval of 95 %."""

    x: float | str
    y: float | None
    error: float | None = None

    @classmethod
    def of(cls, x: float | str, estimate: Estimate) -> Self:
        """The point of an estimate; an infinite value is not drawn.

        >>> Point.of(800, Estimate(12.0, math.inf))
        Point(x=800, y=12.0, error=None)
        """
        cell = estimate.to_dict()
        return cls(x, cell["value"], cell["error"])


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one line or one colour of bars."""

    name: str
    points: tuple[Point, ...]
    source: Literal["ours", "paper"] = "ours"


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A horizontal line for reference."""

    name: str
    y: float
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars by name, or lines over a number."""

    name: str
    """Of the file, without suffix."""
    title: str
    kind: Literal["bars", "lines"]
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    levels: tuple[ReferenceLine, ...] = ()
    log_x: bool = False
    log_y: bool = False

    @property
    def points(self) -> int:
        """Points that can be drawn."""
        return sum(point.y is not None for series in self.series for point in series.points)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The chart of a stored document."""
        series = tuple(
            Series(one["name"], tuple(Point(**point) for point in one["points"]), one["source"])
            for one in stored["series"]
        )
        return cls(
            **{
                **stored,
                "series": series,
                "levels": tuple(ReferenceLine(**level) for level in stored["levels"]),
            }
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """The tables, charts and notes of a study."""

    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """Sentences about the figures: what the paper reports, what is missing."""

    def to_dict(self) -> dict[str, Any]:
        """In plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The figures of a stored summary."""
        tables = tuple(
            Table(one["title"], tuple(Column(**column) for column in one["columns"]), tuple(one["rows"]))
            for one in stored["tables"]
        )
        return cls(tables, tuple(Chart.from_dict(one) for one in stored["charts"]), tuple(stored["notes"]))


def mean_of(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    """A mean and its error of 95 %, where the numbers allow one.

    >>> mean_of([1.0, 3.0])
    (2.0, 1.95...)
    """
    if not numbers:
        return None, None
    mean = math.fsum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, None
    spread = math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    return mean, NORMAL_95 * math.sqrt(spread / len(numbers))


def in_order(names: Iterable[str]) -> list[str]:
    """Each name once, in the order in which they first came.

    >>> in_order(["b", "a", "b"])
    ['b', 'a']
    """
    return list(dict.fromkeys(names))
