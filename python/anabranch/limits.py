"""The limits of a search: checked when they are made, and passed on as one `Limits` down to the core."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from anabranch.errors import LimitError, MoveError
from anabranch.positions import Move, read_move


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What ends a search: the first limit that is met. At least one is needed.

    >>> Limits(simulations=1e6, time=2)
    Limits(simulations=1000000, evaluations=None, time=2.0, mate=None, root_moves=())
    >>> Limits(root_moves=["e2e4"])
    Traceback (most recent call last):
        ...
    anabranch.errors.LimitError: a search needs a limit: simulations, evaluations, time or mate
    """

    simulations: int | None = None
    """Simulations of a search."""
    evaluations: int | None = None
    """Evaluations of positions. A simulation that stops early needs none."""
    time: float | None = None
    """Seconds of a search."""
    mate: int | None = None
    """Moves of a mate that is to be proven."""
    root_moves: Sequence[Move] = ()
    """The moves to choose among; none means all. They do not end a search."""

    def __post_init__(self) -> None:
        checked = {
            "simulations": check_count("simulations", self.simulations, 1),
            "evaluations": check_count("evaluations", self.evaluations, 1),
            "time": None if self.time is None else check_seconds("time", self.time, exclusive=True),
            "mate": check_count("mate", self.mate, 1, most=1000),
        }
        if all(value is None for value in checked.values()):
            raise LimitError("a search needs a limit: simulations, evaluations, time or mate")
        for name, value in (*checked.items(), ("root_moves", _read_moves(self.root_moves))):
            object.__setattr__(self, name, value)

    def for_core(self) -> dict[str, Any]:
        """The limits as keyword arguments for the core.

        >>> Limits(simulations=5).for_core()["simulations"]
        5
        """
        return {
            "simulations": self.simulations,
            "evaluations": self.evaluations,
            "time": self.time,
            "mate": self.mate,
            "root_moves": list(_read_moves(self.root_moves)),
        }


class LimitKeywords(TypedDict, total=False):
    """Limits as keyword arguments of `Engine.search`."""

    simulations: int | None
    evaluations: int | None
    time: float | None
    mate: int | None
    root_moves: Sequence[Move] | None


def one_of(limits: Limits | None, keywords: LimitKeywords, position: object = None) -> Limits:
    """Limits that are given as one object, or by keyword.

    `position` is what was given as the position, or the positions: a limit in its place is refused.
    """
    if any(isinstance(given, Limits) for given in (position, *keywords.values())):
        raise LimitError("a Limits is given by the name limits, as in search(limits=Limits(simulations=800))")
    if isinstance(position, (int, float)) and limits is None and not keywords:
        raise LimitError(f"a limit is given by its name, as in search(simulations=800), not as {position!r}")
    if limits is not None and not isinstance(limits, Limits):
        raise LimitError(f"limits are a Limits, as in search(limits=Limits(simulations=800)), not {limits!r}")
    if limits is None:
        return Limits(**keywords)  # type: ignore[arg-type]  # it takes None for root_moves
    if keywords:
        raise LimitError(f"limits are given as one object or by keyword ({', '.join(keywords)}), not both")
    return limits


def check_count(name: str, given: Any, least: int, most: int = 2**63 - 1) -> int | None:
    """A whole number within bounds, or `None`."""
    if given is None:
        return None
    number: int | None
    try:
        whole = isinstance(given, float) and given.is_integer()
        number = None if isinstance(given, bool) else int(given) if whole else operator.index(given)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise LimitError(f"{name} must be a whole number from {least} to {most}, not {given!r}")
    return number


def check_seconds(name: str, given: Any, *, exclusive: bool) -> float:
    """A number of seconds of at least 0, or above 0 if that is `exclusive`."""
    try:
        number = math.nan if isinstance(given, (bool, str)) else float(given)
    except (TypeError, ValueError):
        number = math.nan
    if not (0.0 <= number < 1e9) or (exclusive and number == 0.0):
        above = "above" if exclusive else "of at least"
        raise LimitError(f"{name} must be a number of seconds {above} 0, not {given!r}")
    return number


def _read_moves(moves: object) -> tuple[str, ...]:
    if moves is None:
        return ()
    if isinstance(moves, str) or not isinstance(moves, Iterable):
        raise MoveError(f"root_moves is a list of moves, not {moves!r}")
    return tuple(read_move(move) for move in moves)
