"""Positions of games of rows with their targets: the bytes of their states.

What a network reads of a state is computed by the game's `features` when it learns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.check import check_game
from anabranch.errors import SelfPlayError
from anabranch.named_games import load_reference
from anabranch.rows import RowsAdapter
from anabranch.selfplay.records import PlacesWriter


@dataclass(frozen=True, slots=True)
class RowsShape:
    """The sizes of the arrays of samples."""

    area: int
    """Bytes of a state."""
    actions: int
    constants: int = 0


def game_of_rows(game: str) -> RowsAdapter:
    """A game of rows for two players, by name; others are refused.

    >>> game_of_rows("anabranch.examples:ConnectFour").plane_shape
    (3, 6, 7)
    """
    adapter = load_reference(game)
    if not isinstance(adapter, RowsAdapter):
        raise SelfPlayError(f"self-play needs the features of a game of rows, and {game} is one of objects")
    if not adapter.takes_turns:
        raise SelfPlayError(f"self-play is for games of two players, and {game} is one of one player")
    return adapter


def check_rows(game: str) -> None:
    """Refuse a game of rows at fault, its symmetries included, before it is played."""
    if problems := check_game(game_of_rows(game).game):
        raise SelfPlayError(f"{game} cannot be learned: {problems[0]}")


class RowsWriter(PlacesWriter):
    """Collects the positions of games of rows."""

    def __init__(self, adapter: RowsAdapter) -> None:
        super().__init__(RowsShape(adapter.bytes, len(adapter.texts)))
        self._adapter = adapter

    def read(self, text: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
        """The bytes of the state, nothing, and the player to move."""
        row, _, players, _ = self._adapter.read(text)
        return np.frombuffer(row, np.uint8), np.zeros(0, np.uint8), players[0]
