"""Simulations to a proof: how soon the solver knows a mate, with and without the enhancements around it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from anabranch.bench.suite import checkpoints
from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table
from anabranch.study.folder import Findings
from anabranch.study.plan import VARIANTS, Measurement, Plan, Recipe, Size, Study

FILES = Path(__file__).parent.parent / "files"
SIDES: dict[str, tuple[str, dict[str, str]]] = {
    "alphazero+solver": ("alphazero+solver", {}),
    "mcgs+solver": ("mcgs", {"solver": "on"}),
    "mcgs-combined": ("mcgs-combined", {}),
    "mcgs-combined without checks": ("mcgs-combined", {"epsilon_checks": "0"}),
    "default": ("default", {}),
}


@cache
def mates(variant: str) -> tuple[str, ...]:
    """The positions with mates, as lines of EPD, the lengths in turn, so that few show all."""
    lines = (FILES / f"mates-{variant}.epd").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def _plan(study: Study) -> Plan:
    assert study.size.simulations is not None
    return Plan(
        measurements=tuple(
            Measurement(
                "proof",
                variant,
                name,
                place,
                {
                    "preset": preset,
                    "settings": {**study.settings, "seed": str(study.seed), **options},
                    "position": line,
                    "simulations": max(study.size.simulations),
                },
            )
            for variant in VARIANTS
            for name, (preset, options) in SIDES.items()
            for place, line in enumerate(mates(variant)[: study.size.positions])
        )
    )


def _show(findings: Findings) -> Exhibit:
    most = max(findings.study.size.simulations or (0,))
    rows: list[dict[str, Any]] = []
    charts = []
    for variant in VARIANTS:
        series = []
        for name in SIDES:
            found = [
                result for one, result in findings.measurements if (one.variant, one.name) == (variant, name)
            ]
            if found:
                series.append(Series(name, _points(found, most)))
                rows.append({"variant": variant, "name": name, **_row(found)})
        if series:
            charts.append(
                Chart(
                    f"proofs-{variant}",
                    f"{variant}: mates proven",
                    "lines",
                    "simulations",
                    "positions proven, %",
                    tuple(series),
                    log_x=True,
                )
            )
    columns = (
        Column("variant", "variant"),
        Column("name", "player"),
        Column("positions", "positions", "count"),
        Column("proven", "proven", "percent"),
        *(Column(f"mate{length}", f"in {length}", "percent") for length in range(1, 6)),
        Column("median", "median simulations to proof", "count"),
    )
    note = (
        f"At most {most:,} simulations. A position that is not proven counts as later than all others in the "
        "median; there is none where less than half are proven."
    )
    return Exhibit((Table("Mates proven", columns, tuple(rows)),), tuple(charts), (note,))


def _points(found: list[dict[str, Any]], most: int) -> tuple[Point, ...]:
    return tuple(
        Point(
            number,
            100.0
            * sum((result["simulations_to_proof"] or most + 1) <= number for result in found)
            / len(found),
        )
        for number in checkpoints(most)
    )


def _row(found: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "positions": len(found),
        "proven": sum(result["proven"] for result in found) / len(found),
    }
    for length in range(1, 6):
        some = [result["proven"] for result in found if result["mate"] == length]
        row[f"mate{length}"] = sum(some) / len(some) if some else None
    middle = median(result["simulations_to_proof"] or float("inf") for result in found)
    row["median"] = middle if middle < float("inf") else None
    return row


PROOFS = Recipe(
    "proofs",
    "Simulations to a proof",
    "How many simulations does it take to prove a mate, and what do graph, exploration and checks change?",
    {
        "tiny": Size(positions=3, simulations=(500,)),
        "small": Size(positions=30, simulations=(10_000,)),
        "full": Size(positions=64, simulations=(200_000,)),
    },
    _plan,
    _show,
)
