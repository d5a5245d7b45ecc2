"""Changes tried one by one against the same opponent: the ablation of the paper, and switches of ours.

Each is a base and what is tried instead, at equal evaluations per move; each change plays a match of its own
against the base, from the same openings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.match.player import Budget
from anabranch.settings import Settings
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import (
    Side,
    elo_series,
    fault_notes,
    make_match,
    own_width,
    results_table,
)
from anabranch.study.figures import Chart, Figures, Point, Series, in_order
from anabranch.study.folder import StudyResults
from anabranch.study.paper import ABLATION, CONDITIONS
from anabranch.study.plan import Plan, Size, Study, file_name

COMBINED = "mcgs-combined"
SIZES = {
    "tiny": Size(pairs=1, evaluations=(16,), plies=12),
    "small": Size(pairs=50, evaluations=(800,), plies=400),
    "full": Size(pairs=300, evaluations=(3_000,), plies=400),
}


@dataclass(frozen=True, slots=True)
class Bars:
    """A base, and what is tried against it."""

    base: Side
    tried: tuple[Side, ...]
    paper: Mapping[tuple[str, str], float] | None = None

    def plan(self, study: Study) -> Plan:
        """Each change against the base, at every budget, in both variants."""
        assert study.size.evaluations is not None
        return Plan(
            tuple(
                make_match(
                    study,
                    variant,
                    f"{evaluations} evaluations",
                    side.player(study, variant, Budget(evaluations=evaluations)),
                    self.base.player(study, variant, Budget(evaluations=evaluations)),
                    evaluations,
                )
                for variant in study.variants()
                for evaluations in study.size.evaluations
                for side in self.tried
            )
        )

    def show(self, results: StudyResults) -> Figures:
        """A bar for each change, in a chart for each variant."""
        played = results.matches
        charts = []
        for variant in in_order(match.variant for match, _ in played):
            here = [(one, tally) for one, tally in played if one.variant == variant]
            series = elo_series(here, lambda one: one.group, lambda one: one.name)
            known = [
                Point(side.name, self.paper[variant, side.name])
                for side in self.tried
                if self.paper is not None and (variant, side.name) in self.paper
            ]
            if known:
                series.append(Series("the paper, 5 s per move", tuple(known), "paper"))
            title = f"{variant}: Elo against {self.base.name}"
            charts.append(
                Chart(
                    f"{results.study.experiment}-{file_name(variant)}",
                    title,
                    "bars",
                    "",
                    "Elo",
                    tuple(series),
                )
            )
        table = results_table(f"Each against {self.base.name}", played, self.paper)
        notes = (CONDITIONS,) if self.paper is not None else ()
        return Figures((table,), tuple(charts), (*notes, *fault_notes(played)))


def _combined(name: str, **options: str) -> Side:
    return Side(name, COMBINED, options)


def _batched(name: str, **options: str) -> Side:
    """`mcgs-combined` with the mini-batches of the paper, where they are what is tried or matter for it."""
    return Side(name, COMBINED, {**own_width(COMBINED), **options})


def _experiment(name: str, title: str, question: str, of_paper: bool = False) -> Experiment:
    bars = COMPARISONS[name]
    return Experiment(name, title, question, SIZES, bars.plan, bars.show, of_paper)


_ABLATION = Bars(
    Side("alphazero", "alphazero"),
    tuple(
        Side(preset, preset)
        for preset in (
            "alphazero+cache",
            "alphazero+solver",
            "alphazero+epsilon",
            "alphazero+qmove",
            "alphazero+checks",
            "mcgs",
            COMBINED,
            "default",
        )
    ),
    ABLATION,
)
_BACKUPS = Bars(
    _combined("paper+gap"),
    (
        _combined("tree", backup="tree"),
        _combined("tree+cache", backup="tree+cache"),
        _combined("naive", backup="naive", stop="none"),
        _combined("paper+visits", stop="visits"),
        _combined("paper+none", stop="none"),
        _combined("delta+gap", backup="delta"),
        _combined("delta+visits", backup="delta", stop="visits"),
        _combined("recompute+visits", backup="recompute", stop="visits"),
        _combined("recompute+none", backup="recompute", stop="none"),
    ),
)
_MERGE = Bars(_combined("ply"), (_combined("clock", merge="clock"),))
_VIRTUAL = Bars(
    _batched("loss 1.0"),
    (
        _batched("visit", virtual_mode="visit"),
        _batched("loss 0.5", virtual_loss="0.5"),
        _batched("loss 2.0", virtual_loss="2.0"),
    ),
)
_Q_EPSILON = Bars(
    _combined("0.01"),
    tuple(_combined(value, q_epsilon=value) for value in ("0", "0.001", "0.003", "0.03", "0.1", "0.3")),
)

_SETTINGS = Bars(
    _batched(COMBINED),
    (
        _batched("urgency", urgency="reduction"),
        _batched("temperature", node_temperature="1.0"),
        _batched("virtual visits", virtual_mode="visit"),
        _combined("width", **own_width("default")),
        _batched("mates", mate_root=str(Settings().mate_root)),
        Side("default", "default"),
    ),
)


def _without(name: str, **options: str) -> Side:
    return Side(f"without {name}", "default", options)


_LEAVE_ONE_OUT = Bars(
    Side("default", "default"),
    (
        _without("graph", backup="tree"),
        _without("correction", backup="naive", stop="none"),
        _without("solver", solver="false"),
        _without("epsilon", epsilon_greedy="0"),
        _without("checks", epsilon_checks="0"),
        _without("q", chooser="visits"),
        _without("virtual visits", virtual_mode="loss"),
        _without("width", width_visits="0", batch_size="16", wave_least="0"),
        _without("mates", mate_root="0"),
    ),
)

_DOSES = ("0.01", "0.03", "0.1")
_DOSE = Bars(
    _combined("none", epsilon_greedy="0", epsilon_checks="0"),
    (
        *(_combined(f"greedy {dose}", epsilon_greedy=dose, epsilon_checks="0") for dose in _DOSES),
        *(_combined(f"checks {dose}", epsilon_greedy="0", epsilon_checks=dose) for dose in _DOSES),
    ),
)


def _in_flight(leaves: int) -> Side:
    """`default` with the same number of leaves in flight from the first visit on."""
    batches = min(2, leaves)
    options = {"width_visits": 0, "batch_size": leaves // batches, "batches_in_flight": batches}
    return Side(f"{leaves} in flight", "default", {name: str(value) for name, value in options.items()})


_WIDTH = Bars(
    _in_flight(1), (*(_in_flight(leaves) for leaves in (4, 16, 64, 256)), Side("default", "default"))
)

_NEIGHBOURS = {
    "c_init": ("1.2", "2.0", "3.2"),
    "c_base": ("1000",),
    "urgency_reduction": ("0.15", "0.45", "0.7"),
    "table_values": ("true",),
    "node_temperature": ("0.85", "1.2"),
    "stop": ("visits",),
    "merge": ("clock",),
    "epsilon_greedy": ("0.03",),
    "epsilon_checks": ("0.03",),
    "chooser": ("visits", "lcb"),
    "q_weight": ("1", "4"),
}
_TUNING = Bars(
    Side("default", "default"),
    (
        *(
            Side(f"{name} {value}", "default", {name: value})
            for name, values in _NEIGHBOURS.items()
            for value in values
        ),
        Side("backup delta", "default", {"backup": "delta"}),
        Side("backup recompute", "default", {"backup": "recompute", "stop": "visits"}),
    ),
)

COMPARISONS: dict[str, Bars] = {
    "ablation": _ABLATION,
    "settings": _SETTINGS,
    "leave-one-out": _LEAVE_ONE_OUT,
    "backups": _BACKUPS,
    "merge": _MERGE,
    "virtual": _VIRTUAL,
    "q-epsilon": _Q_EPSILON,
    "dose": _DOSE,
    "width": _WIDTH,
    "tuning": _TUNING,
}
"""What is tried against what, by experiment."""

BARS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        _experiment(
            "ablation",
            "Each enhancement alone, and all together",
            "How much does each enhancement of the paper gain over AlphaZero's search, and do gains add up?",
            of_paper=True,
        ),
        _experiment(
            "backups",
            "Backup modes and stop rules",
            "Which rule for values at transpositions, and which rule to stop there, plays best within "
            "mcgs-combined?",
        ),
        _experiment(
            "merge",
            "What makes two positions one node",
            "Should positions be one node at equal ply, as in the paper, or at equal reversible-move clock?",
        ),
        _experiment(
            "virtual",
            "Virtual loss against virtual visits",
            "How should trajectories in flight look to the next one?",
        ),
        _experiment(
            "q-epsilon",
            "The gap that is tolerated",
            "At which gap between edge and node should a trajectory stop to correct it? The paper has 0.01.",
        ),
        _experiment(
            "dose",
            "How much exploration",
            "Which share of simulations should explore new moves, or new checks? The paper has 0.01 of each.",
        ),
        _experiment(
            "width",
            "Leaves in flight",
            "What do leaves in flight cost at equal evaluations, against one at a time?",
        ),
        _experiment(
            "settings",
            "From the paper's settings to ours",
            "What does each change of `default` gain over mcgs-combined?",
        ),
        _experiment(
            "leave-one-out",
            "The default without one of its parts",
            "What does each part gain where all others are there?",
        ),
        _experiment(
            "tuning",
            "Other values of the default's settings",
            "Is there a better value next to that of `default`?",
        ),
    )
}
