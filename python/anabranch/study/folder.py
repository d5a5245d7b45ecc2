"""The folder of a study: its description, its runs, and all results.

`study.json` describes it. Every match has a folder below `matches`, as in `anabranch.match.results`;
measurements are JSON lines in `measurements.jsonl`. How folders and journals survive the end of a process is
in `anabranch.jobs`.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.defaults import tuned
from anabranch.errors import StudyError
from anabranch.evaluators.resolve import NETWORK, network_file
from anabranch.jobs.executor import cores
from anabranch.jobs.files import checksum, remove_files
from anabranch.jobs.folder import LOCK, FolderKind, Place
from anabranch.jobs.journal import JournalFormat, has_records
from anabranch.match import results as match_results
from anabranch.match.results import RESULTS, SPEC, read_results
from anabranch.match.standings import Tally
from anabranch.networks.shipped import bundled
from anabranch.settings import Settings
from anabranch.study.figures import in_order
from anabranch.study.plan import GROWS, VARIANTS, Measurement, Plan, Study, StudyMatch

STUDY, MATCHES, MEASUREMENTS = "study.json", "matches", "measurements.jsonl"


@dataclass(frozen=True)
class StudyResults:
    """The results of a plan."""

    study: Study
    plan: Plan
    tallies: Mapping[str, Tally]
    """By the key of the match; only those that have a game."""
    found: Mapping[str, dict[str, Any]]
    """By the key of the measurement."""

    @cached_property
    def variants(self) -> list[str]:
        """The variants and games of the plan, in its order."""
        return self.plan.variants

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
    """The folder of a match."""
    return folder / MATCHES / match.key


def has_results(folder: Path) -> bool:
    """Whether a folder holds a complete game or measurement."""
    return any(map(has_records, [folder / MEASUREMENTS, *(folder / MATCHES).rglob(RESULTS)]))


def _clear(folder: Path) -> None:
    """Remove what a study without results has left."""
    for path in sorted((folder / MATCHES).rglob(SPEC)):
        match_results.FOLDER.clear(path.parent)
        remove_files(path.parent, SPEC, LOCK)
    for path in sorted((folder / MATCHES).rglob("*"), reverse=True):
        if path.is_dir():
            remove_files(path)
    if (folder / MATCHES).is_dir():
        remove_files(folder / MATCHES)
    remove_files(folder, MEASUREMENTS)


EARLIER = {"width_visits": 0, "width_linear": 0, "wave_least": 0, "mate_root": 0.0}
"""Settings that folders of earlier versions lack, with the value that does what those versions did."""


def _upgrade(stored: dict[str, Any]) -> dict[str, Any]:
    presets = {name: {**EARLIER, **settings} for name, settings in stored["presets"].items()}
    size = dict(stored["size"])
    if isinstance(size.get("reference_nodes"), int):  # one number in earlier versions
        size["reference_nodes"] = [size["reference_nodes"]]
    return {"first_pair": 0, **stored, "presets": presets, "size": size}


def _may_differ(place: Place, stored: Any, wanted: Any) -> bool:
    """A study may grow, and earlier versions stored no `tuned` and no `games`."""
    if place in (("tuned",), ("games",)):
        return stored is None and (place == ("tuned",) or not wanted)
    may_grow = place[0] == "size" and place[-1] in GROWS
    return may_grow and None not in (stored, wanted) and bool(wanted >= stored)


FOLDER = FolderKind(
    "study",
    STUDY,
    has_results,
    _clear,
    is_document=Study.from_dict,
    may_differ=_may_differ,
    upgrade=_upgrade,
    outputs=(MATCHES, MEASUREMENTS),
    error=StudyError,
)
JOURNAL = JournalFormat(
    "a measurement",
    lambda line: (line["key"], {"about": line["about"], "found": line["found"]}),
    lambda key, record: {"key": key, **record},
    StudyError,
)


def read_results_of(folder: Path, study: Study, plan: Plan) -> StudyResults:
    """All results of a plan in a folder."""
    tallies = {}
    for match in plan.matches:
        tally = Tally.of(match.spec, read_results(match_folder(folder, match)))
        if tally.standings().games:
            tallies[match.key] = tally
    found = {key: record["found"] for key, record in JOURNAL.read(folder / MEASUREMENTS).items()}
    return StudyResults(study, plan, tallies, found)


def describe(study: Study, plan: Plan) -> dict[str, Any]:
    """What identifies a study: its description, and what its results depend on besides."""
    return {**study.to_dict(), **circumstances(study, plan)}


def add_run(words: str) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    """Merges the stored and the wanted document of a study, with one more run."""
    return lambda stored, wanted: {
        **wanted,
        "runs": [*stored.get("runs", []), {**about_run(), "run": words}],
    }


def circumstances(study: Study, plan: Plan) -> dict[str, Any]:
    """What results depend on besides the study: networks, and the settings of presets and variants."""
    variants = VARIANTS if set(VARIANTS) & set(plan.variants) else ()
    networks = {variant: path and checksum(path) for variant in variants for path in [bundled(variant)]}
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
        for variant in in_order((*variants, *plan.variants)):
            if found := tuned(preset, variant, study.settings.get("evaluator")):
                changes.setdefault(variant, {}).update(found)
    return {"networks": networks, "presets": presets, "tuned": changes}


def about_run() -> dict[str, Any]:
    """Versions, machine and time of this run."""
    from anabranch import __version__

    return {
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "version": __version__,
        "core": checksum(Path(str(_core.__file__))),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {cores()} cores",
    }
