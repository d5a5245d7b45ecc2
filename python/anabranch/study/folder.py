"""The folder of a study: what was asked for, by which version and when, and everything that was found.

`study.json` says what the rest is. Every match has a folder of its own below `matches`, in the form of
`anabranch.match.results`; measurements are lines of JSON in `measurements.jsonl`, written through one by one.
So whatever ends the process, the same command goes on. A folder that holds another study is refused; one
without a single result is not, because nothing would be lost.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from anabranch import _core
from anabranch.defaults import tuned
from anabranch.errors import StudyError
from anabranch.evaluators.resolve import NETWORK, network_file
from anabranch.jobs.executor import cores
from anabranch.jobs.files import checksum, remove_files, write_json
from anabranch.match.results import (
    GAMES,
    RESULTS,
    SPEC,
    SUMMARY,
    holds_lines,
    read_results,
)
from anabranch.match.standings import Tally
from anabranch.networks.shipped import bundled
from anabranch.settings import Settings
from anabranch.study.plan import GROWS, VARIANTS, Measurement, Plan, Study, StudyMatch

STUDY, MATCHES, MEASUREMENTS = "study.json", "matches", "measurements.jsonl"


@dataclass(frozen=True)
class StudyResults:
    """What a folder holds of a plan."""

    study: Study
    plan: Plan
    tallies: Mapping[str, Tally]
    """By the key of the match; only those that have a game."""
    found: Mapping[str, dict[str, Any]]
    """By the key of the measurement."""

    @cached_property
    def matches(self) -> list[tuple[StudyMatch, Tally]]:
        """The matches that have a game, in the order of the plan."""
        return [(match, self.tallies[match.key]) for match in self.plan.matches if match.key in self.tallies]

    @cached_property
    def measurements(self) -> list[tuple[Measurement, dict[str, Any]]]:
        """The measurements that are done, in the order of the plan."""
        return [(one, self.found[one.key]) for one in self.plan.measurements if one.key in self.found]

    def found_by(
        self, name: str, variant: str | None = None, group: str | None = None
    ) -> list[dict[str, Any]]:
        """What the measurements of a side found, in a variant or a group where one is given."""
        return [
            found
            for one, found in self.measurements
            if one.name == name and variant in (None, one.variant) and group in (None, one.group)
        ]

    def samples(self, name: str, checkpoint: int, variant: str | None = None) -> list[dict[str, Any]]:
        """The state of every search of a side at a checkpoint."""
        found = self.found_by(name, variant)
        return [sample for one in found for sample in one["looks"] if sample["checkpoint"] == checkpoint]

    @property
    def progress(self) -> dict[str, int]:
        """What is done, and what was planned."""
        return {
            "games": sum(tally.standings().games for _, tally in self.matches),
            "games_planned": sum(match.spec.games for match in self.plan.matches),
            "measurements": len(self.measurements),
            "measurements_planned": len(self.plan.measurements),
        }


def match_folder(folder: Path, match: StudyMatch) -> Path:
    """Where the games of a match are."""
    return folder / MATCHES / match.key


def has_results(folder: Path) -> bool:
    """Whether a folder holds a game or a measurement that is whole."""
    return any(map(holds_lines, [folder / MEASUREMENTS, *(folder / MATCHES).rglob(RESULTS)]))


def clear(folder: Path) -> None:
    """Remove what a study without results has left, but for the lock, which the caller holds."""
    for path in sorted((folder / MATCHES).rglob(SPEC)):
        remove_files(path.parent, SPEC, RESULTS, GAMES, SUMMARY, ".lock")
    for path in sorted((folder / MATCHES).rglob("*"), reverse=True):
        if path.is_dir():
            with suppress(OSError):
                path.rmdir()
    if (folder / MATCHES).is_dir():
        remove_files(folder / MATCHES)
    remove_files(folder, STUDY, MEASUREMENTS)


def read_document(folder: Path) -> dict[str, Any]:
    """What stands in `study.json`."""
    path = folder / STUDY
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        Study.from_dict(document)
    except FileNotFoundError:
        raise StudyError(f"{folder} holds no study: there is no {STUDY}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(f"{path} does not describe a study: {error}") from error
    if not isinstance(document, dict):
        raise StudyError(f"{path} does not describe a study")
    return document


def read_results_of(folder: Path, study: Study, plan: Plan) -> StudyResults:
    """All that a folder holds of a plan."""
    tallies = {}
    for match in plan.matches:
        tally = Tally.of(match.spec, read_results(match_folder(folder, match)))
        if tally.standings().games:
            tallies[match.key] = tally
    return StudyResults(study, plan, tallies, _read_lines(folder / MEASUREMENTS)[0])


def _read_lines(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """The measurements of a file, and the bytes of the lines that hold them."""
    found: dict[str, dict[str, Any]] = {}
    good = 0
    if not path.exists():
        return found, good
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            stored = json.loads(line)
            key, values = stored["key"], stored["found"]
            if not line.endswith(b"\n"):
                break
        except (ValueError, TypeError, KeyError):
            if number == len(lines):
                break
            raise StudyError(f"line {number} of {path} is not a measurement") from None
        found.setdefault(key, values)
        good += len(line)
    return found, good


class Measurements:
    """The measurements of a folder, open for more."""

    def __init__(self, file: IO[str], found: dict[str, dict[str, Any]]) -> None:
        self.found = found
        self._file = file

    def add(self, measurement: Measurement, found: dict[str, Any]) -> None:
        """Keep a measurement for good; not if it is there already."""
        if measurement.key in self.found:
            return
        line = {"key": measurement.key, "about": asdict(measurement), "found": found}
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.found[measurement.key] = found


@contextmanager
def open_measurements(folder: Path) -> Iterator[Measurements]:
    """The measurements of a folder, new or to be continued. Whoever opens them holds the folder's lock."""
    path = folder / MEASUREMENTS
    found, good = _read_lines(path)
    with path.open("a", encoding="utf-8") as file:
        os.truncate(path, good)
        yield Measurements(file, found)


