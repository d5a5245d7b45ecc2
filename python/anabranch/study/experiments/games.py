"""The graph against the tree in games besides chess, at equal evaluations: strength, nodes and memory."""

from __future__ import annotations

from typing import Any

from anabranch.match.player import Budget
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import (
    Side,
    elo_series,
    fault_notes,
    make_match,
    openings,
    results_table,
)
from anabranch.study.experiments.measurements import measure_sides
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study

GAMES = (
    "tic-tac-toe",
    "connect-four",
    "othello:size=6",
    "hex:size=6",
    "breakthrough:width=6,height=6",
    "go:size=5,ko=simple",
)
TREE = Side("tree", "default", {"backup": "tree"})
CACHE = Side("tree+cache", "default", {"backup": "tree+cache"})
GRAPH = Side("graph", "default")
TRIED = (GRAPH, CACHE)
GROWTH = "growth"


def _plan(study: Study) -> Plan:
    games = study.variants(GAMES)
    matches = tuple(
        make_match(
            study,
            game,
            f"{number} evaluations",
            side.player(study, game, Budget(evaluations=number)),
            TREE.player(study, game, Budget(evaluations=number)),
            number,
        )
        for game in games
        for number in study.size.evaluations or ()
        for side in TRIED
    )
    measurements = tuple(
        measure_sides(
            study,
            "grow",
            (TREE, *TRIED),
            lambda game: [{"position": opening.fen} for opening in openings(game)],
            GROWTH,
            variants=GAMES,
            equal="evaluations",
            checkpoints=list(study.size.simulations or ()),
        )
    )
    return Plan(matches, measurements)


def _show(results: StudyResults) -> Figures:
    played = results.matches
    rows = [
        row
        for game in results.variants
        for checkpoint in results.study.size.simulations or ()
        for side in (TREE, *TRIED)
        if (row := _row(results, game, checkpoint, side.name))
    ]
    head = (
        *columns("text", variant="game"),
        *columns("count", checkpoint="evaluations"),
        *columns("text", name="search"),
        *columns("count", positions="positions", nodes="nodes", bytes="bytes"),
        *columns(
            "number", nodes_ratio="nodes / those of the graph", bytes_ratio="bytes / those of the graph"
        ),
        *columns("percent", share="evaluations per simulation"),
    )
    strength = Chart(
        "games-strength",
        "Elo against the tree, by game",
        "bars",
        "",
        "Elo",
        tuple(elo_series(played, lambda one: f"{one.name}, {one.group}", lambda one: one.variant)),
    )
    note = (
        "Positions that a search proved before a checkpoint are left out of it. At equal evaluations a tree "
        "has a node for each evaluation, the same position perhaps many times; the tree that shares "
        "evaluations has as many different positions as the graph."
    )
    tables = (results_table("Each against the tree", played), Table("Size of searches", head, tuple(rows)))
    return Figures(tables, (strength, _memory_chart(rows)), (note, *fault_notes(played)))


def _row(results: StudyResults, game: str, checkpoint: int, name: str) -> dict[str, Any]:
    """Means over the positions that all searches grew to a checkpoint; empty where there is none."""
    found = {
        side.name: {
            one.place: sample
            for one, what in results.measurements
            if (one.variant, one.name) == (game, side.name)
            for sample in what["looks"]
            if sample["checkpoint"] == checkpoint and sample["finish"] != "solved"
        }
        for side in (TREE, *TRIED)
    }
    places = sorted(set.intersection(*(set(samples) for samples in found.values())))
    if not places:
        return {}
    mine, graphs = found[name], found[GRAPH.name]
    nodes, error = mean_of([mine[place]["nodes"] / graphs[place]["nodes"] for place in places])
    return {
        "variant": game,
        "checkpoint": checkpoint,
        "name": name,
        "positions": len(places),
        "nodes": mean_of([mine[place]["nodes"] for place in places])[0],
        "bytes": mean_of([mine[place]["bytes"] for place in places])[0],
        "nodes_ratio": nodes,
        "nodes_error": error,
        "bytes_ratio": mean_of([mine[place]["bytes"] / graphs[place]["bytes"] for place in places])[0],
        "share": mean_of(
            [mine[place]["evaluations"] / max(1, mine[place]["simulations"]) for place in places]
        )[0],
    }


def _memory_chart(rows: list[dict[str, Any]]) -> Chart:
    """Nodes of the tree that shares evaluations over those of the graph, over evaluations."""
    series: dict[str, list[Point]] = {}
    for row in rows:
        if row["name"] == CACHE.name:
            point = Point(row["checkpoint"], row["nodes_ratio"], row["nodes_error"])
            series.setdefault(row["variant"], []).append(point)
    return Chart(
        "games-nodes",
        "Nodes of a tree of as many different positions, relative to the graph",
        "lines",
        "evaluations",
        "nodes / nodes of the graph",
        tuple(Series(name, tuple(points)) for name, points in series.items()),
        log_x=True,
        log_y=True,
    )


GAMES_EXPERIMENT = Experiment(
    "games",
    "The graph against the tree in other games",
    "In games besides chess, at equal evaluations: how much stronger is the graph, and how much smaller?",
    {
        "tiny": Size(pairs=1, evaluations=(8,), plies=40, positions=2, simulations=(20, 40)),
        "small": Size(pairs=50, evaluations=(200,), plies=400, positions=10, simulations=(300, 1_000, 3_000)),
        "full": Size(
            pairs=300,
            evaluations=(200, 800),
            plies=400,
            positions=20,
            simulations=(1_000, 3_000, 10_000, 30_000, 100_000),
        ),
    },
    _plan,
    _show,
)
