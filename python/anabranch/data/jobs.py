"""What jobs of training data are to do, as plain records.

The commands have an option for each field, with its text as help. Equal jobs make equal data; a folder keeps
its job, so that the same command continues. How a job is done is in the files named after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias

from anabranch import _core
from anabranch.errors import DataError

TIMEOUT = 20.0
"""Seconds that a teacher may think about anything."""
DECIDED = {"chess": 800, "crazyhouse": 1200}
"""Centipawns that decide a game, by variant: in crazyhouse 700 are far from won."""
DEFAULT_DECIDED = 1000


def check_variant(variant: str, *others: str) -> None:
    """Refuse what has no training data: all but the variants of chess, and `others`."""
    *most, last = (*_core.variants(), *others)
    if variant not in (*most, last):
        raise DataError(f"training data are positions of {', '.join(most)} or {last}, not of {variant}")


@dataclass(frozen=True, slots=True)
class GenerateJob:
    """Games of a teacher against itself. Two equal jobs give the same games with the same teacher."""

    variant: str
    engine: str
    games: int
    """Games in all; more than before extend the job."""
    nodes: int = 400
    """Nodes of the teacher for a position."""
    lines: int = 2
    """Moves that the teacher scores in each position (MultiPV)."""
    seed: int = 1
    """Seed of all random choices."""
    games_per_shard: int = 200
    """Games in a file."""
    opening_plies: tuple[int, int] = (2, 10)
    """Fewest and most random moves at the beginning."""
    playable: int = 400
    """An opening with a score beyond that for either side, in centipawns, is not played."""
    decided: int | None = None
    """Centipawns that end a game if they last three plies.  [default: 800 in chess, 1200 in crazyhouse]"""
    played_out: float = 0.1
    """Share of games that go on although they are decided."""
    weaker: float = 0.1
    """Share of moves drawn by their scores instead of the best."""
    random_moves: float = 0.03
    """Share of moves drawn from all legal ones."""
    longest: int = 300
    """Plies after which a game is a draw."""
    options: dict[str, str] = field(default_factory=dict)
    """UCI options of the teacher."""

    def __post_init__(self) -> None:
        if self.decided is None:
            object.__setattr__(self, "decided", DECIDED.get(self.variant, DEFAULT_DECIDED))

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> GenerateJob:
        """The job of a stored document."""
        known = {entry.name for entry in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        return cls(**{**values, "opening_plies": tuple(stored["opening_plies"])})

    def check(self) -> None:
        """Refuse values that make no sense."""
        check_teacher_job(self, "games", "games_per_shard", "longest")
        for name in ("played_out", "weaker", "random_moves"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} is a share between 0 and 1")
        if self.weaker + self.random_moves > 1.0:
            raise DataError("weaker and random moves together are more than all moves")
        low, high = self.opening_plies
        if not 0 <= low <= high:
            raise DataError("the number of opening plies is a range from 0 or more upwards")

    @property
    def shards(self) -> int:
        """How many files the job makes."""
        return -(-self.games // self.games_per_shard)

    def numbers(self, shard: int) -> range:
        """The games of a shard."""
        first = shard * self.games_per_shard
        return range(first, min(first + self.games_per_shard, self.games))


@dataclass(frozen=True, slots=True)
class LabelJob:
    """Positions to be judged by a teacher."""

    variant: str
    engine: str
    sources: tuple[str, ...]
    nodes: int = 400
    """Nodes of the teacher for a position."""
    lines: int = 2
    """Moves that the teacher scores in each position (MultiPV)."""
    positions_per_shard: int = 5_000
    """Positions in a file, at least; a game is never divided."""
    depth: int | None = None
    """Depth of the teacher's search instead of nodes: all lines are searched equally deep."""
    block: int = 1
    """Positions sent ahead in a row, after which the teacher forgets what it knows."""
    options: dict[str, str] = field(default_factory=dict)
    """UCI options of the teacher."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        check_teacher_job(
            self, "positions_per_shard", "block", *(("depth",) if self.depth is not None else ())
        )
        if not self.sources:
            raise DataError("there is nothing to label")


@dataclass(frozen=True, slots=True)
class SampleJob:
    """Positions to be drawn from games, for a teacher."""

    variant: str
    sources: tuple[str, ...]
    network: str
    """The network whose policy leads away from the games."""
    per_game: int = 24
    """Positions of a game, at most."""
    policy_share: float = 0.45
    """Share of positions that are some moves of the policy away from the game."""
    random_share: float = 0.2
    """Share of positions that are some random moves away from the game."""
    policy_plies: int = 6
    """Most moves of the policy; the number is drawn from 1 on."""
    random_plies: int = 2
    """Most random moves; the number is drawn from 1 on."""
    search_share: float = 0.0
    """Share of positions that are then replaced by a leaf of a search from there."""
    search_evaluations: int = 60
    """Evaluations of that search."""
    temperature: float = 1.5
    """Divides the logits of the policy: above 1, unlikely moves are drawn more often."""
    seed: int = 1
    """Seed of all random choices."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        check_variant(self.variant)
        for name in ("per_game", "policy_plies", "random_plies", "search_evaluations"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1")
        for name in ("policy_share", "random_share", "search_share"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} is a share between 0 and 1")
        if self.policy_share + self.random_share > 1.0:
            raise DataError(
                "the shares of the policy and of random moves together are more than all positions"
            )
        if not self.temperature > 0.0:
            raise DataError("temperature must be above 0")


@dataclass(frozen=True, slots=True)
class ExpandJob:
    """Positions after the moves that a teacher has scored."""

    variant: str
    source: str
    gap: float = 200.0
    """Centipawns g: a move that is worse than the best by d is kept with probability exp(-d / g)."""
    least: float = 0.2
    """Least probability with which a move is kept; 1 keeps all."""
    parents: bool = True
    """Also the labelled positions themselves."""
    seed: int = 1
    """Seed of all random choices."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        check_variant(self.variant)
        if not self.gap > 0.0:
            raise DataError("gap must be above 0")
        if not 0.0 <= self.least <= 1.0:
            raise DataError("least is a share between 0 and 1")


TeacherJob: TypeAlias = GenerateJob | LabelJob


def check_teacher_job(job: TeacherJob, *counts: str) -> None:
    """Refuse values that make no sense; `counts` are the names of further numbers that are at least 1."""
    check_variant(job.variant)
    for name in ("nodes", "lines", *counts):
        if getattr(job, name) < 1:
            raise DataError(f"{name} must be at least 1")
    for name, value in job.options.items():
        if not name.strip() or "\n" in name + value or "\r" in name + value:
            raise DataError(f"the UCI option {name!r} is not one line")


@dataclass(frozen=True, slots=True)
class PgnJob:
    """Which games are read, and how they are stored."""

    variant: str = "chess"
    min_rating: int | None = None
    """Elo that both players have at least."""
    min_time: int | None = None
    """Least seconds for a game, base time and 40 increments: 180 leaves out bullet. Games without a time
    control pass.
    """
    max_time: int | None = None
    """Most seconds for a game, counted in the same way."""
    min_plies: int = 10
    """Least length of a game, both sides' moves."""
    skip_plies: int = 0
    """Positions at the beginning of a game that are left out."""
    bots: bool = False
    """Also games of players with the title BOT."""
    abandoned: bool = False
    """Also abandoned games and breaches of rules."""
    evaluated: bool = False
    """Only games with scores in their comments."""
    unfinished: bool = False
    """Also games without a result."""
    max_games: int | None = None
    """Games after which to stop."""
    positions_per_shard: int = 100_000
    """Positions in a file, about."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        check_variant(self.variant, "chess960")
        for name, value in asdict(self).items():
            if isinstance(value, int) and value < 0:
                raise DataError(f"{name} must be at least 0")
        if self.positions_per_shard < 1:
            raise DataError("positions_per_shard must be at least 1")

    def filter(self) -> dict[str, Any]:
        """The part that the core's reader takes."""
        values = asdict(self)
        return {name: values[name] for name in values if name not in ("max_games", "positions_per_shard")}
