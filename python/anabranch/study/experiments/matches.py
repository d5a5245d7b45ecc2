"""What experiments of matches share: players, matches, and the table of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from anabranch.catalogue import is_grid
from anabranch.defaults import OUTSIDE, resolve
from anabranch.errors import SettingError, StudyError
from anabranch.match.adjudication import Adjudication
from anabranch.match.grid_openings import random_openings
from anabranch.match.openings import Opening, bundled_openings, read_openings
from anabranch.match.player import Budget, PlayerSpec
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Tally
from anabranch.settings import Settings
from anabranch.study.figures import Point, Series, Table, columns
from anabranch.study.plan import Study, StudyMatch

WIDTH = ("batch_size", "batches_in_flight", "width_visits", "width_linear", "wave_least")
"""The settings that decide how many leaves are in flight."""
OF_PAPER = ("alphazero", "mcgs")
"""How the presets of the paper begin. The paper has 16 x 2 leaves in flight, 0.04 % of its evaluations per
move; at our budgets they would be 1 % and more, and cost strength (docs/performance.md)."""


@dataclass(frozen=True, slots=True)
class Side:
    """An engine of ours: a preset with some settings changed."""

    name: str
    preset: str
    options: dict[str, str] = field(default_factory=dict)

    def settings(self, study: Study, variant: str) -> dict[str, str]:
        """What is changed in a variant. Own options take precedence over those of the study.

        The presets of the paper have the leaves in flight of `default`, so that sides differ only by what is
        tried.
        """
        is_of_paper = self.preset.startswith(OF_PAPER)
        width = width_of_default(variant, study.settings.get("evaluator")) if is_of_paper else {}
        return {**width, **study.settings, **self.options}

    def player(self, study: Study, variant: str, budget: Budget, name: str | None = None) -> PlayerSpec:
        """The player in a variant."""
        tables = {"tablebases": study.tablebases} if study.tablebases and variant == "chess" else {}
        options = {**tables, **self.settings(study, variant)}
        return PlayerSpec(name or self.name, "preset", self.preset, options, budget)


def own_width(preset: str) -> dict[str, str]:
    """The leaves in flight that a preset itself has, as options."""
    settings = Settings.preset(preset)
    return {name: str(getattr(settings, name)) for name in WIDTH}


@cache
def width_of_default(variant: str, evaluator: str | None) -> dict[str, str]:
    """The leaves in flight of `default` in a variant, with an evaluator or without one named.

    An evaluator that is not here has those of evaluators in Python: results can be read without it.

    >>> width_of_default("chess", None)["width_visits"]
    '1024'
    >>> width_of_default("chess", "./net.onnx")["width_visits"]
    '8'
    """
    try:
        settings = resolve("default", variant, evaluator, {})
    except SettingError:
        settings = Settings.preset("default").changed(OUTSIDE)
    return {name: str(getattr(settings, name)) for name in WIDTH}


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
        first=study.first_pair,
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
    standings = tally.standings()
    matchup = standings.matchups[0]
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
        "faults": standings.faults,
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
