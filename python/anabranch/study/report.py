"""The report: one self-contained HTML page with figures, tables, settings and errors."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from anabranch.study.draw import embedded
from anabranch.study.plan import EXPERIMENT
from anabranch.study.summary import figures_of, status_of

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff; max-width: 78rem;
  margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccd3da; padding-top: 1.5rem; }
nav ul { padding-left: 1.2rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.3rem; }
th, td { padding: 0.2rem 0.5rem; white-space: nowrap; border-bottom: 1px solid #e3e7eb; vertical-align: top; }
th { border-bottom: 2px solid #9aa5b1; text-align: left; }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f4f6f8; padding: 0.8rem; overflow-x: auto; font-size: 0.8rem; }
.note { color: #46525e; font-size: 0.92rem; }
"""
ERRORS = (
    "Every ± is the half width of an interval of 95 %. Elo comes from pairs of games with colours reversed; "
    "its error is that of the mean score of pairs. Two results whose intervals overlap do not show which is "
    "better; a difference below 15 Elo needs thousands of pairs. LOS is the likelihood that the first "
    "player is the stronger one. Errors of measurements are over positions."
)


def build_report(summaries: Sequence[dict[str, Any]], title: str = "The study") -> str:
    """The page of some studies."""
    contents = "\n".join(
        f'<li><a href="#study-{number}">{html.escape(summary["title"])}</a> '
        f"({html.escape(summary[EXPERIMENT])}, {html.escape(summary['scale'])})</li>"
        for number, summary in enumerate(summaries)
    )
    sections = "\n".join(_section(number, summary) for number, summary in enumerate(summaries))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Anabranch: {html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>Anabranch: {html.escape(title)}</h1>
<p>The experiments of “Monte-Carlo Graph Search for AlphaZero” and some of ours, played and measured anew.</p>
<p class="note">{ERRORS}</p>
<nav><ul>
{contents}
</ul></nav>
{sections}
</body>
</html>
"""


def _section(number: int, summary: dict[str, Any]) -> str:
    figures = figures_of(summary)
    parts = [
        f'<section id="study-{number}">',
        f"<h2>{html.escape(summary['title'])}</h2>",
        f"<p>{html.escape(summary['question'])}</p>",
        f'<p class="note">{html.escape(status_of(summary))}</p>',
    ]
    for place, chart in enumerate(figures.charts):
        if chart.points:
            picture = embedded(chart, f"study-{number}-{place}")
            parts.append(
                f'<figure role="img" aria-label="{html.escape(chart.title, quote=True)}">{picture}</figure>'
            )
        else:
            parts.append(f'<p class="note">{html.escape(chart.title)}: nothing to draw yet.</p>')
    parts += [f'<div class="wide">{table.to_html()}</div>' for table in figures.tables]
    parts += [f'<p class="note">{html.escape(note)}</p>' for note in figures.notes]
    parts += [_runs(summary["runs"]), _settings(summary), "</section>"]
    return "\n".join(parts)


def _runs(runs: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for run in runs for name in run))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(str(run.get(name, '')))}</td>" for name in names) + "</tr>"
        for run in runs
    )
    return (
        '<details><summary>What was run when, and by which version</summary><div class="wide">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _settings(summary: dict[str, Any]) -> str:
    names = ("size", "settings", "seed", "tablebases", "networks", "presets", "tuned")
    text = json.dumps({name: summary.get(name) for name in names}, indent=1)
    return (
        "<details><summary>Settings, seeds, networks; presets by what differs from the defaults</summary>"
        f"<pre>{html.escape(text)}</pre></details>"
    )
