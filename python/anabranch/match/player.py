"""Players: the interface of a match to engines, and their descriptions.

`play(position, limits)` returns a move; a player that fails raises `Fault`, which loses the game and not the
match. Players are described by plain values that can be sent to another process or machine and made there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Protocol, Self

import chess

from anabranch.errors import MatchError

Kind = Literal["preset", "uci"]
FaultKind = Literal["crash", "hang", "time", "illegal", "garbage", "not ready", "endless"]


class Fault(Exception):  # noqa: N818 - a fault of a player is no error of this package
    """A player failed: it crashed, hung, was late or played no legal move."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a player: for each move, or with a clock for the game. Times are in seconds."""

    evaluations: int | None = None
    """Evaluations per move; for UCI programs, nodes."""
    simulations: int | None = None
    """Simulations per move; for UCI programs, nodes."""
    nodes: int | None = None
    """Nodes per move of a UCI program; for our engine, simulations."""
    time: float | None = None
    """Seconds per move."""
    clock: float | None = None
    """Seconds on the clock of a game; written with an increment as 60+0.5."""
    increment: float = 0.0
    """Seconds that the clock gains with each move."""

    def __post_init__(self) -> None:
        for name in ("evaluations", "simulations", "nodes"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise MatchError(f"{name} must be at least 1, not {number}")
        for name in ("time", "clock"):
            number = getattr(self, name)
            if number is not None and not 0.0 < number < 1e7:
                raise MatchError(f"{name} is a number of seconds above 0, not {number}")
        if not 0.0 <= self.increment < 1e7:
            raise MatchError(f"an increment is a number of seconds from 0 on, not {self.increment}")
        if self.increment and self.clock is None:
            raise MatchError("an increment needs a clock")
        if self.time is not None and self.clock is not None:
            raise MatchError("a player has a time for each move or a clock for the game, not both")

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        limits = (self.evaluations, self.simulations, self.nodes, self.time, self.clock)
        return any(limit is not None for limit in limits)

    def __str__(self) -> str:
        words = [f"{number} {name}" for name, number in self._counts()]
        if self.time is not None:
            words.append(f"{self.time:g} s per move")
        if self.clock is not None:
            words.append(f"{self.clock:g} s + {self.increment:g} s")
        return ", ".join(words) or "no limit"

    def _counts(self) -> list[tuple[str, int]]:
        counts = [(name, getattr(self, name)) for name in ("evaluations", "simulations", "nodes")]
        return [(name, number) for name, number in counts if number is not None]


@dataclass(frozen=True, slots=True)
class MoveLimits:
    """The limits of one move."""

    budget: Budget
    left: tuple[float, float] | None = None
    """Seconds on the clocks of White and Black, where the mover has one."""
    increments: tuple[float, float] = (0.0, 0.0)

    def own_time(self, color: chess.Color) -> float | None:
        """Seconds until the flag falls, if it can."""
        if self.left is not None and self.budget.clock is not None:
            return self.left[0 if color == chess.WHITE else 1]
        return self.budget.time


class PlayResult(NamedTuple):
    """A move, with the score, depth and nodes that the player reports."""

    move: Any
    """A `chess.Move`; in games besides chess a text."""
    score: int | None = None
    """Centipawns for the side to move, mates as in `anabranch.formats.scores`; besides chess, thousandths of
    the value."""
    depth: int | None = None
    nodes: int | None = None
    seconds: float = 0.0
    proven: str | None = None
    """`win`, `draw` or `loss` for the side to move, in games besides chess."""


class Player(Protocol):
    """A player. It plays one game at a time, in one thread."""

    @property
    def title(self) -> str:
        """The name that the engine reports."""

    def new_game(self, seed: int) -> None:
        """Forget the last game; random choices follow the seed where the player has one."""

    def play(self, position: Any, limits: MoveLimits) -> PlayResult:
        """A legal move in a position, a `chess.Board` or a `GridBoard`, which holds the moves of the game;
        raises `Fault`.
        """

    def close(self) -> None:
        """End its processes."""


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """The description of a player."""

    name: str
    kind: Kind
    target: str
    """A preset, or the command of a UCI program."""
    options: dict[str, str] = field(default_factory=dict)
    """Settings of our engine, or UCI options."""
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        if self.kind not in ("preset", "uci"):
            raise MatchError(f"a player is a preset or a UCI program, not {self.kind!r}")
        if not self.name or any(mark in self.name for mark in '"\n\r[]'):
            raise MatchError(f"the name {self.name!r} cannot stand in a PGN file")
        for name, value in self.options.items():
            if not name.strip() or any(mark in name + value for mark in "\n\r"):
                raise MatchError(f"the option {name!r} of {self.name} is not one line")

    @property
    def command(self) -> list[str]:
        """The words of the command of a UCI program."""
        return shlex.split(self.target)

    def with_budget(self, budget: Budget) -> PlayerSpec:
        """The same player, with this budget if it has none of its own."""
        return self if self.budget.is_set else replace(self, budget=budget)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The player of a stored document."""
        return cls(**{**stored, "budget": Budget(**stored["budget"])})


_LIMITS = {entry.name for entry in fields(Budget)}


def read_player(text: str) -> PlayerSpec:
    """Read a player of the form NAME=KIND:TARGET,OPTION=VALUE,...

    >>> read_player("az=preset:alphazero,c_init=2.0,evaluations=800").options
    {'c_init': '2.0'}
    >>> read_player("sf=uci:stockfish,nodes=10000,Hash=64").budget.nodes
    10000
    >>> read_player("preset:mcgs").name
    'mcgs'
    """
    head, *rest = text.split(",")
    name, equals, given = head.partition("=")
    if not equals or ":" in name:
        name, given = "", head
    kind, colon, target = given.partition(":")
    if not (colon and target and kind in ("preset", "uci")):
        raise MatchError(f"a player is NAME=preset:PRESET,... or NAME=uci:COMMAND,..., not {text!r}")
    options: dict[str, str] = {}
    limits: dict[str, str] = {}
    for assignment in rest:
        key, equals, value = assignment.partition("=")
        if not (equals and key.strip()):
            raise MatchError(f"an option of a player is NAME=VALUE, not {assignment!r}")
        chosen = limits if key.strip() in _LIMITS else options
        if key.strip() in chosen:
            raise MatchError(f"the option {key.strip()} of {name or target} stands twice")
        chosen[key.strip()] = value.strip()
    name = name.strip() or target.split()[0]
    return PlayerSpec(name, kind, target, options, read_budget(limits))  # type: ignore[arg-type]


def read_budget(limits: Mapping[str, str]) -> Budget:
    """Read a budget; a clock may be written with its increment.

    >>> read_budget({"clock": "60+0.5"})
    Budget(evaluations=None, simulations=None, nodes=None, time=None, clock=60.0, increment=0.5)
    """
    values: dict[str, Any] = {}
    for name, text in limits.items():
        base, plus, increment = text.partition("+") if name == "clock" else (text, "", "")
        try:
            values[name] = int(text) if name in ("evaluations", "simulations", "nodes") else float(base)
            if plus:
                values["increment"] = float(increment)
        except ValueError:
            raise MatchError(f"{name} takes a number, not {text!r}") from None
    return Budget(**values)
