"""Draws the charts of `anabranch.study.figures` with matplotlib.

The same chart gives the same file, byte for byte. Values with an error of 95 % have error bars; values of the
paper are hollow and dashed.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from anabranch.errors import StudyError
from anabranch.jobs.files import write_atomic
from anabranch.optional import require
from anabranch.study.figures import Chart, Series, in_order

COLORS = ("#2f6db3", "#c8553d", "#4d8f5b", "#8a5aa8", "#b8862b", "#5b7083")
PAPER_COLOR = "#444444"
SMALLEST_RANGE = 1e-9
MOST_MARKS = 8
"""Values on an axis that are labelled one by one."""
FORMATS = ("svg", "png", "pdf")


def draw(chart: Chart, form: str = "svg") -> bytes:
    """The picture of a chart."""
    if form not in FORMATS:
        raise StudyError(f"figures are drawn as {', '.join(FORMATS)}, not as {form}")
    matplotlib = require("matplotlib", "study")
    figures = require("matplotlib.figure", "study")
    fixed = {"svg.hashsalt": f"anabranch {chart.name}", "svg.fonttype": "none", "font.size": 9.0}
    with matplotlib.rc_context(fixed):
        if chart.kind == "bars":
            figure = figures.Figure(
                figsize=(7.2, 1.2 + 0.42 * max(1, len(_names(chart)))), layout="constrained"
            )
            _draw_bars(figure.add_subplot(), chart)
        else:
            figure = figures.Figure(figsize=(7.2, 4.2), layout="constrained")
            _draw_lines(figure.add_subplot(), chart)
        stream = io.BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        figure.savefig(stream, format=form, metadata=metadata, dpi=150)
    return stream.getvalue()


def draw_all(
    charts: tuple[Chart, ...], folder: Path, form: str = "svg", *, experiment: str = "", study: str = ""
) -> list[Path]:
    """Write the picture of every chart that has a point.

    In the names of the files, the name of the study replaces that of its experiment, so that studies of one
    experiment can share a folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for chart in charts:
        if chart.points:
            path = folder / f"{study}{chart.name.removeprefix(experiment)}.{form}"
            write_atomic(path, draw(chart, form))
            written.append(path)
    return written


def embedded(chart: Chart, prefix: str) -> str:
    """The picture as an element of a page. Its ids begin with the prefix, so that a page can hold several."""
    text = draw(chart).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    return re.sub(r"url\(#", f"url(#{prefix}-", text)


def _names(chart: Chart) -> list[str]:
    return in_order(str(point.x) for series in chart.series for point in series.points)


def _draw_bars(axes: Any, chart: Chart) -> None:
    """Horizontal bars, because their names are long; the first is on top."""
    names = _names(chart)
    ours = [series for series in chart.series if series.source == "ours"]
    height = 0.8 / max(1, len(ours))
    for number, series in enumerate(ours):
        for place, name in enumerate(names):
            for point in series.points:
                if str(point.x) == name and point.y is not None:
                    at = place + (number - (len(ours) - 1) / 2.0) * height
                    color = COLORS[number % len(COLORS)]
                    axes.barh(at, point.y, height * 0.92, color=color, alpha=0.75)
                    # A dot at the end, because a bar of 0 is invisible.
                    axes.errorbar(
                        [point.y], [at], xerr=point.error, fmt="o", color="#222222", markersize=3, capsize=2.5
                    )
        axes.barh([0], [0], color=COLORS[number % len(COLORS)], label=series.name)
    for series in chart.series:
        if series.source == "paper":
            _draw_diamonds(axes, series, names)
    axes.use_sticky_edges = False
    axes.margins(x=0.05)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(0.0, color="#222222", linewidth=0.8)
    axes.set_xlabel(chart.y_label)
    _dress(axes, chart, "x")


def _draw_diamonds(axes: Any, series: Series, names: list[str]) -> None:
    places = [names.index(str(point.x)) for point in series.points if point.y is not None]
    values = [point.y for point in series.points if point.y is not None]
    axes.plot(
        values, places, "D", markerfacecolor="white", markeredgecolor=PAPER_COLOR, label=series.name
    )  # fmt: skip


def _draw_lines(axes: Any, chart: Chart) -> None:
    for number, series in enumerate(chart.series):
        points = [point for point in series.points if point.y is not None]
        if not points:
            continue
        is_paper = series.source == "paper"
        errors = [point.error or 0.0 for point in points]
        axes.errorbar(
            [point.x for point in points],
            [point.y for point in points],
            yerr=errors if any(errors) else None,
            marker=None if is_paper else "o",
            markersize=4,
            linestyle="--" if is_paper else "-",
            linewidth=1.2,
            capsize=2.5,
            color=PAPER_COLOR if is_paper else COLORS[number % len(COLORS)],
            label=series.name,
        )
    for level in chart.levels:
        axes.axhline(level.y, color=PAPER_COLOR, linestyle=":", linewidth=1.2, label=level.name)
        if level.error:
            axes.axhspan(
                level.y - level.error, level.y + level.error, color=PAPER_COLOR, alpha=0.1, linewidth=0
            )
    _open_range(axes, chart)
    if chart.log_x:
        axes.set_xscale("log")
        marks = sorted({float(point.x) for series in chart.series for point in series.points})
        if len(marks) <= MOST_MARKS:
            axes.set_xticks(marks, [f"{mark:,.10g}" for mark in marks])
            axes.minorticks_off()
    if chart.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    _dress(axes, chart, "y")


def _open_range(axes: Any, chart: Chart) -> None:
    """Widen the axis where all values are equal."""
    values = [point.y for series in chart.series for point in series.points if point.y is not None]
    values += [level.y for level in chart.levels]
    if values and max(values) - min(values) < SMALLEST_RANGE:
        widest = max([1.0, *(point.error or 0.0 for series in chart.series for point in series.points)])
        axes.set_ylim(min(values) - 1.1 * widest, max(values) + 1.1 * widest)


def _dress(axes: Any, chart: Chart, grid: str) -> None:
    axes.set_title(chart.title, loc="left", fontsize=10)
    axes.grid(axis=grid, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(chart.series) + len(chart.levels) > 1:
        columns = 2 if any(len(series.name) > 20 for series in chart.series) else 3
        axes.figure.legend(loc="outside lower left", ncols=columns, frameon=False, fontsize=8)