def enter(folder: Path, study: Study, plan: Plan, words: str) -> Study:
    """Write down what is asked for, or see that the folder holds the same; what it holds may grow.

    `words` are those of this run, for people. The caller holds the folder's lock.
    """
    wanted = check_folder(folder, study, plan)
    runs: list[dict[str, Any]] = []
    if has_results(folder):
        runs = read_document(folder).get("runs", [])
    else:
        clear(folder)
    write_json(folder / STUDY, {**wanted, "runs": [*runs, {**about_run(), "run": words}]})
    return study


def check_folder(folder: Path, study: Study, plan: Plan) -> dict[str, Any]:
    """Refuse a folder that holds another study; what `study.json` says for this one. Nothing is written."""
    wanted = {**study.to_dict(), **circumstances(study, plan)}
    if (folder / STUDY).exists():
        stored = read_document(folder)
        if has_results(folder):
            _check_same(folder, stored, wanted)
    elif (folder / MATCHES).exists() or (folder / MEASUREMENTS).exists():
        raise StudyError(
            f"{folder} holds results without {STUDY}, so nobody knows of what; take another folder"
        )
    return wanted


EARLIER = {"width_visits": 0}
"""Settings that folders of earlier versions lack, with the value that does what those versions did."""


def _check_same(folder: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, value in json.loads(json.dumps(wanted)).items():
        before = stored.get(name)
        if name == "tuned" and name not in stored:
            continue  # folders of earlier versions lack it
        if name == "presets" and isinstance(before, dict):
            before = {preset: {**EARLIER, **settings} for preset, settings in before.items()}
        if name == "size":
            _check_size(folder, before or {}, value)
        elif before != value:
            raise StudyError(f"{folder} holds another study: its {name} {_change(before, value)}")


def _check_size(folder: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in {**stored, **wanted}:
        before, now = stored.get(name), wanted.get(name)
        if before == now:
            continue
        if name not in GROWS or before is None or now is None:
            raise StudyError(f"{folder} holds a study of another scale: its {name} {_change(before, now)}")
        if now < before:
            raise StudyError(f"{folder} has {before} {name} already, which can become more, not {now}")


def _change(before: Any, now: Any) -> str:
    while isinstance(before, dict) and isinstance(now, dict):
        name = next(key for key in {**before, **now} if before.get(key) != now.get(key))
        before, now = before.get(name), now.get(name)
        if not (isinstance(before, dict) and isinstance(now, dict)):
            return f"({name}) was {_short(before)}, now {_short(now)}; take another folder"
    return f"was {_short(before)}, now {_short(now)}; take another folder"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def circumstances(study: Study, plan: Plan) -> dict[str, Any]:
    """What results rest on besides the study itself: networks, and what the presets stand for, where
    `default` differs by variant.
    """
    networks = {variant: path and checksum(path) for variant in VARIANTS for path in [bundled(variant)]}
    given = network_file(study.settings.get("evaluator", NETWORK))
    if given is not None and given.is_file():
        networks["evaluator"] = checksum(given)
    presets: dict[str, dict[str, Any]] = {}
    used = {player.target for one in plan.matches for player in one.spec.players if player.kind == "preset"}
    used |= {one.about["preset"] for one in plan.measurements}
    for preset in sorted(used):
        presets[preset] = asdict(Settings.preset(preset))
    changes: dict[str, dict[str, Any]] = {}
    for preset in sorted(used):
        for variant in VARIANTS:
            if found := tuned(preset, variant, study.settings.get("evaluator")):
                changes[variant] = found
    return {"networks": networks, "presets": presets, "tuned": changes}


def about_run() -> dict[str, Any]:
    """Who runs it: versions, machine and time."""
    from anabranch import __version__

    return {
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "version": __version__,
        "core": checksum(Path(str(_core.__file__))),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {cores()} cores",
    }
