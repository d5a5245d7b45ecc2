"""Graph memory against tree memory, at equal simulations and at equal evaluations. These are exact counts."""

from __future__ import annotations

from typing import Any

from anabranch.bench.positions import POSITIONS
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, openings
from anabranch.study.experiments.measurements import measure_sides
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.paper import MEMORY_SAVED
from anabranch.study.plan import Plan, Size, Study

PRESETS = ("alphazero", "alphazero+cache", "mcgs")
TREE = PRESETS[0]
EQUAL = ("simulations", "evaluations")


def middlegames(variant: str) -> list[dict[str, Any]]:
    """The positions of the benchmark; besides chess, random openings."""
    if variant not in POSITIONS:
        return [{"position": opening.fen} for opening in openings(variant)]
    return [{"position": position} for position in POSITIONS[variant]]


def _plan(study: Study) -> Plan:
    assert study.size.simulations is not None
    checkpoints = list(study.size.simulations)
    sides = [Side(preset, preset) for preset in PRESETS]
    return Plan(
        measurements=tuple(
            one
            for equal in EQUAL
            for one in measure_sides(
                study, "grow", sides, middlegames, f"equal {equal}", equal=equal, checkpoints=checkpoints
            )
        )
    )


def _show(results: StudyResults) -> Figures:
    samples = {
        (one.variant, one.group, one.name, one.place, sample["checkpoint"]): sample
        for one, found in results.measurements
        for sample in found["looks"]
    }
    rows = [
        row
        for variant in results.variants
        for equal in EQUAL
        for preset in PRESETS[1:]
        for checkpoint in results.study.size.simulations or ()
        if (row := _row(samples, (variant, f"equal {equal}", preset), checkpoint))
    ]
    low, high = (f"{100 * share:.0f}" for share in MEMORY_SAVED)
    for row in rows:
        row["paper"] = f"{low} to {high} %" if row["name"] == "mcgs" else None
    head = (
        *columns("text", variant="variant", group="held equal", name="preset"),
        *columns("count", checkpoint="of them", positions="positions"),
        *columns("number", nodes="nodes / nodes of the tree", bytes="bytes / bytes of the tree"),
        *columns("percent", saved="memory saved", least="least", most="most"),
        *columns("text", paper="the paper"),
    )
    note = (
        f"The paper observes a reduction of {low} to {high} %, depending on the position. Ours is the mean "
        "over positions, with the least and the most."
    )
    return Figures(
        (Table("Memory against alphazero", head, tuple(rows)),), (_chart(results.variants, rows),), (note,)
    )


def _row(
    samples: dict[tuple[str, str, str, int, int], dict[str, Any]], head: tuple[str, str, str], checkpoint: int
) -> dict[str, Any]:
    """The row of a variant, a group and a preset; empty where nothing is measured yet."""
    variant, group, preset = head
    nodes, stored = [], []
    for key, sample in samples.items():
        if (key[0], key[1], key[2], key[4]) != (variant, group, preset, checkpoint):
            continue
        tree = samples.get((variant, group, TREE, key[3], checkpoint))
        if tree is not None:
            nodes.append(sample["nodes"] / tree["nodes"])
            stored.append(sample["bytes"] / tree["bytes"])
    if not stored:
        return {}
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


def _chart(variants: list[str], rows: list[dict[str, Any]]) -> Chart:
    series = []
    for variant in variants:
        for equal in EQUAL:
            head = (variant, f"equal {equal}", "mcgs")
            mine = [row for row in rows if (row["variant"], row["group"], row["name"]) == head]
            points = [
                Point(row["checkpoint"], 100.0 * row["saved"], row["error"] and 100.0 * row["error"])
                for row in mine
            ]
            if points:
                series.append(Series(f"{variant}, equal {equal}", tuple(points)))
    marks = {float(row["checkpoint"]) for row in rows}
    for share, word in zip(MEMORY_SAVED, ("least", "most"), strict=True):
        if marks:
            ends = tuple(Point(x, 100.0 * share) for x in sorted({min(marks), max(marks)}))
            series.append(Series(f"the paper, {word}", ends, "paper"))
    labels = "simulations or evaluations", "bytes saved, %"
    return Chart("memory", "Memory that the graph saves", "lines", *labels, tuple(series), log_x=True)


MEMORY = Experiment(
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
