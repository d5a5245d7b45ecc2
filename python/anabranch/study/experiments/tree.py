"""The first figure of the paper: the graph against a tree with a cache of evaluations, over time controls."""

from __future__ import annotations

from anabranch.match.player import Budget
from anabranch.study.exhibit import Chart, Exhibit, Point, Series, in_order
from anabranch.study.folder import Findings
from anabranch.study.plan import VARIANTS, Plan, Recipe, Size, Study
from anabranch.study.recipes.contests import Side, fault_notes, make_contest, results_table

GRAPH = Side("mcgs", "mcgs")
TREE = Side("alphazero+cache", "alphazero+cache")


def _plan(study: Study) -> Plan:
    assert study.size.times is not None
    return Plan(
        tuple(
            make_contest(
                study,
                variant,
                f"{seconds:g} s",
                GRAPH.player(study, variant, Budget(time=seconds)),
                TREE.player(study, variant, Budget(time=seconds)),
                seconds,
            )
            for variant in VARIANTS
            for seconds in study.size.times
        )
    )


def _show(findings: Findings) -> Exhibit:
    played = findings.contests
    series = []
    for variant in in_order(contest.variant for contest, _ in played):
        points = []
        for one, count in played:
            if one.variant == variant:
                points.append(Point.of(one.x, count.standing().meetings[0].elo))
        series.append(Series(variant, tuple(points)))
    chart = Chart(
        findings.study.recipe,
        "mcgs against alphazero+cache",
        "lines",
        "seconds per move",
        "Elo",
        tuple(series),
        log_x=True,
    )
    notes = (
        "The paper shows the graph ahead at every time control in crazyhouse, slightly more so over time; it "
        "gives no numbers in its text.",
        "Time controls mean the same only where as many games run at once as there are cores.",
    )
    return Exhibit((results_table("Over time controls", played),), (chart,), (*notes, *fault_notes(played)))


MCGS_VS_TREE = Recipe(
    "mcgs-vs-tree",
    "The graph against a tree with an evaluation cache",
    "At equal time, what does the graph gain over a tree that shares evaluations but not values?",
    {
        "tiny": Size(pairs=1, times=(0.005, 0.01), plies=12),
        "small": Size(pairs=50, times=(0.05, 0.1, 0.2), plies=400),
        "full": Size(pairs=200, times=(0.1, 0.2, 0.5, 1.0, 2.0, 5.0), plies=400),
    },
    _plan,
    _show,
    of_paper=True,
)
