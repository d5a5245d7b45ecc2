"""Only moves: positions in which one move is much better than all others, and whether it is tried at all.

A move that is not found was either never tried, because its prior is small, or tried and misjudged.
Exploration helps with the first alone, so this measures how much it can gain. The positions are judged by
another engine, so that they include moves that our networks overlook.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from anabranch.match.openings import rules_of
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side
from anabranch.study.experiments.measurements import plan_sides, read_positions
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, in_order, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study

SIDES = (
    Side("alphazero", "alphazero"),
    Side("alphazero, temperature 1.0", "alphazero", {"node_temperature": "1.0"}),
    Side("alphazero, temperature 0.6", "alphazero", {"node_temperature": "0.6"}),
    Side("alphazero+epsilon", "alphazero+epsilon"),
    Side("epsilon, temperature 0.6", "alphazero+epsilon", {"node_temperature": "0.6"}),
    Side("alphazero+checks", "alphazero+checks"),
    Side("mcgs-combined", "mcgs-combined"),
    Side("default", "default"),
)
LITTLE = 0.01
"""Share of the visits below which a move counts as hardly tried."""


@cache
def only_moves(variant: str) -> tuple[dict[str, Any], ...]:
    """Positions, each with its only move."""
    found = []
    for line in read_positions("only-moves", variant, f"only-moves-{variant}.epd").splitlines():
        if not line.startswith("#"):
            board = rules_of(variant)()
            operations: dict[str, Any] = board.set_epd(line)
            found.append({"position": board.fen(), "move": operations["bm"][0].uci()})
    return tuple(found)


def _plan(study: Study) -> Plan:
    return plan_sides(study, "only", SIDES, only_moves, checkpoints=list(study.size.evaluations or ()))


def _show(results: StudyResults) -> Figures:
    rows: list[dict[str, Any]] = []
    charts = []
    for variant in in_order(one.variant for one, _ in results.measurements):
        series = []
        for side in SIDES:
            points = []
            for checkpoint in results.study.size.evaluations or ():
                if samples := results.samples(side.name, checkpoint, variant):
                    head = {"variant": variant, "name": side.name, "checkpoint": checkpoint}
                    rows.append({**head, **_row(samples)})
                    points.append(Point(checkpoint, *mean_of([float(one["found"]) for one in samples])))
            series.append(Series(side.name, tuple(points)))
        title = f"{variant}: only moves found"
        charts.append(
            Chart(f"only-moves-{variant}", title, "lines", "evaluations", "share", tuple(series), log_x=True)
        )
    head_of_table = (
        *columns("text", variant="variant", name="player"),
        *columns("count", checkpoint="evaluations", positions="positions"),
        *columns("percent", found="found"),
        *columns("count", missed="missed", never="of these never tried"),
        *columns("count", little=f"tried with less than {LITTLE:.0%} of the visits"),
        *columns("percent", tried="moves tried"),
    )
    return Figures((Table("Only moves", head_of_table, tuple(rows)),), tuple(charts))


def _row(samples: list[dict[str, Any]]) -> dict[str, Any]:
    missed = [one for one in samples if not one["found"]]
    return {
        "positions": len(samples),
        "found": 1.0 - len(missed) / len(samples),
        "missed": len(missed),
        "never": sum(one["visits"] == 0 for one in missed),
        "little": sum(0 < one["visits"] < LITTLE * one["root_visits"] for one in missed),
        "tried": mean_of([one["tried"] / one["legal"] for one in samples])[0],
    }


ONLY_MOVES = Experiment(
    "only-moves",
    "Only moves: misjudged, or never tried",
    "Where one move is much better than all others and is not found, had the search tried it at all?",
    {
        "tiny": Size(positions=2, evaluations=(16, 32)),
        "small": Size(positions=50, evaluations=(300, 1_000)),
        "full": Size(positions=100, evaluations=(300, 1_000, 3_000, 10_000)),
    },
    _plan,
    _show,
)
