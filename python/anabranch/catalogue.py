"""The games on a grid that ship: their names, rules and parameters.

The core owns the games. A game is named with its parameters in one text, "hex:size=7"; an engine takes such a
name in place of that of a variant of chess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from anabranch import _core
from anabranch.errors import VariantError
from anabranch.named_games import OBJECT, ROWS, is_reference


@dataclass(frozen=True, slots=True)
class GameParameter:
    """A parameter of a game.

    >>> {game.name: game for game in games()}["hex"].parameters[0].name
    'size'
    """

    name: str
    default: str
    takes: str
    """What it takes, in words."""
    meaning: str


@dataclass(frozen=True, slots=True)
class GameRow:
    """The description of a game, from the core.

    >>> {game.name: game for game in games()}["connect-four"].moves
    'the column, 1 to 7'
    """

    name: str
    rules: str
    """Its rules in a sentence."""
    moves: str
    """How a move is written."""
    parameters: tuple[GameParameter, ...]


@cache
def games() -> tuple[GameRow, ...]:
    """The games on a grid; `variants` has the variants of chess.

    >>> [game.name for game in games()]
    ['breakthrough', 'connect-four', 'go', 'hex', 'othello', 'tic-tac-toe']
    """
    return tuple(
        GameRow(
            row["name"],
            row["rules"],
            row["moves"],
            tuple(GameParameter(**line) for line in row["parameters"]),
        )
        for row in _core.grid_games()
    )


def base_name(name: str) -> str:
    """A name without its parameters, as it is written.

    >>> base_name("Connect_Four"), base_name("hex:size=7")
    ('connect-four', 'hex')
    """
    return name.partition(":")[0].strip().lower().replace("_", "-").replace(" ", "-")


@lru_cache(maxsize=256)
def is_grid(name: str) -> bool:
    """Whether a name is that of a game on a grid or of one written in Python, and not of a variant of chess.

    >>> is_grid("hex:size=7"), is_grid("anabranch.examples:ConnectFour"), is_grid("crazyhouse")
    (True, True, False)
    """
    return base_name(name) in {OBJECT, ROWS, *(game.name for game in games())} or is_reference(name)


def split_parameters(
    name: str, given: Mapping[str, bool | int | float | str]
) -> tuple[str, dict[str, bool | int | float | str]]:
    """A game named with the parameters among some keywords, and the other keywords.

    >>> split_parameters("hex", {"size": 7, "seed": 1})
    ('hex:size=7', {'seed': 1})
    >>> split_parameters("chess", {"seed": 1})
    ('chess', {'seed': 1})
    """
    if not is_grid(name) or base_name(name) in (OBJECT, ROWS) or is_reference(name):
        return name, dict(given)
    known = {parameter.name for game in games() for parameter in game.parameters}
    own = [f"{key}={value}" for key, value in given.items() if key in known]
    if own and ":" in name:
        raise VariantError(f"parameters are in the name, {name!r}, or given by keyword, not both")
    rest = {key: value for key, value in given.items() if key not in known}
    return (f"{name}:{','.join(own)}" if own else name), rest
