"""The Gumbel root against PUCT at small budgets."""

from __future__ import annotations

from anabranch.match.player import Budget
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, elo_series, fault_notes, make_match, results_table
from anabranch.study.figures import Chart, Figures, ReferenceLine, in_order
from anabranch.study.folder import StudyResults
from anabranch.study.plan import VARIANTS, Plan, Size, Study, file_name

GAMES = (*VARIANTS, "connect-four", "hex:size=6")
ONE_BY_ONE = {"batch_size": "1"}
"""Leaves in flight would be a large part of budgets this small."""
PUCT = Side("puct", "gumbel", {"gumbel": "off", "selection": "puct", **ONE_BY_ONE})
TRIED = (
    Side("gumbel", "gumbel", ONE_BY_ONE),
    Side("gumbel root", "gumbel", {"selection": "puct", **ONE_BY_ONE}),
)


def _plan(study: Study) -> Plan:
    return Plan(
        tuple(
            make_match(
                study,
                variant,
                f"{number} evaluations",
                side.player(study, variant, Budget(evaluations=number)),
                PUCT.player(study, variant, Budget(evaluations=number)),
                number,
            )
            for variant in study.variants(GAMES)
            for number in study.size.evaluations or ()
            for side in TRIED
        )
    )


def _show(results: StudyResults) -> Figures:
    played = results.matches
    charts = []
    for variant in in_order(one.variant for one, _ in played):
        here = [(one, tally) for one, tally in played if one.variant == variant]
        charts.append(
            Chart(
                f"gumbel-{file_name(variant)}",
                f"{variant}: Elo against PUCT at equal evaluations",
                "lines",
                "evaluations per move",
                "Elo",
                tuple(elo_series(here, lambda one: one.name, lambda one: one.x)),
                (ReferenceLine("puct", 0.0),),
                log_x=True,
            )
        )
    notes = (
        "All three are the preset gumbel without leaves in flight. 'gumbel root' selects below the root by "
        "PUCT, 'puct' at the root too, and plays the most visited move.",
    )
    table = results_table("Each against PUCT", played)
    return Figures((table,), tuple(charts), (*notes, *fault_notes(played)))


GUMBEL = Experiment(
    "gumbel",
    "The Gumbel root at small budgets",
    "Does a root by sequential halving with Gumbel noise gain over PUCT where evaluations are few?",
    {
        "tiny": Size(pairs=1, evaluations=(4,), plies=8),
        "small": Size(pairs=50, evaluations=(8, 16, 32, 64), plies=400),
        "full": Size(pairs=300, evaluations=(8, 16, 32, 64), plies=400),
    },
    _plan,
    _show,
)
