"""Positions with their targets, as arrays: how games become training data, in memory and in files.

Those of games on a grid are here, those of chess and its variants in `chess_records`, those of games written
in Python in `rows_records`. Boards are read from the texts of positions, so that a file can be checked by
people. Nothing here searches or learns.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import SelfPlayError
from anabranch.jobs.files import write_atomic
from anabranch.networks.grid import GridInputs

_OWNERS = {"x": 0, "w": 0, "o": 1, "b": 1}
ArraysByName = dict[str, NDArray[Any]]


class PlaySamples(ABC):
    """Positions with their targets; B of them. The fields of a class are its arrays."""

    value: NDArray[np.float32]
    """[B]: the value of the root for the side to move, exact where it is proven."""
    result: NDArray[np.float32]
    """[B]: the result of the game for the side to move; the mean of merged positions."""
    drawn: NDArray[np.float32]
    """[B]: the share of draws in it, 0 or 1 for one game."""
    exact: NDArray[np.bool_]
    """[B]: the value is proven."""
    weight: NDArray[np.float32]
    """[B]."""

    def __len__(self) -> int:
        return len(self.value)

    @abstractmethod
    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Some of them."""

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All of some, in their order."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.names()))

    @classmethod
    def names(cls) -> list[str]:
        """The names of the arrays."""
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def unpacked(cls, arrays: ArraysByName) -> ArraysByName:
        """The arrays of a file as the fields have them."""
        return arrays

    def packed(self) -> ArraysByName:
        """The arrays as they are in a file."""
        return {name: getattr(self, name) for name in self.names()}

    def write(self, path: Path) -> None:
        """Write to a file, which appears whole or not at all."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **self.packed())  # type: ignore[arg-type]
        write_atomic(path, buffer.getvalue())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read from a file."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                return cls(**cls.unpacked({name: arrays[name] for name in cls.names()}))
        except (OSError, ValueError, KeyError, EOFError, IndexError, BadZipFile) as error:
            raise SelfPlayError(f"{path} does not hold positions of self-play: {error}") from error


class SampleShape(Protocol):
    """The sizes of the arrays of `GridSamples`."""

    @property
    def area(self) -> int:
        """Number of cells."""

    @property
    def constants(self) -> int:
        """Planes that are the same on all cells."""

    @property
    def actions(self) -> int:
        """Size of the policy."""


@dataclass(frozen=True, slots=True)
class GridSamples(PlaySamples):
    """Positions of one game on a grid, or of one of rows."""

    cells: NDArray[np.uint8]
    """[B, area]: 0 empty, 1 own, 2 enemy, row by row from the top; of rows the bytes of the state."""
    constants: NDArray[np.uint8]
    """[B, planes - 2]: the planes that are the same on all cells."""
    legal: NDArray[np.bool_]
    """[B, A]: the places of legal moves in the policy."""
    policy: NDArray[np.float32]
    """[B, A]: the policy target."""
    value: NDArray[np.float32]
    result: NDArray[np.float32]
    drawn: NDArray[np.float32]
    exact: NDArray[np.bool_]
    weight: NDArray[np.float32]
    has_policy: NDArray[np.bool_]
    """[B]: there is a policy target."""

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Some of them."""
        return type(self)(*(getattr(self, name)[rows] for name in self.names()))

    def packed(self) -> ArraysByName:
        """Legal moves as bits."""
        plain = {name: getattr(self, name) for name in self.names()}
        return plain | {"legal": np.packbits(self.legal, axis=1)}

    @classmethod
    def unpacked(cls, arrays: ArraysByName) -> ArraysByName:
        """Legal moves from bits."""
        legal = np.unpackbits(arrays["legal"], axis=1, count=arrays["policy"].shape[1])
        return arrays | {"legal": legal.astype(bool)}


def player_of(text: str) -> int:
    """The player to move, of the text of a position.

    >>> player_of("x.o/.x./... o"), player_of("8/8/8/8/8/8/8/K1k5 w - - 0 1")
    (1, 0)
    """
    return _OWNERS[text.split()[1]]


