"""Benchmarks: speed and memory as ratios within one run, and the signature of the search.

One file for each section; each returns plain values that can be written as JSON. Nothing is printed here.
"""

from __future__ import annotations

import platform
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.bench.border import measure_border
from anabranch.bench.growth import measure_growth
from anabranch.bench.memory import measure_memory
from anabranch.bench.network import measure_network
from anabranch.bench.signature import measure_signature
from anabranch.bench.speed import measure_speed
from anabranch.bench.threads import measure_threads
from anabranch.bench.workload import PRESETS, Announce, Workload
from anabranch.defaults import is_in_core
from anabranch.errors import SettingError
from anabranch.evaluators.open import split_runtime
from anabranch.evaluators.resolve import network_file
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSpec:
    """What to measure: sections, or a network."""

    evaluator: str | None = None
    """Measure a network of the core instead: evaluations per second on one core, alone and in the search.
    chess, crazyhouse, or a .safetensors file.
    """
    width: int | None = None
    """Measure networks of random weights, of this width."""
    quick: bool = False
    """Few positions and at most 10,000 simulations: some seconds."""
    only: tuple[str, ...] = ()
    """A section: signature, speed, threads, memory, growth or border; may be repeated."""

    def __post_init__(self) -> None:
        if self.width is not None and not (32 <= self.width <= 4096 and self.width % 32 == 0):
            raise SettingError(f"a width is a multiple of 32 up to 4096, not {self.width}")
        if self.evaluator is not None and self.width is not None:
            raise SettingError("--evaluator names one network, so --width cannot be given")
        if self.is_network and self.only:
            raise SettingError("a network is a measurement of its own, without --only and --ray")
        for name in self.only:
            if name not in SECTIONS:
                raise SettingError(f"there is no section {name!r}; the sections are {', '.join(SECTIONS)}")

    @property
    def is_network(self) -> bool:
        """Whether a network is measured."""
        return self.evaluator is not None or self.width is not None

    @property
    def workload(self) -> Workload:
        """How much is measured."""
        return Workload.quick() if self.quick else Workload()


class SectionJob(NamedTuple):
    """A section to be measured."""

    section: str
    workload: Workload


def measure_section(job: SectionJob, announce: Announce = lambda words: None) -> tuple[str, Any]:
    """The name and the results of a section."""
    measure = SECTIONS[job.section]
    return job.section, measure(job.workload, lambda words: announce(f"{job.section}: {words}"))


def run_benchmarks(
    spec: BenchSpec, announce: Announce = lambda words: None, executor: Executor | None = None
) -> dict[str, Any]:
    """Measure all sections, some by name, or a network; the results, with what is needed to repeat them.

    Without an executor they run one after another in this process, where they do not disturb each other.

    >>> run_benchmarks(BenchSpec(only=("signature",), quick=True))["sections"]["signature"]["equal"]
    True
    """
    workload = spec.workload
    if spec.is_network:
        return {"sections": {"network": measure_network(_file_of(spec), workload, spec.width, announce)}}
    names = list(dict.fromkeys(spec.only)) or list(SECTIONS)
    from anabranch import __version__

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


def _file_of(spec: BenchSpec) -> Path | None:
    if spec.evaluator is None:
        return None
    found = network_file(spec.evaluator)
    if found is None or split_runtime(spec.evaluator)[0] is not None or not is_in_core(spec.evaluator):
        takes = "--evaluator takes a network of the core here, chess, crazyhouse or a .safetensors file"
        raise SettingError(f"{takes}, not {spec.evaluator!r}; 'anabranch network bench' measures others")
    return found
