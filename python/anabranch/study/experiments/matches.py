"""What experiments of matches share: players, matches, and the table of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from anabranch.catalogue import is_grid
from anabranch.errors import StudyError
from anabranch.match.adjudication import Adjudication
from anabranch.match.grid_openings import random_openings
from anabranch.match.openings import Opening, bundled_openings, read_openings
from anabranch.match.player import Budget, PlayerSpec
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Tally
from anabranch.study.figures import Point, Series, Table, columns
from anabranch.study.plan import Study, StudyMatch


@dataclass(frozen=True, slots=True)
class Side:
    """An engine of ours: a preset with some settings changed."""

    name: str
    preset: str
    options: dict[str, str] = field(default_factory=dict)

    def player(self, study: Study, variant: str, budget: Budget, name: str | None = None) -> PlayerSpec:
        """The player in a variant. Own options take precedence over those of the study."""
        tables = {"tablebases": study.tablebases} if study.tablebases and variant == "chess" else {}
        options = {**tables, **study.settings, **self.options}
        return PlayerSpec(name or self.name, "preset", self.preset, options, budget)


def make_match(
    study: Study, variant: str, group: str, first: PlayerSpec, second: PlayerSpec, x: float = 0.0
) -> StudyMatch:
    """A match of two, named after the first."""
    assert study.size.pairs is not None
    spec = MatchSpec(
        (first, second),
        openings(variant),
        study.size.pairs,
        variant,
        adjudication=replace(
            Adjudication.usual(variant),
            tablebases=study.tablebases if variant == "chess" else None,
            longest=study.size.plies,
        ),
        seed=study.seed,
    )
    return StudyMatch(variant, group, first.name, spec, x)


@cache
def openings(variant: str) -> tuple[Opening, ...]:
    """The openings that come with the package; besides chess, random ones."""
    if is_grid(variant):
        return tuple(random_openings(variant))
    path = bundled_openings(variant)
    if path is None:
        raise StudyError(f"the package has no openings of {variant}")
    return tuple(read_openings(path, variant))


def results_table(
    title: str,
    matches: Iterable[tuple[StudyMatch, Tally]],
    paper: Mapping[tuple[str, str], float] | None = None,
) -> Table:
    """One row for each match, from the point of view of the first player."""
    head = (
        *columns("text", variant="variant", name="player", against="against", group="budget per move"),
        *columns("count", games="games", wins="won", draws="drawn", losses="lost"),
        *columns("percent", score="score"),
        *columns("estimate", elo="Elo"),
        *(() if paper is None else columns("count", paper="Elo in the paper")),
        *columns("estimate", normalised_elo="normalised Elo"),
        *columns("percent", los="LOS"),
        *columns("counts", pairs="pairs 0, ½, 1, 1½, 2"),
    )
    return Table(title, head, tuple(_row(match, tally, paper) for match, tally in matches))


def _row(match: StudyMatch, tally: Tally, paper: Mapping[tuple[str, str], float] | None) -> dict[str, Any]:
    matchup = tally.standings().matchups[0]
    has_pairs = sum(matchup.pairs) > 0
    row = {
        "variant": match.variant,
        "name": matchup.first,
        "against": matchup.second,
        "group": match.group,
        "games": matchup.games,
        "wins": matchup.wins,
        "draws": matchup.draws,
        "losses": matchup.losses,
        "score": matchup.points / matchup.games,
        "elo": matchup.elo.to_dict() if has_pairs else None,
        "normalised_elo": matchup.normalised_elo.to_dict() if has_pairs else None,
        "los": matchup.superiority,
        "pairs": list(matchup.pairs),
    }
    if paper is not None:
        row["paper"] = paper.get((match.variant, match.name))
    return row


def elo_series(
    matches: Iterable[tuple[StudyMatch, Tally]],
    name_of: Callable[[StudyMatch], str],
    x_of: Callable[[StudyMatch], float | str],
) -> list[Series]:
    """The Elo of all matches, in series by name."""
    series: dict[str, list[Point]] = {}
    for match, tally in matches:
        elo = tally.standings().matchups[0].elo
        series.setdefault(name_of(match), []).append(Point.of(x_of(match), elo))
    return [Series(name, tuple(points)) for name, points in series.items()]


def fault_notes(matches: Iterable[tuple[StudyMatch, Tally]]) -> tuple[str, ...]:
    """A sentence for each player that lost games by its own fault: such results mean little."""
    notes = []
    for match, tally in matches:
        for name, kinds in tally.standings().faults.items():
            listed = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
            notes.append(f"{match.key}: {name} lost games by its own fault: {listed}.")
    return tuple(notes)
