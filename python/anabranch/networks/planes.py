"""Positions as planes, and the places of their moves in the policy: input and output of networks of planes.

The core computes the same numbers for a search. Nothing here reads or runs a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.positions import Position, read_position
from anabranch.sessions import open_session
from anabranch.settings import Settings

GRID = "grid"
"""The version of the planes of games on a grid, which have one only."""


class Encoded(NamedTuple):
    """Positions as planes."""

    planes: NDArray[np.float32]
    """`[B, C, H, W]`."""
    moves: list[dict[str, int]]
    """For each position its legal moves (UCI) with their places in the policy."""


def shape_of(variant: str = "chess", version: str = "v3") -> tuple[int, int]:
    """Number of planes C and size of the policy A.

    >>> shape_of("chess"), shape_of("crazyhouse"), shape_of("crazyhouse", "v1")
    ((52, 4864), (64, 5184), (34, 5184))
    """
    return _session(variant, False).shape(core_version(version))


def plane_shape_of(variant: str, version: str) -> tuple[int, int, int]:
    """Planes, rows and columns.

    >>> plane_shape_of("chess", "v3"), plane_shape_of("connect-four", "grid")
    ((52, 8, 8), (3, 6, 7))
    """
    return _session(variant, False).plane_shape(core_version(version))


def core_version(version: str) -> str | None:
    """The name of a version for the core, where that of a game on a grid has none."""
    return None if version == GRID else version


def encode(
    positions: Sequence[Position], variant: str = "chess", version: str = "v3", *, chess960: bool = False
) -> Encoded:
    """The planes of positions, each with the moves that led to it where they are given.

    >>> planes, moves = encode(["startpos", "startpos moves e2e4"])
    >>> planes.shape, moves[0]["e2e4"] == moves[1]["e7e5"] == 1 * 64 + 12
    ((2, 52, 8, 8), True)
    """
    session = _session(variant, chess960)
    name, is_960 = session.variant()
    core = core_version(version)
    planes = np.empty((len(positions), *session.plane_shape(core)), np.float32)
    moves = []
    for number, position in enumerate(positions):
        session.set_position(*read_position(position, name, is_960))
        session.begin(evaluations=1)
        session.collect(planes[number : number + 1], core)
        [(_, of_leaf)] = session.newest_leaves()
        moves.append(dict(of_leaf))
        session.abandon()
        session.forget()
    return Encoded(planes, moves)


def _session(variant: str, chess960: bool) -> _core.Session:
    settings = Settings.preset("default").changed({"batch_size": 1})
    return open_session(variant, chess960, asdict(settings), True)
