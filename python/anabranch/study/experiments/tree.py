"""The first figure of the paper: the graph against a tree with a cache of evaluations, over time controls."""

from __future__ import annotations

from anabranch.match.player import Budget
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, elo_series, fault_notes, make_match, results_table
from anabranch.study.figures import Chart, Figures
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study

GRAPH = Side("mcgs", "mcgs")
TREE = Side("alphazero+cache", "alphazero+cache")


def _plan(study: Study) -> Plan:
    assert study.size.times is not None
    return Plan(
        tuple(
            make_match(
                study,
                variant,
                f"{seconds:g} s",
                GRAPH.player(study, variant, Budget(time=seconds)),
                TREE.player(study, variant, Budget(time=seconds)),
                seconds,
            )
            for variant in study.variants()
            for seconds in study.size.times
        )
    )


def _show(results: StudyResults) -> Figures:
    played = results.matches
    series = elo_series(played, lambda one: one.variant, lambda one: one.x)
    title = f"{GRAPH.name} against {TREE.name}"
    chart = Chart(
        results.study.experiment, title, "lines", "seconds per move", "Elo", tuple(series), log_x=True
    )
    notes = (
        "The paper shows the graph ahead at every time control in crazyhouse, slightly more so over time; it "
        "gives no numbers in its text.",
        "Time controls mean the same only where as many games run at once as there are cores.",
    )
    return Figures((results_table("Over time controls", played),), (chart,), (*notes, *fault_notes(played)))


MCGS_VS_TREE = Experiment(
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
