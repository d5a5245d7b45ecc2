"""The description of a study: an experiment at a scale, and its matches and measurements.

Descriptions can be compared, stored and sent to another machine. Equal studies consist of the same games and
searches. Nothing here plays, measures or draws.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from anabranch.errors import StudyError
from anabranch.match.schedule import MatchSpec

VARIANTS = ("crazyhouse", "chess")
SCALES = ("tiny", "small", "full")
GROWS = ("pairs", "positions")
"""Sizes that may grow when a study is continued."""
EXPERIMENT = "recipe"
"""The key of the experiment in files."""


def file_name(variant: str) -> str:
    """The name of a variant or a game, as a part of a file name.

    >>> file_name("breakthrough:width=6,height=6"), file_name("chess")
    ('breakthrough-width-6-height-6', 'chess')
    """
    return re.sub(r"[^\w.-]+", "-", variant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is played and searched; `None` where an experiment has no such size."""

    pairs: int | None = None
    """Pairs of games of every two players that meet."""
    positions: int | None = None
    """Positions, or openings of single games, that are measured."""
    evaluations: tuple[int, ...] | None = None
    """Budgets per move, or checkpoints of searches."""
    simulations: tuple[int, ...] | None = None
    """Checkpoints of searches."""
    times: tuple[float, ...] | None = None
    """Time controls: seconds per move."""
    plies: int | None = None
    """Plies after which a game ends."""
    reference_nodes: tuple[int, ...] | None = None
    """Nodes per move of the reference engine, those of the paper at most; 0 leaves it out."""

    def changed(self, experiment: str, changes: Mapping[str, Any]) -> Self:
        """Another size. A size that the experiment does not have is refused."""
        for name, value in changes.items():
            if getattr(self, name) is None:
                has = ", ".join(entry.name for entry in fields(self) if getattr(self, entry.name) is not None)
                raise StudyError(f"the experiment {experiment} has no {name}; it has {has}")
            least = 0 if name == "reference_nodes" else 1 if name != "times" else 1e-3
            for number in value if isinstance(value, tuple) else (value,):
                if not least <= number < 1e9:
                    raise StudyError(f"{name} are numbers from {least:g} on, not {number}")
            if value == ():
                raise StudyError(f"{name} need a number")
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, without sizes that the experiment does not have."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value is not None
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The size of a stored document."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Study:
    """An experiment at a scale."""

    experiment: str
    scale: str
    """The name of the scale that the size began with."""
    size: Size
    settings: dict[str, str] = field(default_factory=dict)
    """Settings of all our engines; those that the experiment tries take precedence."""
    tablebases: str | None = None
    """Folder with Syzygy tables for matches of chess: our engines probe them, and they end games."""
    seed: int = 0
    """Of all random choices."""
    first_pair: int = 0
    """The number of the first pair of each match: several machines can play parts of one study."""
    games: tuple[str, ...] = ()
    """Variants or other games that take the place of those of the experiment."""

    def __post_init__(self) -> None:
        if self.first_pair and self.size.pairs is None:
            raise StudyError(
                f"the experiment {self.experiment} has no pairs of games, so it has no first pair"
            )
        if self.first_pair < 0:
            raise StudyError(f"the number of the first pair is 0 or more, not {self.first_pair}")

    def variants(self, usual: tuple[str, ...] = VARIANTS) -> tuple[str, ...]:
        """The variants and games of the study; without any of its own the usual ones of the experiment."""
        return self.games or usual

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            EXPERIMENT: self.experiment,
            "scale": self.scale,
            "size": self.size.to_dict(),
            "settings": dict(self.settings),
            "tablebases": self.tablebases,
            "seed": self.seed,
            "first_pair": self.first_pair,
            "games": list(self.games),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The study of a stored document; other values in it are skipped."""
        named = {**stored, "experiment": stored[EXPERIMENT], "size": Size.from_dict(stored["size"])}
        named["games"] = tuple(stored.get("games") or ())  # earlier versions stored none
        named["first_pair"] = stored.get("first_pair", 0)
        return cls(**{entry.name: named[entry.name] for entry in fields(cls)})


@dataclass(frozen=True, slots=True)
class StudyMatch:
    """A match of two players, a part of a study."""

    variant: str
    group: str
    """The matches it is compared with: a budget or a time control, in words."""
    name: str
    """What is tried."""
    spec: MatchSpec
    x: float = 0.0
    """The budget as a number, for figures."""

    @property
    def key(self) -> str:
        """Unique in a study; also the path of its folder."""
        return "/".join(part.replace(" ", "-") for part in (file_name(self.variant), self.group, self.name))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A search or a game whose course is recorded."""

    kind: str
    """The function of `anabranch.study.measure` that does it."""
    variant: str
    name: str
    """What is tried."""
    place: int
    """Number of the position."""
    about: dict[str, Any]
    """The arguments of the function, as plain values."""
    group: str = ""

    @property
    def key(self) -> str:
        """Unique in a study."""
        return "/".join(part for part in (self.variant, self.group, self.name, str(self.place)) if part)


@dataclass(frozen=True, slots=True)
class Plan:
    """The matches and measurements of a study."""

    matches: tuple[StudyMatch, ...] = ()
    measurements: tuple[Measurement, ...] = ()

    @property
    def variants(self) -> list[str]:
        """The variants and games of all parts, in order."""
        names = [match.variant for match in self.matches] + [one.variant for one in self.measurements]
        return list(dict.fromkeys(names))

    def chosen(self, variants: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> Plan:
        """The part of some variants, and of some names of players or groups; without any, all.

        A player of one group is named `GROUP/PLAYER`.
        """
        parts: list[StudyMatch | Measurement] = [*self.matches, *self.measurements]
        known = {name for part in parts for name in (part.name, part.group) if name}
        precise = {f"{part.group}/{part.name}" for part in parts}
        for name in names:
            if name not in known | precise:
                group = name.partition("/")[0]
                has = {one for one in precise if one.startswith(f"{group}/")} or known
                raise StudyError(f"the study has no {name}; it has {', '.join(sorted(has))}")
        has = {part.variant for part in parts}
        for variant in variants:
            if variant not in has:
                raise StudyError(f"the study has no {variant}; it has {', '.join(sorted(has))}")

        def is_chosen(part: StudyMatch | Measurement) -> bool:
            is_named = any(name in names for name in (part.name, part.group, f"{part.group}/{part.name}"))
            return (not variants or part.variant in variants) and (not names or is_named)

        return Plan(tuple(filter(is_chosen, self.matches)), tuple(filter(is_chosen, self.measurements)))
