"""Canaries: positions with the outputs that a network must give for them.

They are computed when a file is stamped, and checked by the chosen runtime when the file is opened. So a
network that computes something else is refused before it plays. They are stored as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import AnabranchError
from anabranch.networks.planes import encode

TOLERANCE = 0.01
"""Largest difference, absolute or relative to a larger number: runtimes round differently."""
MOVES = 6
"""Logits kept of each position."""
MOST = 64
"""Canaries that a file may have."""

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
POSITIONS = {
    "chess": (
        START,
        "r1bqk2r/1pp1b1p1/p1n2n1p/3p1p2/P2P4/N1P3PN/1P3P1P/R1BQKB1R w KQkq - 0 11",
        "r3kb1r/p2n1pp1/2p1pn2/3p1b2/P2P3P/2N2NB1/4PPBP/R1R3K1 b kq - 0 15",
        "8/5pk1/4p1p1/3pP2p/3P1P1P/2r3P1/5K2/R7 w - - 3 41",
    ),
    "crazyhouse": (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
        "r2qk2r/1ppbbppp/p2p1n2/8/4P3/2PBNP2/PPQ2P1P/R1B1K2R[PNpn] b KQkq - 0 11",
        "q3kb1r/2pppppp/1pB5/1P1p4/2P1n3/5NP1/3PP1pP/BN1Q2KR[PNbrr] w k - 0 18",
        "r1b1k1rQ/1pppppPp/p3n3/8/1P6/8/1BPP1nPP/R3KB1R[PPNpnbq] b KQq - 2 18",
    ),
}

Evaluate: TypeAlias = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]


@dataclass(frozen=True, slots=True)
class Canary:
    """A position with the value and some logits of its moves."""

    fen: str
    value: float
    logits: tuple[tuple[str, float], ...]
    tolerance: float = TOLERANCE


def make_canaries(
    evaluate: Evaluate,
    variant: str,
    version: str,
    positions: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Canary, ...]:
    """Canaries with the values and logits of the network as it is now."""
    chosen = POSITIONS.get(variant, ("startpos",)) if positions is None else tuple(positions)
    planes, places = encode(chosen, variant, version)
    values, logits = evaluate(planes)
    return tuple(
        Canary(
            position,
            float(values[number]),
            tuple((move, float(logits[number, place])) for move, place in list(of_moves.items())[:MOVES]),
            tolerance,
        )
        for number, (position, of_moves) in enumerate(zip(chosen, places, strict=True))
    )


def find_difference(evaluate: Evaluate, canaries: Sequence[Canary], variant: str, version: str) -> str | None:
    """The first output that differs, as the end of a sentence; `None` where all agree."""
    if not canaries:
        return None
    try:
        planes, places = encode([canary.fen for canary in canaries], variant, version)
    except AnabranchError as error:
        return f"one of its canaries cannot be read: {error}"
    values, logits = evaluate(planes)
    for number, canary in enumerate(canaries):
        if not _is_close(float(values[number]), canary.value, canary.tolerance):
            return (
                f"it gives the value {values[number]:.4f} instead of {canary.value:.4f} "
                f"for its canary {canary.fen!r}"
            )
        for move, expected in canary.logits:
            place = places[number].get(move)
            if place is None:
                return f"its canary {canary.fen!r} names the illegal move {move!r}"
            if not _is_close(float(logits[number, place]), expected, canary.tolerance):
                return (
                    f"it gives {move} the logit {logits[number, place]:.4f} instead of {expected:.4f} "
                    f"for its canary {canary.fen!r}"
                )
    return None


def write_canaries(canaries: Sequence[Canary]) -> str:
    """Canaries as text.

    >>> read_canaries(write_canaries([Canary("startpos", 0.25, (("e2e4", 1.5),))]))
    (Canary(fen='startpos', value=0.25, logits=(('e2e4', 1.5),), tolerance=0.01),)
    """
    rows = [
        {"fen": canary.fen, "value": round(canary.value, 6), "tolerance": canary.tolerance}
        | {"logits": {move: round(logit, 6) for move, logit in canary.logits}}
        for canary in canaries
    ]
    return json.dumps(rows, separators=(",", ":"))


def read_canaries(text: str) -> tuple[Canary, ...]:
    """Canaries from text; a ValueError where it is something else."""
    try:
        rows = json.loads(text)
        if not isinstance(rows, list) or len(rows) > MOST:
            raise TypeError
        return tuple(_read(row) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("its canaries cannot be read") from None


def _read(row: Any) -> Canary:
    position = row["fen"]
    if not isinstance(position, str):
        raise TypeError
    logits = tuple((str(move), float(logit)) for move, logit in row["logits"].items())
    canary = Canary(position, float(row["value"]), logits, float(row["tolerance"]))
    numbers = (canary.value, canary.tolerance, *(logit for _, logit in logits))
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError
    return canary


def _is_close(given: float, expected: float, tolerance: float) -> bool:
    return abs(given - expected) <= tolerance * max(1.0, abs(expected))
