"""UCD: where UCT on a graph takes its numbers from, in Hex and in LeftRight, a puzzle with a known answer.

Saffidine, Cazenave and Mehat have three depths below an edge: d1 for its mean, d2 for the visits of its node,
d3 for its own visits. All of them are tried against UCT on a tree.
"""

from __future__ import annotations

from typing import Any

from anabranch.match.player import Budget
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, elo_series, fault_notes, make_match, results_table
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Measurement, Plan, Size, Study, file_name

GAMES = ("hex:size=5",)
INFINITE = 255
STEPS = 50
"""Of LeftRight."""
LEFT_RIGHT = "left-right"


def _depths(*depths: int) -> Side:
    words = ", ".join("inf" if depth == INFINITE else str(depth) for depth in depths)
    names = ("ucd_value", "ucd_parent", "ucd_visits")
    return Side(f"ucd {words}", "ucd", {name: str(depth) for name, depth in zip(names, depths, strict=True)})


TREE = Side("uct", "uct")
TRIED = (
    _depths(0, 0, 0),
    _depths(1, 0, 0),
    _depths(INFINITE, 0, 0),
    _depths(0, 1, 0),
    _depths(0, 0, 1),
    _depths(1, 1, 0),
    _depths(1, 1, 1),
    _depths(2, 2, 2),
    Side("update-all", "update-all"),
)


def _plan(study: Study) -> Plan:
    budgets = study.size.evaluations or ()
    matches = tuple(
        make_match(
            study,
            game,
            f"{number} evaluations",
            side.player(study, game, Budget(evaluations=number)),
            TREE.player(study, game, Budget(evaluations=number)),
            number,
        )
        for game in study.variants(GAMES)
        for number in budgets
        for side in TRIED
    )
    measurements = tuple(
        Measurement(
            "left-right",
            LEFT_RIGHT,
            side.name,
            place,
            {
                "preset": side.preset,
                "settings": {**study.settings, "seed": str(study.seed + place), **side.options},
                "steps": STEPS,
                "simulations": number,
            },
            f"{number} simulations",
        )
        for number in study.size.simulations or ()
        for side in (TREE, *TRIED)
        for place in range(study.size.positions or 0)
    )
    return Plan(matches, measurements)


def _show(results: StudyResults) -> Figures:
    played = results.matches
    rows = [
        row
        for side in (TREE, *TRIED)
        for number in results.study.size.simulations or ()
        if (row := _row(results, side.name, number))
    ]
    head = (
        *columns("text", name="search"),
        *columns("count", simulations="simulations per step", games="games"),
        *columns("number", lefts=f"steps to the left, of {STEPS}", error="error of 95 %"),
    )
    charts = [
        Chart(
            f"ucd-{file_name(game)}",
            f"{game}: Elo against UCT on a tree",
            "bars",
            "",
            "Elo",
            tuple(
                elo_series(
                    [(one, tally) for one, tally in played if one.variant == game],
                    lambda one: one.group,
                    lambda one: one.name,
                )
            ),
        )
        for game in dict.fromkeys(one.variant for one, _ in played)
    ]
    tables = (results_table("Each against UCT on a tree", played), Table("LeftRight", head, tuple(rows)))
    return Figures(tables, (*charts, _chart(rows)), fault_notes(played))


def _row(results: StudyResults, name: str, number: int) -> dict[str, Any]:
    found = results.found_by(name, LEFT_RIGHT, f"{number} simulations")
    if not found:
        return {}
    lefts, error = mean_of([float(one["lefts"]) for one in found])
    return {"name": name, "simulations": number, "games": len(found), "lefts": lefts, "error": error}


def _chart(rows: list[dict[str, Any]]) -> Chart:
    series: dict[str, list[Point]] = {}
    for row in rows:
        series.setdefault(f"{row['simulations']} simulations", []).append(
            Point(row["name"], row["lefts"], row["error"])
        )
    return Chart(
        "ucd-left-right",
        f"LeftRight: steps to the left, of {STEPS}",
        "bars",
        "",
        "steps to the left",
        tuple(Series(name, tuple(points)) for name, points in series.items()),
    )


UCD = Experiment(
    "ucd",
    "UCD and its depths",
    "From how deep below an edge should UCT on a graph take means and visits?",
    {
        "tiny": Size(pairs=1, evaluations=(8,), plies=40, positions=2, simulations=(5,)),
        "small": Size(pairs=50, evaluations=(200,), plies=400, positions=30, simulations=(10, 30, 100)),
        "full": Size(pairs=300, evaluations=(200, 800), plies=400, positions=200, simulations=(10, 30, 100)),
    },
    _plan,
    _show,
)
