"""Scores of UCI as one number: centipawns, mates beyond all others.

The number belongs to the side to move, as UCI has it. Values of our own search are turned into centipawns in
`anabranch.formats.centipawns`.
"""

from __future__ import annotations

MATE = 32000
"""A mate in n moves counts MATE - n."""
LARGEST = MATE - 1000
"""No score that is not a mate is larger."""


def centipawns(kind: bytes, number: int) -> int:
    """A score of UCI as one number, mates beyond all others.

    >>> centipawns(b"cp", -31), centipawns(b"mate", 2), centipawns(b"mate", -2)
    (-31, 31998, -31998)
    """
    if kind == b"mate":
        distance = min(abs(number), MATE - LARGEST - 1)
        return MATE - distance if number > 0 else distance - MATE
    if kind != b"cp":
        raise ValueError(kind)
    return max(-LARGEST, min(LARGEST, number))


def mate_in(score: int) -> int | None:
    """Moves to the mate that a score stands for, negative for the side that is mated.

    >>> mate_in(31998), mate_in(-31998), mate_in(120)
    (2, -2, None)
    """
    if abs(score) <= LARGEST:
        return None
    return MATE - score if score > 0 else -(MATE + score)
