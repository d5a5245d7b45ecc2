"""Leak over simulations: the distance of edges and nodes from the values below them, by backup mode."""

from __future__ import annotations

from typing import Any

from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side
from anabranch.study.experiments.measurements import plan_sides
from anabranch.study.experiments.memory import middlegames
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, in_order, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study, file_name

MODES = (
    Side("tree", "mcgs", {"backup": "tree"}),
    Side("naive", "mcgs", {"backup": "naive", "stop": "none"}),
    Side("paper", "mcgs", {"backup": "paper"}),
    Side("delta", "mcgs", {"backup": "delta"}),
    Side("recompute", "mcgs", {"backup": "recompute", "stop": "visits"}),
)
METERS = {
    "leak": "distance of edges from their children",
    "node_leak": "distance of nodes from what their children say",
}


def _plan(study: Study) -> Plan:
    checkpoints = list(study.size.simulations or ())
    return plan_sides(study, "grow", MODES, middlegames, equal="simulations", checkpoints=checkpoints)


def _show(results: StudyResults) -> Figures:
    rows = [
        _row(variant, mode.name, checkpoint, samples)
        for variant in results.variants
        for mode in MODES
        for checkpoint in results.study.size.simulations or ()
        if (samples := results.samples(mode.name, checkpoint, variant))
    ]
    head = (
        *columns("text", variant="variant", name="backup"),
        *columns("count", checkpoint="simulations", positions="positions"),
        *columns("number", **METERS),
        *columns("percent", stops="stops per simulation"),
    )
    charts = [
        _chart(variant, meter, rows)
        for variant in in_order(row["variant"] for row in rows)
        for meter in METERS
    ]
    return Figures((Table("Leak by backup mode", head, tuple(rows)),), tuple(charts))


def _row(variant: str, mode: str, checkpoint: int, samples: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "variant": variant,
        "name": mode,
        "checkpoint": checkpoint,
        "positions": len(samples),
        "stops": mean_of([sample["stops"] / sample["simulations"] for sample in samples])[0],
    }
    for meter in METERS:
        row[meter], row[f"{meter}_error"] = mean_of([sample[meter] for sample in samples])
    return row


def _chart(variant: str, meter: str, rows: list[dict[str, Any]]) -> Chart:
    here = [row for row in rows if row["variant"] == variant]
    series = []
    for mode in in_order(row["name"] for row in rows):
        mine = [row for row in here if row["name"] == mode]
        points = (Point(row["checkpoint"], row[meter], row[f"{meter}_error"]) for row in mine)
        series.append(Series(mode, tuple(points)))
    name = f"leak-{file_name(variant)}-{'edges' if meter == 'leak' else 'nodes'}"
    title = f"{variant}: {METERS[meter]}"
    return Chart(name, title, "lines", "simulations", "mean distance", tuple(series), log_x=True)


LEAK = Experiment(
    "leak",
    "Leak over simulations",
    "How far do the values of edges and nodes drift from what lies below them, with the correction and "
    "without?",
    {
        "tiny": Size(positions=1, simulations=(200, 400)),
        "small": Size(positions=4, simulations=(300, 1_000, 3_000, 10_000)),
        "full": Size(positions=12, simulations=(300, 1_000, 3_000, 10_000, 30_000, 100_000)),
    },
    _plan,
    _show,
)
