"""What recipes of matches share: players, contests, and the table of their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from anabranch.match.adjudication import RESIGN_PLIES, Adjudication, resign_score
from anabranch.match.openings import Opening, bundled_openings, read_openings
from anabranch.match.player import Budget, PlayerSpec
from anabranch.match.schedule import MatchSpec
from anabranch.match.standing import Count
from anabranch.study.exhibit import Column, Table, estimate_of
from anabranch.study.plan import Contest, Study

DRAW_SCORE = 10


@dataclass(frozen=True, slots=True)
class Side:
    """An engine of ours: a preset with some settings changed."""

    name: str
    preset: str
    options: dict[str, str] = field(default_factory=dict)

    def player(self, study: Study, variant: str, budget: Budget, name: str | None = None) -> PlayerSpec:
        """It as a player. What is tried goes before what all have; tables are those of chess."""
        tables = {"tablebases": study.tablebases} if study.tablebases and variant == "chess" else {}
        options = {**tables, **study.settings, **self.options}
        return PlayerSpec(name or self.name, "preset", self.preset, options, budget)


def make_contest(
    study: Study, variant: str, group: str, first: PlayerSpec, second: PlayerSpec, x: float = 0.0
) -> Contest:
    """A match of two, named after the first."""
    assert study.size.pairs is not None
    spec = MatchSpec(
        (first, second),
        openings(variant),
        study.size.pairs,
        variant,
        adjudication=_adjudication(study, variant),
        seed=study.seed,
    )
    return Contest(variant, group, first.name, spec, x)


@cache
def openings(variant: str) -> tuple[Opening, ...]:
    """The suite that comes with the package."""
    path = bundled_openings(variant)
    assert path is not None
    return tuple(read_openings(path, variant))


def _adjudication(study: Study, variant: str) -> Adjudication:
    return Adjudication(
        resign_score=resign_score(variant),
        resign_plies=RESIGN_PLIES,
        draw_score=DRAW_SCORE,
        tablebases=study.tablebases if variant == "chess" else None,
        longest=study.size.plies,
    )


def results_table(
    title: str,
    contests: Iterable[tuple[Contest, Count]],
    paper: Mapping[tuple[str, str], float] | None = None,
) -> Table:
    """One row per contest, from the side of the first player."""
    columns = [
        Column("variant", "variant"),
        Column("name", "player"),
        Column("against", "against"),
        Column("group", "budget per move"),
        Column("games", "games", "count"),
        Column("wins", "won", "count"),
        Column("draws", "drawn", "count"),
        Column("losses", "lost", "count"),
        Column("score", "score", "percent"),
        Column("elo", "Elo", "estimate"),
        Column("normalised_elo", "normalised Elo", "estimate"),
        Column("los", "LOS", "percent"),
        Column("pairs", "pairs 0, ½, 1, 1½, 2", "counts"),
    ]
    if paper is not None:
        after = 1 + [column.key for column in columns].index("elo")
        columns.insert(after, Column("paper", "Elo in the paper", "count"))
    rows = [_row(contest, count, paper) for contest, count in contests]
    return Table(title, tuple(columns), tuple(rows))


def _row(contest: Contest, count: Count, paper: Mapping[tuple[str, str], float] | None) -> dict[str, Any]:
    meetings = count.standing().meetings[0]
    row = {
        "variant": contest.variant,
        "name": meetings.first,
        "against": meetings.second,
        "group": contest.group,
        "games": meetings.games,
        "wins": meetings.wins,
        "draws": meetings.draws,
        "losses": meetings.losses,
        "score": meetings.points / meetings.games,
        "elo": estimate_of(meetings.elo) if sum(meetings.pairs) else None,
        "normalised_elo": estimate_of(meetings.normalised_elo) if sum(meetings.pairs) else None,
        "los": meetings.superiority,
        "pairs": list(meetings.pairs),
    }
    if paper is not None:
        row["paper"] = paper.get((contest.variant, contest.name))
    return row


def fault_notes(contests: Iterable[tuple[Contest, Count]]) -> tuple[str, ...]:
    """A sentence for each player that lost games by its own fault: such results mean little."""
    notes = []
    for contest, count in contests:
        for name, kinds in count.standing().faults.items():
            told = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
            notes.append(f"{contest.key}: {name} lost games by its own fault: {told}.")
    return tuple(notes)
