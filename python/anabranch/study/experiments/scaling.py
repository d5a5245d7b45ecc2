"""Elo over evaluations per move, for AlphaZero's search, the paper's and ours, with a reference engine.

A match between distant budgets carries little information, because one side wins all. So neighbours play:
`alphazero`, `mcgs-combined` and `default` in this order at each budget, and each search at one budget and the
next. The reference at several numbers of nodes plays against the latter two at every budget. Ratings are
fitted to all games together.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from anabranch.errors import MatchError
from anabranch.match.player import Budget, PlayerSpec
from anabranch.match.ratings import measured, rate
from anabranch.match.statistics import Estimate
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, fault_notes, make_match, results_table
from anabranch.study.figures import (
    Chart,
    Figures,
    Point,
    ReferenceLine,
    Series,
    Table,
    columns,
    in_order,
)
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study, StudyMatch, file_name

TREE = Side("alphazero", "alphazero")
STRONGER = (Side("mcgs-combined", "mcgs-combined"), Side("default", "default"))
SEARCHES = (TREE, *STRONGER)
REFERENCES = {"chess": ("stockfish", 10_000), "crazyhouse": ("fairy-stockfish", 1_000_000)}
"""The program and its nodes per move, as the paper has them (its own programs were of 2020)."""


def _plan(study: Study) -> Plan:
    return Plan(tuple(one for variant in study.variants() for one in _contests(study, variant)))


def _contests(study: Study, variant: str) -> list[StudyMatch]:
    budgets = study.size.evaluations
    assert budgets is not None
    assert study.size.reference_nodes is not None
    found = []

    def player(side: Side, evaluations: int) -> PlayerSpec:
        return side.player(study, variant, Budget(evaluations=evaluations), f"{side.name} {evaluations}")

    for evaluations in budgets:
        for weaker, stronger in pairwise(SEARCHES):
            first, second = player(stronger, evaluations), player(weaker, evaluations)
            found.append(make_match(study, variant, "equal budgets", first, second, evaluations))
    for side in SEARCHES:
        for less, more in pairwise(budgets):
            first, second = player(side, more), player(side, less)
            found.append(make_match(study, variant, "next budget", first, second, more))
    program, most = REFERENCES.get(variant, ("", 0))
    for nodes in sorted({min(most, number) for number in study.size.reference_nodes} - {0}):
        reference = PlayerSpec(f"{program} {nodes} nodes", "uci", program, {}, Budget(nodes=nodes))
        for side in STRONGER:
            for evaluations in budgets:
                first = player(side, evaluations)
                found.append(make_match(study, variant, reference.name, first, reference, evaluations))
    return found


def _show(results: StudyResults) -> Figures:
    played = results.matches
    tables, charts, notes = [], [], []
    for variant in in_order(match.variant for match, _ in played):
        try:
            ratings = _rate(results, variant)
        except MatchError as error:
            notes.append(f"{variant}: no ratings yet, because {error}.")
            continue
        beyond = [name for name, rating in ratings.items() if not math.isfinite(rating.value)]
        notes += [
            f"{variant}: {name} is beyond measure; its games are in the table of matches." for name in beyond
        ]
        gains = _gains(results, variant)
        tables += [_table(variant, ratings), _gain_table(variant, gains)]
        charts += [_chart(results, variant, ratings), _gain_chart(variant, gains)]
    tables.append(results_table("All matches", played))
    notes.append(
        "Ratings are relative to alphazero at the largest budget; errors are by bootstrap over pairs."
    )
    return Figures(tuple(tables), tuple(charts), (*notes, *fault_notes(played)))


def _rate(results: StudyResults, variant: str, anchor: int | None = None) -> dict[str, Estimate]:
    """Ratings relative to the tree at a budget, without one the largest at which it has played."""
    pairs = [pair for one, tally in results.matches if one.variant == variant for pair in tally.rated]
    if not pairs:
        raise MatchError("no pair of games is complete")
    met = {name for pair in pairs for name in (pair.first, pair.second)}
    budgets = results.study.size.evaluations
    assert budgets is not None
    played = [budget for budget in budgets if f"{TREE.name} {budget}" in met]
    anchor_name = f"{TREE.name} {anchor or max(played, default=max(budgets))}"
    ratings = rate(pairs, anchor_name)
    for name in ratings.keys() - measured(pairs, anchor_name):
        ratings[name] = Estimate(math.copysign(math.inf, ratings[name].value), math.inf)
    return ratings


def _gains(results: StudyResults, variant: str) -> dict[str, dict[int, Estimate]]:
    """How far each search is above the tree at each budget at which both have played, by all games."""
    budgets = results.study.size.evaluations
    assert budgets is not None
    found: dict[str, dict[int, Estimate]] = {side.name: {} for side in STRONGER}
    for budget in budgets:
        try:
            ratings = _rate(results, variant, budget)
        except MatchError:  # the tree has not played there yet
            continue
        for side in STRONGER:
            if (name := f"{side.name} {budget}") in ratings:
                found[side.name][budget] = ratings[name]
    return found


def _gain_table(variant: str, gains: dict[str, dict[int, Estimate]]) -> Table:
    return Table(
        f"Gains over {TREE.name} at equal budgets in {variant}, by all games",
        (
            *columns("text", name="player"),
            *columns("count", budget="evaluations per move"),
            *columns("estimate", gain="Elo"),
        ),
        tuple(
            {"name": name, "budget": budget, "gain": gain.to_dict()}
            for name, found in gains.items()
            for budget, gain in found.items()
        ),
    )


def _gain_chart(variant: str, gains: dict[str, dict[int, Estimate]]) -> Chart:
    return Chart(
        f"scaling-gain-{file_name(variant)}",
        f"{variant}: gain over {TREE.name}",
        "lines",
        "evaluations per move",
        "Elo",
        tuple(
            Series(name, tuple(Point.of(budget, gain) for budget, gain in found.items()))
            for name, found in gains.items()
        ),
        (ReferenceLine(TREE.name, 0.0),),
        log_x=True,
    )


def _table(variant: str, ratings: dict[str, Estimate]) -> Table:
    rows: list[dict[str, Any]] = [
        {"name": name, "rating": rating.to_dict()}
        for name, rating in sorted(ratings.items(), key=lambda item: -item[1].value)
    ]
    head = (*columns("text", name="player"), *columns("estimate", rating="Elo"))
    return Table(f"Ratings in {variant}", head, tuple(rows))


def _chart(results: StudyResults, variant: str, ratings: dict[str, Estimate]) -> Chart:
    budgets = results.study.size.evaluations
    assert budgets is not None
    series = []
    for side in SEARCHES:
        points = [
            Point.of(evaluations, ratings[name])
            for evaluations in budgets
            if (name := f"{side.name} {evaluations}") in ratings
        ]
        series.append(Series(side.name, tuple(points)))
    levels = tuple(
        ReferenceLine(name, rating.value, rating.to_dict()["error"])
        for name, rating in ratings.items()
        if variant in REFERENCES and name.startswith(REFERENCES[variant][0]) and math.isfinite(rating.value)
    )
    return Chart(
        f"scaling-{file_name(variant)}",
        f"{variant}: Elo over evaluations per move",
        "lines",
        "evaluations per move",
        "Elo",
        tuple(series),
        levels,
        log_x=True,
    )


SCALING = Experiment(
    "scaling",
    "Elo over evaluations per move",
    "Does the gain of all enhancements together grow with the budget, and where does Stockfish stand?",
    {
        "tiny": Size(pairs=1, evaluations=(8, 16), plies=12, reference_nodes=(50,)),
        "small": Size(
            pairs=50, evaluations=(200, 400, 800, 1_600), plies=400, reference_nodes=(300, 1_000, 10_000)
        ),
        "full": Size(
            pairs=150,
            evaluations=(400, 800, 1_600, 3_200, 6_400, 12_800, 30_000),
            plies=400,
            reference_nodes=(1_000, 10_000, 100_000, 1_000_000),
        ),
    },
    _plan,
    _show,
    of_paper=True,
)
