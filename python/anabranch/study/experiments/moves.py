"""Moves in place of games: what each change of the other experiments costs per move.

A game says little about one change: most of its moves are the same with and without it, and its result is one
number. Here a change and its base choose a move in the same positions, and where they differ, a longer search
judges both moves. That takes fewer searches than a match of the same precision, by a factor that
docs/study.md has. The judge is a search of ours with the same network, so what network and search both
misjudge is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from anabranch.study.experiment import Experiment
from anabranch.study.experiments.bars import COMPARISONS
from anabranch.study.experiments.matches import Side
from anabranch.study.experiments.measurements import read_positions
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, in_order, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Measurement, Plan, Size, Study, file_name

JUDGE = Side("judge", "default")
JUDGED = 10
"""Evaluations of the judge for each of a side."""
SCALES = {"half the evaluations": 0.5, "twice the evaluations": 2.0}
"""What a loss means: that of the base with another budget."""
LEAST_DIFFERENT = 10
"""Positions with different moves below which a loss has no error: that of the few would be too small."""
THOUSAND = 1_000.0
"""Losses are shown in thousandths of a point."""


@cache
def undecided(variant: str) -> tuple[str, ...]:
    """The positions of a variant."""
    lines = read_positions("moves", variant, f"undecided-{variant}.fen").splitlines()
    return tuple(line for line in lines if not line.startswith("#"))


def _plan(study: Study) -> Plan:
    return Plan(measurements=tuple(_measurements(study)))


def _measurements(study: Study) -> Iterator[Measurement]:
    """Position by position: where one process does neighbours, they share searches."""
    for variant in study.variants():
        for evaluations in study.size.evaluations or ():
            judge = _search(study, variant, JUDGE, JUDGED * evaluations)
            for place, position in enumerate(undecided(variant)[: study.size.positions]):
                for name, bars in COMPARISONS.items():
                    base = _search(study, variant, bars.base, evaluations)
                    shared = {"position": position, "base": base, "judge": judge}
                    sides = {side.name: (side, 1.0) for side in bars.tried}
                    sides |= {scale: (bars.base, factor) for scale, factor in SCALES.items()}
                    for called, (side, factor) in sides.items():
                        search = _search(study, variant, side, max(1, round(factor * evaluations)))
                        group = f"{name} {evaluations}"
                        yield Measurement("choice", variant, called, place, {**search, **shared}, group)


def _search(study: Study, variant: str, side: Side, evaluations: int) -> dict[str, Any]:
    settings = {**side.settings(study, variant), "seed": str(study.seed)}
    return {"preset": side.preset, "settings": settings, "evaluations": evaluations}


def _show(results: StudyResults) -> Figures:
    tables, charts = [], []
    for variant in in_order(one.variant for one, _ in results.measurements):
        mine = [(one, found) for one, found in results.measurements if one.variant == variant]
        for group in in_order(one.group for one, _ in mine):
            here = [(one, found) for one, found in mine if one.group == group]
            base = COMPARISONS[group.rpartition(" ")[0]].base.name
            rows = [
                _row(name, [found for one, found in here if one.name == name])
                for name in in_order(one.name for one, _ in here)
            ]
            title = f"{variant}, {group}: loss against {base}"
            tables.append(Table(title, HEAD, tuple(rows)))
            points = (Point(row["name"], row["loss"]["value"], row["loss"]["error"]) for row in rows)
            chart_name = f"moves-{file_name(variant)}-{file_name(group)}"
            label = "thousandths of a point"
            charts.append(Chart(chart_name, title, "bars", "", label, (Series("loss", tuple(points)),)))
    notes = (
        "The number of a group is the evaluations of its base. A loss is in thousandths of a point per "
        f"move, by a judge with {JUDGED} times the evaluations.",
        "All rows of a group have the positions and the moves of the base in common, so their errors go "
        f"together. With less than {LEAST_DIFFERENT} different moves no error is known.",
    )
    return Figures(tuple(tables), tuple(charts), notes)


HEAD = (
    *columns("text", name="player"),
    *columns("count", positions="positions"),
    *columns("percent", differ="other moves"),
    *columns("estimate", loss="loss, thousandths of a point"),
)


def _row(name: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    mean, error = mean_of([THOUSAND * one["loss"] for one in found])
    different = sum(one["move"] != one["base"] for one in found)
    return {
        "name": name,
        "positions": len(found),
        "differ": different / len(found),
        "loss": {"value": mean, "error": error if different >= LEAST_DIFFERENT else None},
    }


MOVES = Experiment(
    "moves",
    "What a change costs per move",
    "How much does the move of each change of the other experiments give away against that of its base, by a "
    "longer search?",
    {
        "tiny": Size(positions=1, evaluations=(16,)),
        "small": Size(positions=200, evaluations=(800,)),
        "full": Size(positions=500, evaluations=(3_000,)),
    },
    _plan,
    _show,
)
