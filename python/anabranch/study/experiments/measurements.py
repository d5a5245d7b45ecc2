"""What experiments of measurements share: one measurement of each side on each position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from anabranch.errors import StudyError
from anabranch.study.experiments.matches import Side
from anabranch.study.plan import VARIANTS, Measurement, Plan, Study

FILES = Path(__file__).parent.parent / "files"
"""The positions that come with the package."""


def read_positions(experiment: str, variant: str, name: str) -> str:
    """The text of a file of positions; refused where the package has none for the variant."""
    path = FILES / name
    if not path.is_file():
        raise StudyError(f"the experiment {experiment} has no positions of {variant}")
    return path.read_text(encoding="utf-8")


def plan_sides(*arguments: Any, **about: Any) -> Plan:
    """A plan of the measurements of `measure_sides`, which takes these arguments."""
    return Plan(measurements=tuple(measure_sides(*arguments, **about)))


def measure_sides(
    study: Study,
    kind: str,
    sides: Iterable[Side],
    positions: Callable[[str], Sequence[dict[str, Any]]],
    group: str = "",
    *,
    variants: tuple[str, ...] = VARIANTS,
    first: int = 0,
    **about: Any,
) -> Iterator[Measurement]:
    """Measurements of all sides on the positions of the study's variants, by default of `variants`.

    `positions` returns, for a variant, what is particular to each position. All else in `about` is the same
    for all measurements. Settings of the side take precedence over those of the study. `first` is the number
    of the first position.
    """
    for variant in study.variants(variants):
        for side in sides:
            settings = {**side.settings(study, variant), "seed": str(study.seed)}
            for place, position in enumerate(positions(variant)[: study.size.positions], first):
                described = {"preset": side.preset, "settings": settings, **position, **about}
                yield Measurement(kind, variant, side.name, place, described, group)
