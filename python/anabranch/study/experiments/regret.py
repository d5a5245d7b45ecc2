"""Regret: how often and by how much the chosen move is wrong, where the value of every move is known exactly.

The positions are endings of four men. Tablebases have judged every move; the values are in the file, so no
tables are needed. A win that becomes a draw costs half a point, one that becomes a loss a whole one.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side
from anabranch.study.experiments.measurements import plan_sides, read_positions
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study

PRESETS = ("alphazero", "mcgs", "mcgs-combined", "default")


@cache
def endings(variant: str = "chess") -> tuple[dict[str, Any], ...]:
    """Positions, each with the value of every move for the side to move: 1, 0 or -1."""
    name = "endings.json" if variant == "chess" else f"endings-{variant}.json"
    return tuple(json.loads(read_positions("regret", variant, name))["positions"])


def _plan(study: Study) -> Plan:
    sides = [Side(preset, preset) for preset in PRESETS]
    checkpoints = list(study.size.evaluations or ())
    return plan_sides(study, "regret", sides, endings, variants=("chess",), checkpoints=checkpoints)


def _show(results: StudyResults) -> Figures:
    rows = [
        _row(preset, checkpoint, [sample["regret"] for sample in samples])
        for preset in PRESETS
        for checkpoint in results.study.size.evaluations or ()
        if (samples := results.samples(preset, checkpoint))
    ]
    series = []
    for preset in PRESETS:
        mine = [row for row in rows if row["name"] == preset]
        points = (Point(row["checkpoint"], row["regret"], row["error"]) for row in mine)
        series.append(Series(preset, tuple(points)))
    head = (
        *columns("text", name="player"),
        *columns("count", checkpoint="evaluations", positions="positions"),
        *columns("percent", wrong="wrong moves"),
        *columns("number", regret="points given away per move", error="±"),
    )
    labels = "evaluations", "points per move"
    chart = Chart("regret", "Points given away", "lines", *labels, tuple(series), log_x=True)
    return Figures((Table("Regret in endings of four men", head, tuple(rows)),), (chart,))


def _row(preset: str, checkpoint: int, regrets: list[float]) -> dict[str, Any]:
    mean, error = mean_of(regrets)
    return {
        "name": preset,
        "checkpoint": checkpoint,
        "positions": len(regrets),
        "wrong": sum(regret > 0.0 for regret in regrets) / len(regrets),
        "regret": mean,
        "error": error,
    }


REGRET = Experiment(
    "regret",
    "Regret where the truth is known",
    "How often is the chosen move wrong, and how much does it give away, in endings that tablebases know?",
    {
        "tiny": Size(positions=4, evaluations=(32, 64)),
        "small": Size(positions=50, evaluations=(100, 300, 1_000)),
        "full": Size(positions=200, evaluations=(100, 300, 1_000, 3_000, 10_000, 30_000)),
    },
    _plan,
    _show,
)
