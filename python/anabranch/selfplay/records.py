"""Positions with their targets, as arrays: how games become training data, in memory and in files.

Boards are read from the texts of positions, so that a file can be checked by people. Nothing here searches or
learns.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import SelfPlayError
from anabranch.jobs.files import write_atomic
from anabranch.networks.grid import GridInputs

_OWNERS = {"x": 0, "o": 1}


@dataclass(frozen=True, slots=True)
class GridSamples:
    """Positions of one game on a grid; B of them."""

    cells: NDArray[np.uint8]
    """[B, area]: 0 empty, 1 own, 2 enemy, row by row from the top."""
    constants: NDArray[np.uint8]
    """[B, planes - 2]: the planes that are the same on all cells."""
    legal: NDArray[np.bool_]
    """[B, A]: the places of legal moves in the policy."""
    policy: NDArray[np.float32]
    """[B, A]: the policy target."""
    value: NDArray[np.float32]
    """[B]: the value of the root for the side to move, exact where it is proven."""
    result: NDArray[np.float32]
    """[B]: the result of the game for the side to move."""
    exact: NDArray[np.bool_]
    """[B]: the value is proven."""
    weight: NDArray[np.float32]
    """[B]."""
    has_policy: NDArray[np.bool_]
    """[B]: there is a policy target."""

    def __len__(self) -> int:
        return len(self.value)

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Some of them."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    def write(self, path: Path) -> None:
        """Write to a file, which appears whole or not at all."""
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays["legal"] = np.packbits(self.legal, axis=1)
        np.savez_compressed(buffer, **arrays)
        write_atomic(path, buffer.getvalue())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read from a file."""
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                found = {field.name: arrays[field.name] for field in fields(cls)}
                actions = found["policy"].shape[1]
                found["legal"] = np.unpackbits(found["legal"], axis=1, count=actions).astype(bool)
            return cls(**found)
        except (OSError, ValueError, KeyError, EOFError, IndexError, BadZipFile) as error:
            raise SelfPlayError(f"{path} does not hold positions of self-play: {error}") from error

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All of some, in their order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def read_board(text: str, inputs: GridInputs) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Cells [area] and constant planes [planes - 2] of a position's text.

    >>> from anabranch.networks.grid import inputs_of
    >>> read_board("x.o/.x./... o", inputs_of("tic-tac-toe"))[0].tolist()
    [2, 0, 1, 0, 2, 0, 0, 0, 0]
    """
    board, side, *note = text.split()
    player = _OWNERS[side]
    codes = {ord("."): 0, ord("x"): 1 + player, ord("o"): 2 - player}
    cells = np.array([codes[ord(letter)] for letter in board if letter != "/"], np.uint8)
    constants = np.zeros(inputs.constants, np.uint8)
    constants[0] = player == 0
    if inputs.constants > 1:  # Go: the last move was a pass
        constants[1] = bool(note and note[0].isdigit() and int(note[0]) > 0)
    return cells, constants


class SampleWriter:
    """Collects the positions of games."""

    def __init__(self, inputs: GridInputs) -> None:
        self._inputs = inputs
        self._rows: list[tuple[Any, ...]] = []
        self._players: list[int] = []
        self._game = 0

    def add(
        self, text: str, places: Sequence[int], policy: Any, value: float, exact: bool, surprise: float
    ) -> None:
        """A position of the present game; `surprise` becomes its weight."""
        cells, constants = read_board(text, self._inputs)
        legal, target = np.zeros(self._inputs.actions, bool), np.zeros(self._inputs.actions, np.float32)
        legal[list(places)] = True
        target[list(places)] = policy
        self._rows.append((cells, constants, legal, target, value, 0.0, exact, surprise, True))
        self._players.append(_OWNERS[text.split()[1]])

    def add_exact(self, text: str, value: float) -> None:
        """A position of which only the exact result is known, for the side to move."""
        cells, constants = read_board(text, self._inputs)
        legal, target = np.ones(self._inputs.actions, bool), np.zeros(self._inputs.actions, np.float32)
        self._rows.append((cells, constants, legal, target, value, value, True, 0.0, False))
        self._players.append(_OWNERS[text.split()[1]])

    def end_game(self, result: float) -> None:
        """The present game ended with a result for the first player."""
        for number in range(self._game, len(self._rows)):
            if self._rows[number][8]:
                own = result if self._players[number] == 0 else -result
                self._rows[number] = (*self._rows[number][:5], own, *self._rows[number][6:])
        self._game = len(self._rows)

    def samples(self) -> GridSamples:
        """All positions."""
        return samples_of(self._rows, self._inputs)


def samples_of(rows: Sequence[tuple[Any, ...]], inputs: GridInputs) -> GridSamples:
    """Positions from rows in the order of the fields of `GridSamples`."""
    kinds = (np.uint8, np.uint8, bool, np.float32, np.float32, np.float32, bool, np.float32, bool)
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
