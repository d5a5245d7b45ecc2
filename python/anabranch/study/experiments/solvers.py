"""Simulations to a proof in games whose results are known, for the solvers of the literature and ours."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from anabranch.bench.suite import checkpoints
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, own_width
from anabranch.study.experiments.measurements import plan_sides, read_positions
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study, file_name

GAMES = ("connect-four", "hex:size=4")


def _graph(name: str, **options: str) -> Side:
    """The same search by PUCT on a graph, without priors; only the solver differs.

    It has the paper's mini-batches, because of these solvers one alone makes waves.
    """
    fixed = {"solver": "on", "idle_collections": str(1 << 20), **own_width("mcgs")}
    return Side(name, "mcgs", {**fixed, **options})


SIDES = (
    Side("uct+solver", "uct+solver"),
    _graph("mcts-solver", solver_rule="mcts-solver"),
    _graph("exact-win", solver_rule="exact-win"),
    _graph("exact-win-2", solver_rule="exact-win-2"),
    _graph("exact-win-2, pn", solver_rule="exact-win-2", pn_weight="1.0"),
    Side("default", "default"),
    Side("default, uniform", "default", {"evaluator": "uniform"}),
)


@cache
def positions(variant: str) -> tuple[dict[str, Any], ...]:
    """Positions with their scores, as `anabranch suite` reads them."""
    text = read_positions("solvers", variant, f"solved-{file_name(variant)}.txt")
    return tuple(
        {"position": line} for line in text.splitlines() if line.strip() and not line.startswith("#")
    )


def _plan(study: Study) -> Plan:
    most = max(study.size.simulations or (0,))
    return plan_sides(study, "exact", SIDES, positions, variants=GAMES, simulations=most)


def _show(results: StudyResults) -> Figures:
    most = max(results.study.size.simulations or (0,))
    rows: list[dict[str, Any]] = []
    charts = []
    for variant in results.variants:
        series = []
        for side in SIDES:
            if found := results.found_by(side.name, variant):
                series.append(Series(side.name, _points(found, most)))
                rows.append({"variant": variant, "name": side.name, **_row(found)})
        if series:
            name, title = f"solvers-{file_name(variant)}", f"{variant}: results proven"
            labels = "simulations", "positions proven, %"
            charts.append(Chart(name, title, "lines", *labels, tuple(series), log_x=True))
    head = (
        *columns("text", variant="game", name="search"),
        *columns("count", positions="positions", wrong="wrong"),
        *columns("percent", proven="proven", wins="of wins", draws="of draws", losses="of losses"),
        *columns("count", median="median simulations to proof"),
    )
    note = (
        f"At most {most:,} simulations. A position that is not proven counts as later than all others in the "
        "median; there is none where less than half are proven. MCTS-Solver proves no draws."
    )
    return Figures((Table("Results proven", head, tuple(rows)),), tuple(charts), (note,))


def _points(found: list[dict[str, Any]], most: int) -> tuple[Point, ...]:
    needed = [one["simulations"] if one["proven"] else most + 1 for one in found]
    return tuple(
        Point(number, 100.0 * sum(count <= number for count in needed) / len(found))
        for number in checkpoints(most)
    )


def _row(found: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "positions": len(found),
        "wrong": sum(one["wrong"] for one in found),
        "proven": sum(one["proven"] for one in found) / len(found),
    }
    for result, name in (("win", "wins"), ("draw", "draws"), ("loss", "losses")):
        some = [one["proven"] for one in found if one["result"] == result]
        row[name] = sum(some) / len(some) if some else None
    middle = median(one["simulations"] if one["proven"] else float("inf") for one in found)
    row["median"] = middle if middle < float("inf") else None
    return row


SOLVERS = Experiment(
    "solvers",
    "Simulations to a proof, by solver",
    "How many simulations does each solver need to prove the result of a position?",
    {
        "tiny": Size(positions=3, simulations=(300,)),
        "small": Size(positions=20, simulations=(10_000,)),
        "full": Size(positions=60, simulations=(100_000,)),
    },
    _plan,
    _show,
)
