"""Regret: how often and by how much the chosen move is wrong, where the value of every move is known exactly.

The positions are endings of four men whose moves tablebases have judged; the judgements are in the file, so
no tables are needed. A won position that becomes drawn costs half a point, one that becomes lost a whole one.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table, mean_of
from anabranch.study.folder import Findings
from anabranch.study.plan import Measurement, Plan, Recipe, Size, Study

FILE = Path(__file__).parent.parent / "files" / "endings.json"
PRESETS = ("alphazero", "mcgs", "mcgs-combined", "default")


@cache
def endings() -> tuple[dict[str, Any], ...]:
    """Positions, each with the value of every move for the side to move: 1, 0 or -1."""
    return tuple(json.loads(FILE.read_text(encoding="utf-8"))["positions"])


def _plan(study: Study) -> Plan:
    assert study.size.evaluations is not None
    checkpoints = list(study.size.evaluations)
    return Plan(
        measurements=tuple(
            Measurement(
                "regret",
                "chess",
                preset,
                place,
                {
                    "preset": preset,
                    "settings": {**study.settings, "seed": str(study.seed)},
                    "position": ending["position"],
                    "values": ending["values"],
                    "checkpoints": checkpoints,
                },
            )
            for preset in PRESETS
            for place, ending in enumerate(endings()[: study.size.positions])
        )
    )


def _show(findings: Findings) -> Exhibit:
    rows: list[dict[str, Any]] = []
    for preset in PRESETS:
        for checkpoint in findings.study.size.evaluations or ():
            regrets = [
                look["regret"]
                for one, found in findings.measurements
                if one.name == preset
                for look in found["looks"]
                if look["checkpoint"] == checkpoint
            ]
            if regrets:
                mean, error = mean_of(regrets)
                wrong = sum(regret > 0.0 for regret in regrets) / len(regrets)
                rows.append(
                    {
                        "name": preset,
                        "checkpoint": checkpoint,
                        "positions": len(regrets),
                        "wrong": wrong,
                        "regret": mean,
                        "error": error,
                    }
                )
    series = tuple(
        Series(
            preset,
            tuple(
                Point(row["checkpoint"], row["regret"], row["error"]) for row in rows if row["name"] == preset
            ),
        )
        for preset in PRESETS
    )
    columns = (
        Column("name", "player"),
        Column("checkpoint", "evaluations", "count"),
        Column("positions", "positions", "count"),
        Column("wrong", "wrong moves", "percent"),
        Column("regret", "points given away per move", "number"),
        Column("error", "±", "number"),
    )
    chart = Chart(
        "regret", "Points given away", "lines", "evaluations", "points per move", series, log_x=True
    )
    return Exhibit((Table("Regret in endings of four men", columns, tuple(rows)),), (chart,))


REGRET = Recipe(
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
