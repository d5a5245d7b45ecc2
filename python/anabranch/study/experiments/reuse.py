"""Nodes per move over a game: how much a graph that is kept from move to move adds."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean
from typing import Any

from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, openings
from anabranch.study.experiments.measurements import measure_sides
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, in_order, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.paper import REUSED_NODES
from anabranch.study.plan import Measurement, Plan, Size, Study, file_name

SIDES = (
    Side("alphazero", "alphazero"),
    Side("mcgs-combined", "mcgs-combined"),
    Side("mcgs-combined without reuse", "mcgs-combined", {"reuse": "off"}),
)


def _plan(study: Study) -> Plan:
    assert study.size.evaluations is not None

    def with_own_seed(one: Measurement) -> Measurement:
        settings = {**one.about["settings"], "seed": str(study.seed + one.place)}
        return replace(one, about={**one.about, "settings": settings})

    return Plan(
        measurements=tuple(
            with_own_seed(one)
            for number in study.size.evaluations
            for one in measure_sides(
                study,
                "game",
                SIDES,
                lambda variant: [{"position": opening.fen} for opening in openings(variant)],
                f"{number} evaluations",
                evaluations=number,
                plies=study.size.plies,
            )
        )
    )


def _show(results: StudyResults) -> Figures:
    rows: list[dict[str, Any]] = []
    charts = []
    for variant in results.variants:
        for group in in_order(one.group for one, _ in results.measurements if one.variant == variant):
            series = []
            for side in SIDES:
                found = results.found_by(side.name, variant, group)
                if games := [one["moves"] for one in found if one["moves"]]:
                    series.append(Series(side.name, _points(games)))
                    rows.append({"variant": variant, "group": group, "name": side.name, **_row(games)})
            name, title = (
                f"reuse-{file_name(variant)}-{group.split()[0]}",
                f"{variant}: nodes per move, {group} per move",
            )
            charts.append(
                Chart(name, title, "lines", "move of the game", "nodes in the graph", tuple(series))
            )
    head = (
        *columns("text", variant="variant", group="budget per move", name="player"),
        *columns("count", games="games", first="nodes, first move", mean="nodes, mean", most="nodes, most"),
        *columns("percent", kept="visits of the root before the search"),
    )
    low, high = REUSED_NODES
    note = (
        f"The paper reports {low:,} to {high:,} nodes per move in crazyhouse at five seconds per move, "
        "growing over the game because the subtree is reused."
    )
    return Figures((Table("Nodes per move", head, tuple(rows)),), tuple(charts), (note,))


def _points(games: list[list[dict[str, Any]]]) -> tuple[Point, ...]:
    """The mean over both sides' moves of each number, over the games that lasted so long."""
    points = []
    for number in range((max(map(len, games)) + 1) // 2):
        nodes = [float(move["nodes"]) for game in games for move in game[2 * number : 2 * number + 2]]
        points.append(Point(number + 1, *mean_of(nodes)))
    return tuple(points)


def _row(games: list[list[dict[str, Any]]]) -> dict[str, Any]:
    moves = [move for game in games for move in game]
    return {
        "games": len(games),
        "first": mean(game[0]["nodes"] for game in games),
        "mean": mean(move["nodes"] for move in moves),
        "most": max(move["nodes"] for move in moves),
        "kept": mean(
            max(0, move["root_visits"] - move["simulations"]) / max(1, move["root_visits"]) for move in moves
        ),
    }


REUSE = Experiment(
    "reuse",
    "Nodes per move over a game",
    "How do graphs grow over a game, where what was searched before is kept?",
    {
        "tiny": Size(positions=1, evaluations=(32,), plies=10),
        "small": Size(positions=4, evaluations=(1_000,), plies=80),
        "full": Size(positions=20, evaluations=(10_000,), plies=160),
    },
    _plan,
    _show,
    of_paper=True,
)
