"""Simulations to a proof: how soon the solver proves a mate, with and without the enhancements around it."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from anabranch.bench.suite import checkpoints
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side
from anabranch.study.experiments.measurements import plan_sides, read_positions
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study

SIDES = (
    Side("alphazero+solver", "alphazero+solver"),
    Side("mcgs+solver", "mcgs", {"solver": "on"}),
    Side("mcgs-combined", "mcgs-combined"),
    Side("mcgs-combined without checks", "mcgs-combined", {"epsilon_checks": "0"}),
    Side("default", "default"),
)


@cache
def mates(variant: str) -> tuple[dict[str, Any], ...]:
    """The positions with mates, as lines of EPD; the lengths take turns, so that few positions cover all."""
    lines = read_positions("proofs", variant, f"mates-{variant}.epd").splitlines()
    return tuple({"position": line} for line in lines if line and not line.startswith("#"))


def _plan(study: Study) -> Plan:
    return plan_sides(study, "proof", SIDES, mates, simulations=max(study.size.simulations or (0,)))


def _show(results: StudyResults) -> Figures:
    most = max(results.study.size.simulations or (0,))
    rows: list[dict[str, Any]] = []
    charts = []
    for variant in results.variants:
        series = []
        for side in SIDES:
            if found := results.found_by(side.name, variant):
                series.append(Series(side.name, _points(found, most)))
                rows.append({"variant": variant, "name": side.name, **_row(found)})
        if series:
            name, title, y = f"proofs-{variant}", f"{variant}: mates proven", "positions proven, %"
            charts.append(Chart(name, title, "lines", "simulations", y, tuple(series), log_x=True))
    head = (
        *columns("text", variant="variant", name="player"),
        *columns("count", positions="positions"),
        *columns("percent", proven="proven", **{f"mate{length}": f"in {length}" for length in range(1, 6)}),
        *columns("count", median="median simulations to proof"),
    )
    note = (
        f"At most {most:,} simulations. A position that is not proven counts as later than all others in the "
        "median; there is none where less than half are proven."
    )
    return Figures((Table("Mates proven", head, tuple(rows)),), tuple(charts), (note,))


def _points(found: list[dict[str, Any]], most: int) -> tuple[Point, ...]:
    needed = [result["simulations_to_proof"] or most + 1 for result in found]
    return tuple(
        Point(number, 100.0 * sum(one <= number for one in needed) / len(found))
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


PROOFS = Experiment(
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
