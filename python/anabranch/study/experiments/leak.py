"""Leak over simulations: how far edges and nodes drift from what lies below them, by backup mode."""

from __future__ import annotations

from typing import Any

from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table, in_order, mean_of
from anabranch.study.folder import Findings
from anabranch.study.plan import VARIANTS, Plan, Recipe, Size, Study
from anabranch.study.recipes.memory import grown

MODES = {
    "tree": {"backup": "tree"},
    "naive": {"backup": "naive", "stop": "none"},
    "paper": {"backup": "paper"},
    "delta": {"backup": "delta"},
    "recompute": {"backup": "recompute", "stop": "visits"},
}
METERS = {
    "leak": "distance of edges from their children",
    "node_leak": "distance of nodes from what their children say",
}


def _plan(study: Study) -> Plan:
    assert study.size.simulations is not None
    checkpoints = list(study.size.simulations)
    return Plan(
        measurements=tuple(
            one
            for mode, options in MODES.items()
            for one in grown(
                study,
                "",
                mode,
                {
                    "preset": "mcgs",
                    "settings": {"seed": str(study.seed), **options},
                    "equal": "simulations",
                    "checkpoints": checkpoints,
                },
            )
        )
    )


def _show(findings: Findings) -> Exhibit:
    rows: list[dict[str, Any]] = []
    done = findings.measurements
    for variant in VARIANTS:
        for mode in in_order(one.name for one, _ in done):
            for checkpoint in findings.study.size.simulations or ():
                looks = [
                    look
                    for one, found in done
                    if (one.variant, one.name) == (variant, mode)
                    for look in found["looks"]
                    if look["checkpoint"] == checkpoint
                ]
                if looks:
                    rows.append(_row(variant, mode, checkpoint, looks))
    columns = (
        Column("variant", "variant"),
        Column("name", "backup"),
        Column("checkpoint", "simulations", "count"),
        Column("positions", "positions", "count"),
        Column("leak", METERS["leak"], "number"),
        Column("node_leak", METERS["node_leak"], "number"),
        Column("stops", "stops per simulation", "percent"),
    )
    charts = [
        _chart(variant, meter, rows)
        for variant in in_order(row["variant"] for row in rows)
        for meter in METERS
    ]
    return Exhibit((Table("Leak by backup mode", columns, tuple(rows)),), tuple(charts))


def _row(variant: str, mode: str, checkpoint: int, looks: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "variant": variant,
        "name": mode,
        "checkpoint": checkpoint,
        "positions": len(looks),
        "stops": mean_of([look["stops"] / look["simulations"] for look in looks])[0],
    }
    for meter in METERS:
        row[meter], row[f"{meter}_error"] = mean_of([look[meter] for look in looks])
    return row


def _chart(variant: str, meter: str, rows: list[dict[str, Any]]) -> Chart:
    series = tuple(
        Series(
            mode,
            tuple(
                Point(row["checkpoint"], row[meter], row[f"{meter}_error"])
                for row in rows
                if (row["variant"], row["name"]) == (variant, mode)
            ),
        )
        for mode in in_order(row["name"] for row in rows)
    )
    name = f"leak-{variant}-{'edges' if meter == 'leak' else 'nodes'}"
    return Chart(
        name, f"{variant}: {METERS[meter]}", "lines", "simulations", "mean distance", series, log_x=True
    )


LEAK = Recipe(
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
