"""The summary of a study: one small document with its description, runs and figures.

It is made from the folder of a study. Tables, figures and the page are made from the summary, so they can be
made without the games.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from anabranch.errors import StudyError
from anabranch.jobs.files import write_atomic
from anabranch.study.experiments import find_experiment
from anabranch.study.figures import Figures
from anabranch.study.folder import FOLDER
from anabranch.study.plan import EXPERIMENT, Study, StudyMatch
from anabranch.study.run import open_study

FORMAT = 1
ROW = 2
"""How deep a row of a table is: it has numbers, and estimates of two numbers."""


def summarise(folder: Path) -> dict[str, Any]:
    """The summary of a folder."""
    document = FOLDER.read(folder)
    results = open_study(folder)
    experiment = find_experiment(results.study.experiment)
    return {
        "format": FORMAT,
        EXPERIMENT: experiment.name,
        "title": experiment.title,
        "question": experiment.question,
        "of_paper": experiment.of_paper,
        **{name: document[name] for name in ("scale", "size", "settings", "tablebases", "seed")},
        "games": document.get("games") or [],
        "ranges": ranges_of(results.study),
        "matches": {match.key: fingerprint(match) for match, _ in results.matches},
        "networks": document["networks"],
        "presets": _differences(document["presets"]),
        "tuned": document.get("tuned"),
        "progress": results.progress,
        "runs": document["runs"],
        **experiment.show(results).to_dict(),
    }


def ranges_of(study: Study) -> list[list[int]]:
    """The pairs of each match: the first, and the one after the last; empty without matches."""
    return [[study.first_pair, study.first_pair + study.size.pairs]] if study.size.pairs else []


def fingerprint(match: StudyMatch) -> str:
    """A checksum of what decides the games of a match, besides the number of its pairs.

    The place of files is left out: networks have checksums of their own.
    """
    spec = {name: value for name, value in match.spec.to_dict().items() if name not in ("pairs", "first")}
    for player in spec["players"]:
        player["options"] = {
            name: value
            for name, value in player["options"].items()
            if name not in ("evaluator", "tablebases")
        }
    spec["adjudication"] = {**spec["adjudication"], "tablebases": bool(spec["adjudication"]["tablebases"])}
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def _differences(presets: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The settings of each preset that differ from the defaults."""
    from dataclasses import asdict

    from anabranch.settings import Settings

    defaults = asdict(Settings())
    return {
        name: {setting: value for setting, value in values.items() if defaults.get(setting) != value}
        for name, values in presets.items()
    }


def read_summary(path: Path) -> dict[str, Any]:
    """The summary of a folder, or of a file."""
    if path.is_dir():
        return summarise(path)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        figures_of(document)
    except FileNotFoundError:
        raise StudyError(f"there is no folder or file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(f"{path} does not hold the summary of a study: {error}") from error
    if document.get("format") != FORMAT:
        raise StudyError(f"{path} has the format {document.get('format')}, and this version reads {FORMAT}")
    return dict(document)


def figures_of(summary: dict[str, Any]) -> Figures:
    """The tables and charts of a summary."""
    return Figures.from_dict(summary)


def write_summary(summary: dict[str, Any], path: Path) -> None:
    """Write a summary; rows and points are a line each, so that a diff can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, _lines(summary, 0) + "\n")


def _lines(value: Any, depth: int) -> str:
    """JSON, with short values and the rows of lists on one line."""
    flat = _flat(value)
    if len(flat) + depth <= 110 or not isinstance(value, dict | list | tuple):
        return flat
    indent = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_lines(item, depth + 1)}" for name, item in value.items()]
        return "{\n" + ",\n".join(indent + part for part in parts) + "\n" + " " * depth + "}"
    parts = [_flat(item) if _nesting(item) <= ROW else _lines(item, depth + 1) for item in value]
    return "[\n" + ",\n".join(indent + part for part in parts) + "\n" + " " * depth + "]"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _nesting(value: Any) -> int:
    """How deep containers lie in each other.

    >>> _nesting(1), _nesting({"elo": {"value": 1.0}})
    (0, 2)
    """
    if not isinstance(value, dict | list | tuple):
        return 0
    parts = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_nesting, parts), default=0)


def to_markdown(summary: dict[str, Any]) -> str:
    """The tables of a study as Markdown."""
    figures = figures_of(summary)
    parts = [f"## {summary['title']}", summary["question"], status_of(summary)]
    for table in figures.tables:
        parts += [f"**{table.title}**", table.to_markdown()]
    return "\n\n".join([*parts, *figures.notes]) + "\n"


def status_of(summary: dict[str, Any]) -> str:
    """The progress of a study, in a sentence."""
    progress = summary["progress"]
    done = []
    for thing in ("games", "measurements"):
        if progress[f"{thing}_planned"]:
            done.append(f"{progress[thing]:,} of {progress[f'{thing}_planned']:,} {thing}")
    size = ", ".join(f"{name.replace('_', ' ')} {_figures(value)}" for name, value in summary["size"].items())
    return f"Scale {summary['scale']} ({size}): {' and '.join(done)}."


def _figures(value: float | list[float]) -> str:
    """Numbers with their thousands apart.

    >>> _figures([800, 1600]), _figures([0.05])
    ('800 1,600', '0.05')
    """
    return " ".join(f"{one:,}" for one in (value if isinstance(value, list) else [value]))
