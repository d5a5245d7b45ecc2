"""Openings of games besides chess: random plies from the start, or the lines of a file.

An opening is written as an engine takes a position: moves, or a text of the board. Random openings are not
balanced; both players play each of them with both colours.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

from anabranch.catalogue import base_name
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, MatchError
from anabranch.match.grid_board import referee_of
from anabranch.match.openings import Opening, read_text

OPENINGS = 500
"""Random openings of a match, where the game has so many."""
ATTEMPTS = 20
"""Random games for each opening before the search for more of them ends."""
PLIES = {"go": 2, "hex": 2, "othello": 6, "tic-tac-toe": 2}
DEFAULT_PLIES = 4
"""Random plies of an opening."""


def random_openings(
    variant: str, plies: int | None = None, *, seed: int = 0, number: int = OPENINGS, game: object = None
) -> list[Opening]:
    """At most so many openings of some random plies, each position once. A pass is not chosen.

    >>> [opening.fen for opening in random_openings("connect-four", 3, number=2)]
    ['7 4 7', '4 1 3']
    """
    if plies is not None and plies < 0:
        raise MatchError(f"openings have random plies from 0 on, not {plies}")
    length = PLIES.get(base_name(variant), DEFAULT_PLIES) if plies is None else plies
    source = random.Random(seed)
    referee = referee_of(variant, game)
    found: dict[str, Opening] = {}
    for _ in range(ATTEMPTS * number):
        moves = _random_moves(referee, length, source)
        if moves is not None:
            found.setdefault(referee.position, Opening(" ".join(moves) or "startpos"))
        if len(found) == number or not length:
            break
    if not found:
        raise MatchError(f"no game of {variant} is still open after {length} random plies")
    return list(found.values())


def _random_moves(referee: Engine, length: int, source: random.Random) -> list[str] | None:
    """Moves to an opening; none where the game was over before."""
    referee.reset()
    moves: list[str] = []
    for _ in range(length):
        legal = referee.legal_moves
        if not legal:
            return None
        move = source.choice([one for one in legal if one != "pass"] or legal)
        referee.play(move)
        moves.append(move)
    return None if referee.is_over else moves


def read_grid_openings(path: str | os.PathLike[str], variant: str, game: object = None) -> list[Opening]:
    """The openings of a file, a line each: moves, or a text of the board; each position once.

    Empty lines and those that begin with '#' are skipped.
    """
    referee = referee_of(variant, game)
    found: dict[str, Opening] = {}
    for number, line in enumerate(read_text(Path(path)).splitlines(), start=1):
        position = line.strip()
        if not position or position.startswith("#"):
            continue
        try:
            referee.position = position
        except AnabranchError as error:
            raise MatchError(f"{path}:{number}: {error}") from error
        if referee.is_over:
            raise MatchError(f"{path}:{number}: the game is already over in {position}")
        found.setdefault(referee.position, Opening(position))
    if not found:
        raise MatchError(f"there is no opening in {path}")
    return list(found.values())
