"""Benchmarks: speed and memory as ratios within one run, and the signature of the search.

One file for each section; each returns plain values that can be written as JSON. Nothing is printed here.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Any, NamedTuple

from anabranch.bench.border import measure_border
from anabranch.bench.growth import measure_growth
from anabranch.bench.memory import measure_memory
from anabranch.bench.signature import measure_signature
from anabranch.bench.speed import measure_speed
from anabranch.bench.threads import measure_threads
from anabranch.bench.workload import PRESETS, Announce, Workload
from anabranch.errors import SettingError
from anabranch.jobs.executor import Executor, cores
from anabranch.settings import Settings

SECTIONS = {
    "signature": measure_signature,
    "speed": measure_speed,
    "threads": measure_threads,
    "memory": measure_memory,
    "growth": measure_growth,
    "border": measure_border,
}


class SectionJob(NamedTuple):
    """A section to be measured."""

    section: str
    workload: Workload


def measure_section(job: SectionJob, announce: Announce = lambda words: None) -> tuple[str, Any]:
    """The name and the results of a section."""
    measure = SECTIONS[job.section]
    return job.section, measure(job.workload, lambda words: announce(f"{job.section}: {words}"))


def run_benchmarks(
    only: Iterable[str] = (),
    *,
    quick: bool = False,
    announce: Announce = lambda words: None,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Run all sections, or some by name; their results, with what is needed to repeat them.

    Without an executor they run one after another in this process, where they do not disturb each other.

    >>> run_benchmarks(["signature"], quick=True)["sections"]["signature"]["equal"]
    True
    """
    names = list(dict.fromkeys(only)) or list(SECTIONS)
    for name in names:
        if name not in SECTIONS:
            raise SettingError(f"there is no section {name!r}; the sections are {', '.join(SECTIONS)}")
    from anabranch import __version__

    workload = Workload.quick() if quick else Workload.full()
    jobs = [SectionJob(name, workload) for name in names]
    if executor is None:
        found = dict(measure_section(job, announce) for job in jobs)
    else:
        with closing(executor.run(measure_section, jobs)) as results:
            found = dict(results)
    return {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cores": cores(),
        "plan": asdict(workload),
        "settings": {preset: asdict(Settings.preset(preset)) for preset in PRESETS},
        "sections": {name: found[name] for name in names},
    }


__all__ = ["SECTIONS", "Workload", "run_benchmarks"]
