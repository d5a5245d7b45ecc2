"""Positions of chess and its variants with their targets: texts, and a policy over named moves.

A position has as many moves as its policy needs, so their arrays are flat, one position after the other.
What a network reads of a position is computed by the core when it learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from anabranch.selfplay.records import PlaySamples, SampleWriter, player_of


@dataclass(frozen=True, slots=True)
class ChessSamples(PlaySamples):
    """Positions of chess or a variant."""

    position: NDArray[np.bytes_]
    """[B]: FENs."""
    count: NDArray[np.int32]
    """[B]: moves of the policy target; 0 where there is none."""
    moves: NDArray[np.bytes_]
    """[sum of count]: their names (UCI)."""
    policy: NDArray[np.float32]
    """[sum of count]: their shares."""
    value: NDArray[np.float32]
    result: NDArray[np.float32]
    drawn: NDArray[np.float32]
    exact: NDArray[np.bool_]
    weight: NDArray[np.float32]

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Some of them."""
        chosen = np.arange(len(self))[rows]
        begins = np.cumsum(self.count, dtype=np.int64) - self.count
        count = self.count[chosen]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count, dtype=np.int64) - count, count)
        flat = np.repeat(begins[chosen], count) + within
        return type(self)(
            self.position[chosen],
            count,
            self.moves[flat],
            self.policy[flat],
            self.value[chosen],
            self.result[chosen],
            self.drawn[chosen],
            self.exact[chosen],
            self.weight[chosen],
        )

    @property
    def owners(self) -> NDArray[np.int64]:
        """The position of each move."""
        return np.repeat(np.arange(len(self)), self.count)

    @property
    def has_policy(self) -> NDArray[np.bool_]:
        """[B]: there is a policy target."""
        return self.count > 0

    @property
    def places(self) -> NDArray[np.bytes_]:
        """[B]: positions without their move counters, which tell equal ones apart."""
        cut = [text.rsplit(maxsplit=2)[0] for text in self.position.tolist()]
        return np.array(cut, np.bytes_) if cut else self.position


class ChessWriter(SampleWriter):
    """Collects the positions of games of chess or a variant."""

    RESULT = 4

    def names(self, session: Any, moves: Sequence[str]) -> Sequence[str]:
        """Moves as they are written."""
        return moves

    def add(
        self, text: str, moves: Sequence[str], policy: Any, value: float, exact: bool, surprise: float
    ) -> None:
        """A position with the names of its moves; those without a share are left out."""
        shares = np.asarray(policy, np.float32)
        used = shares > 0.0
        names = [move for move, is_used in zip(moves, used, strict=True) if is_used]
        self._keep((text, names, shares[used], value, 0.0, 0.0, exact, surprise), player_of(text))

    def add_exact(self, text: str, value: float) -> None:
        """A position without a policy."""
        self._keep((text, [], np.zeros(0, np.float32), value, value, float(value == 0.0), True, 0.0), None)

    def samples(self) -> ChessSamples:
        """All positions."""
        rows = self._rows
        empty = np.zeros(0, np.float32)
        return ChessSamples(
            np.array([row[0] for row in rows], np.bytes_).reshape(len(rows)),
            np.array([len(row[1]) for row in rows], np.int32),
            np.array([move for row in rows for move in row[1]], np.bytes_),
            np.concatenate([empty, *(row[2] for row in rows)]),
            np.array([row[3] for row in rows], np.float32),
            np.array([row[4] for row in rows], np.float32),
            np.array([row[5] for row in rows], np.float32),
            np.array([row[6] for row in rows], bool),
            np.array([row[7] for row in rows], np.float32),
        )