def read_board(text: str, inputs: GridInputs) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Cells [area] and constant planes [planes - 2] of a position's text.

    >>> from anabranch.networks.grid import inputs_of
    >>> read_board("x.o/.x./... o", inputs_of("tic-tac-toe"))[0].tolist()
    [2, 0, 1, 0, 2, 0, 0, 0, 0]
    """
    board, _, *note = text.split()
    player = player_of(text)
    codes = {ord("."): 0, ord("x"): 1 + player, ord("o"): 2 - player}
    cells = np.array([codes[ord(letter)] for letter in board if letter != "/"], np.uint8)
    constants = np.zeros(inputs.constants, np.uint8)
    constants[0] = player == 0
    if inputs.constants > 1:  # Go: the last move was a pass
        constants[1] = bool(note and note[0].isdigit() and int(note[0]) > 0)
    return cells, constants


class SampleWriter(ABC):
    """Collects the positions of games, rows in the order of the fields of their class."""

    RESULT: int
    """Place of the result in a row; the share of draws follows."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._players: list[int | None] = []
        self._game = 0

    @abstractmethod
    def names(self, session: Any, moves: Sequence[str]) -> Sequence[Any]:
        """Legal moves of a session's position as `add` takes them."""

    @abstractmethod
    def add(
        self, text: str, moves: Sequence[Any], policy: Any, value: float, exact: bool, surprise: float
    ) -> None:
        """A position of the present game; `surprise` becomes its weight."""

    @abstractmethod
    def add_exact(self, text: str, value: float) -> None:
        """A position of which only the exact result is known, for the side to move."""

    @abstractmethod
    def samples(self) -> PlaySamples:
        """All positions."""

    def _keep(self, row: tuple[Any, ...], player: int | None) -> None:
        """Keep a row; with the player to move, it gets the result of the game."""
        self._rows.append(row)
        self._players.append(player)

    def end_game(self, result: float) -> None:
        """The present game ended with a result for the first player."""
        for number in range(self._game, len(self._rows)):
            player, row = self._players[number], self._rows[number]
            if player is not None:
                own = result if player == 0 else -result
                ended = (own, float(own == 0.0))
                self._rows[number] = (*row[: self.RESULT], *ended, *row[self.RESULT + 2 :])
        self._game = len(self._rows)


class PlacesWriter(SampleWriter):
    """Collects positions as `GridSamples`, whose moves are places of the policy."""

    RESULT = 5

    def __init__(self, shape: SampleShape) -> None:
        super().__init__()
        self._shape = shape

    @abstractmethod
    def read(self, text: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
        """Cells, constant planes and the player to move of a position's text."""

    def names(self, session: Any, moves: Sequence[str]) -> Sequence[int]:
        """The places of moves in the policy."""
        place_of = dict(session.places())
        return [place_of[move] for move in moves]

    def add(
        self, text: str, moves: Sequence[int], policy: Any, value: float, exact: bool, surprise: float
    ) -> None:
        """A position with the places of its moves."""
        cells, constants, player = self.read(text)
        legal, target = np.zeros(self._shape.actions, bool), np.zeros(self._shape.actions, np.float32)
        legal[list(moves)] = True
        target[list(moves)] = policy
        self._keep((cells, constants, legal, target, value, 0.0, 0.0, exact, surprise, True), player)

    def add_exact(self, text: str, value: float) -> None:
        """A position without a policy."""
        cells, constants, _ = self.read(text)
        legal, target = np.ones(self._shape.actions, bool), np.zeros(self._shape.actions, np.float32)
        row = (cells, constants, legal, target, value, value, float(value == 0.0), True, 0.0, False)
        self._keep(row, None)

    def samples(self) -> GridSamples:
        """All positions."""
        return samples_of(self._rows, self._shape)


class GridWriter(PlacesWriter):
    """Collects the positions of games on a grid."""

    def __init__(self, inputs: GridInputs) -> None:
        super().__init__(inputs)
        self._inputs = inputs

    def read(self, text: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
        """Cells, constant planes and the player to move."""
        return *read_board(text, self._inputs), player_of(text)


def samples_of(rows: Sequence[tuple[Any, ...]], inputs: SampleShape) -> GridSamples:
    """Positions from rows in the order of the fields of `GridSamples`."""
    floats = (np.float32,) * 4
    kinds = (np.uint8, np.uint8, bool, *floats, bool, np.float32, bool)
    shapes: list[tuple[int, ...]] = [
        (inputs.area,),
        (inputs.constants,),
        (inputs.actions,),
        (inputs.actions,),
    ]
    shapes += [()] * (len(kinds) - len(shapes))
    columns = [
        np.array([row[i] for row in rows], kind).reshape(len(rows), *shape)
        for i, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))
    ]
    return GridSamples(*columns)
