"""Graph memory against tree memory, at equal simulations and at equal evaluations. These are exact counts."""

from __future__ import annotations

from typing import Any

from anabranch.bench.positions import POSITIONS
from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table, mean_of
from anabranch.study.folder import Findings
from anabranch.study.paper import MEMORY_SAVED
from anabranch.study.plan import VARIANTS, Measurement, Plan, Recipe, Size, Study

PRESETS = ("alphazero", "alphazero+cache", "mcgs")
TREE = PRESETS[0]
EQUAL = ("simulations", "evaluations")


def grown(study: Study, group: str, name: str, about: dict[str, Any]) -> list[Measurement]:
    """One graph grown on each position of both variants."""
    return [
        Measurement(
            "grow",
            variant,
            name,
            place,
            {**about, "position": position, "settings": {**study.settings, **about["settings"]}},
            group,
        )
        for variant in VARIANTS
        for place, position in enumerate(POSITIONS[variant][: study.size.positions])
    ]


def _plan(study: Study) -> Plan:
    assert study.size.simulations is not None
    return Plan(
        measurements=tuple(
            one
            for equal in EQUAL
            for preset in PRESETS
            for one in grown(
                study,
                f"equal {equal}",
                preset,
                {
                    "preset": preset,
                    "settings": {"seed": str(study.seed)},
                    "equal": equal,
                    "checkpoints": list(study.size.simulations),
                },
            )
        )
    )


def _show(findings: Findings) -> Exhibit:
    looks = {
        (one.variant, one.group, one.name, one.place, look["checkpoint"]): look
        for one, found in findings.measurements
        for look in found["looks"]
    }
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        for equal in EQUAL:
            for preset in PRESETS[1:]:
                for checkpoint in findings.study.size.simulations or ():
                    row = _row(looks, (variant, f"equal {equal}", preset), checkpoint)
                    if row is not None:
                        rows.append(row)
    low, high = MEMORY_SAVED
    columns = (
        Column("variant", "variant"),
        Column("group", "held equal"),
        Column("name", "preset"),
        Column("checkpoint", "of them", "count"),
        Column("positions", "positions", "count"),
        Column("nodes", "nodes / nodes of the tree", "number"),
        Column("bytes", "bytes / bytes of the tree", "number"),
        Column("saved", "memory saved", "percent"),
        Column("least", "least", "percent"),
        Column("most", "most", "percent"),
        Column("paper", "the paper"),
    )
    for row in rows:
        row["paper"] = f"{100 * low:.0f} to {100 * high:.0f} %" if row["name"] == "mcgs" else None
    return Exhibit(
        (Table("Memory against alphazero", columns, tuple(rows)),),
        (_chart(rows),),
        (
            f"The paper observes a reduction of {100 * low:.0f} to {100 * high:.0f} %, depending on the "
            "position. Ours is the mean over positions, with the least and the most.",
        ),
    )


def _row(
    looks: dict[tuple[str, str, str, int, int], dict[str, Any]], head: tuple[str, str, str], checkpoint: int
) -> dict[str, Any] | None:
    variant, group, preset = head
    nodes, stored = [], []
    for key, look in looks.items():
        if (key[0], key[1], key[2], key[4]) != (variant, group, preset, checkpoint):
            continue
        tree = looks.get((variant, group, TREE, key[3], checkpoint))
        if tree is not None:
            nodes.append(look["nodes"] / tree["nodes"])
            stored.append(look["bytes"] / tree["bytes"])
    if not stored:
        return None
    mean, error = mean_of([1.0 - ratio for ratio in stored])
    return {
        "variant": variant,
        "group": group,
        "name": preset,
        "checkpoint": checkpoint,
        "positions": len(stored),
        "nodes": mean_of(nodes)[0],
        "bytes": mean_of(stored)[0],
        "saved": mean,
        "error": error,
        "least": 1.0 - max(stored),
        "most": 1.0 - min(stored),
    }


def _chart(rows: list[dict[str, Any]]) -> Chart:
    series = []
    for variant in VARIANTS:
        for equal in EQUAL:
            points = tuple(
                Point(
                    row["checkpoint"],
                    100.0 * row["saved"],
                    None if row["error"] is None else 100.0 * row["error"],
                )
                for row in rows
                if (row["variant"], row["group"], row["name"]) == (variant, f"equal {equal}", "mcgs")
            )
            if points:
                series.append(Series(f"{variant}, equal {equal}", points))
    marks = tuple(float(row["checkpoint"]) for row in rows)
    for share, word in zip(MEMORY_SAVED, ("least", "most"), strict=True):
        if marks:
            ends = tuple(Point(x, 100.0 * share) for x in sorted({min(marks), max(marks)}))
            series.append(Series(f"the paper, {word}", ends, "paper"))
    return Chart(
        "memory",
        "Memory that the graph saves",
        "lines",
        "simulations or evaluations",
        "bytes saved, %",
        tuple(series),
        log_x=True,
    )


MEMORY = Recipe(
    "memory",
    "Graph memory against tree memory",
    "How much memory does the graph save at equal simulations and at equal evaluations?",
    {
        "tiny": Size(positions=2, simulations=(200, 400)),
        "small": Size(positions=4, simulations=(1_000, 3_000, 10_000, 30_000)),
        "full": Size(positions=12, simulations=(1_000, 3_000, 10_000, 30_000, 100_000, 300_000)),
    },
    _plan,
    _show,
    of_paper=True,
)
