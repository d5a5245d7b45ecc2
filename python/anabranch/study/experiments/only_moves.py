"""Only moves: positions in which one move is much better than all others, and whether it is tried at all.

A move that is not found was either never tried, because its prior is small, or tried and misjudged; exploring
for its own sake helps with the first alone. So this tells how much there is to gain by it. The judge is
another engine, so that moves which our networks overlook are among the positions.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from anabranch.match.openings import rules_of
from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table, in_order, mean_of
from anabranch.study.folder import Findings
from anabranch.study.plan import VARIANTS, Measurement, Plan, Recipe, Size, Study
from anabranch.study.recipes.contests import Side

FILES = Path(__file__).parent.parent / "files"
SIDES = (
    Side("alphazero", "alphazero"),
    Side("alphazero, temperature 1.0", "alphazero", {"node_temperature": "1.0"}),
    Side("alphazero, temperature 0.6", "alphazero", {"node_temperature": "0.6"}),
    Side("alphazero+epsilon", "alphazero+epsilon"),
    Side("epsilon, temperature 0.6", "alphazero+epsilon", {"node_temperature": "0.6"}),
    Side("mcgs-combined", "mcgs-combined"),
    Side("default", "default"),
)
LITTLE = 0.01
"""Share of the visits below which a move counts as hardly tried."""


@cache
def only_moves(variant: str) -> tuple[tuple[str, str], ...]:
    """Positions and their only moves."""
    found = []
    for line in (FILES / f"only-moves-{variant}.epd").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            board = rules_of(variant)()
            operations: dict[str, Any] = board.set_epd(line)
            found.append((board.fen(), operations["bm"][0].uci()))
    return tuple(found)


def _plan(study: Study) -> Plan:
    assert study.size.evaluations is not None
    return Plan(
        measurements=tuple(
            Measurement(
                "only",
                variant,
                side.name,
                place,
                {
                    "preset": side.preset,
                    "settings": {**study.settings, **side.options, "seed": str(study.seed)},
                    "position": position,
                    "move": move,
                    "checkpoints": list(study.size.evaluations),
                },
            )
            for variant in VARIANTS
            for side in SIDES
            for place, (position, move) in enumerate(only_moves(variant)[: study.size.positions])
        )
    )


def _show(findings: Findings) -> Exhibit:
    rows: list[dict[str, Any]] = []
    charts = []
    done = findings.measurements
    for variant in in_order(one.variant for one, _ in done):
        series = []
        for side in SIDES:
            points = []
            for checkpoint in findings.study.size.evaluations or ():
                looks = [
                    look
                    for one, found in done
                    if (one.variant, one.name) == (variant, side.name)
                    for look in found["looks"]
                    if look["checkpoint"] == checkpoint
                ]
                if looks:
                    rows.append(
                        {"variant": variant, "name": side.name, "checkpoint": checkpoint, **_row(looks)}
                    )
                    points.append(Point(checkpoint, *mean_of([float(look["found"]) for look in looks])))
            series.append(Series(side.name, tuple(points)))
        title = f"{variant}: only moves found"
        charts.append(
            Chart(f"only-moves-{variant}", title, "lines", "evaluations", "share", tuple(series), log_x=True)
        )
    columns = (
        Column("variant", "variant"),
        Column("name", "player"),
        Column("checkpoint", "evaluations", "count"),
        Column("positions", "positions", "count"),
        Column("found", "found", "percent"),
        Column("missed", "missed", "count"),
        Column("never", "of these never tried", "count"),
        Column("little", f"tried with less than {LITTLE:.0%} of the visits", "count"),
        Column("tried", "moves tried", "percent"),
    )
    return Exhibit((Table("Only moves", columns, tuple(rows)),), tuple(charts))


def _row(looks: list[dict[str, Any]]) -> dict[str, Any]:
    missed = [look for look in looks if not look["found"]]
    never = [look for look in missed if look["visits"] == 0]
    return {
        "positions": len(looks),
        "found": 1.0 - len(missed) / len(looks),
        "missed": len(missed),
        "never": len(never),
        "little": sum(0 < look["visits"] < LITTLE * look["root_visits"] for look in missed),
        "tried": mean_of([look["tried"] / look["legal"] for look in looks])[0],
    }


ONLY_MOVES = Recipe(
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
