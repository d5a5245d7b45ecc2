"""Nodes per move over a game: what a graph that is kept from move to move brings along."""

from __future__ import annotations

from statistics import mean
from typing import Any

from anabranch.study.exhibit import Chart, Column, Exhibit, Point, Series, Table, in_order, mean_of
from anabranch.study.folder import Findings
from anabranch.study.paper import REUSED_NODES
from anabranch.study.plan import VARIANTS, Measurement, Plan, Recipe, Size, Study
from anabranch.study.recipes.contests import openings

SIDES: dict[str, tuple[str, dict[str, str]]] = {
    "alphazero": ("alphazero", {}),
    "mcgs-combined": ("mcgs-combined", {}),
    "mcgs-combined without reuse": ("mcgs-combined", {"reuse": "off"}),
}


def _plan(study: Study) -> Plan:
    size = study.size
    assert size.evaluations is not None
    return Plan(
        measurements=tuple(
            Measurement(
                "game",
                variant,
                name,
                place,
                {
                    "preset": preset,
                    "settings": {**study.settings, "seed": str(study.seed + place), **options},
                    "position": opening.fen,
                    "evaluations": evaluations,
                    "plies": size.plies,
                },
                f"{evaluations} evaluations",
            )
            for variant in VARIANTS
            for evaluations in size.evaluations
            for name, (preset, options) in SIDES.items()
            for place, opening in enumerate(openings(variant)[: size.positions])
        )
    )


def _show(findings: Findings) -> Exhibit:
    rows: list[dict[str, Any]] = []
    charts = []
    done = findings.measurements
    for variant in VARIANTS:
        for group in in_order(one.group for one, _ in done if one.variant == variant):
            series = []
            for name in SIDES:
                games = [
                    found["moves"]
                    for one, found in done
                    if (one.variant, one.group, one.name) == (variant, group, name) and found["moves"]
                ]
                if games:
                    series.append(Series(name, _points(games)))
                    rows.append({"variant": variant, "group": group, "name": name, **_row(games)})
            charts.append(
                Chart(
                    f"reuse-{variant}-{group.split()[0]}",
                    f"{variant}: nodes per move, {group} per move",
                    "lines",
                    "move of the game",
                    "nodes in the graph",
                    tuple(series),
                )
            )
    columns = (
        Column("variant", "variant"),
        Column("group", "budget per move"),
        Column("name", "player"),
        Column("games", "games", "count"),
        Column("first", "nodes, first move", "count"),
        Column("mean", "nodes, mean", "count"),
        Column("most", "nodes, most", "count"),
        Column("kept", "visits of the root before the search", "percent"),
    )
    low, high = REUSED_NODES
    note = (
        f"The paper reports {low:,} to {high:,} nodes per move in crazyhouse at five seconds per move, "
        "growing over the game because the subtree is reused."
    )
    return Exhibit((Table("Nodes per move", columns, tuple(rows)),), tuple(charts), (note,))


def _points(games: list[list[dict[str, Any]]]) -> tuple[Point, ...]:
    """Both sides' moves of a number together, over the games that lasted so long."""
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


REUSE = Recipe(
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
