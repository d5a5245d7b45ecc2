"""Games besides chess as text, with value and simulations of every move: `4 {+0.12 800}`.

A match writes these files and never reads them back.
"""

from __future__ import annotations

import textwrap

from anabranch.match.adjudication import DRAW
from anabranch.match.game import GameRecord, Ply

WIDTH = 100


def text_of(record: GameRecord) -> str:
    """A record as some lines of text, and an empty one."""
    head = f"game {record.pair + 1}.{record.game + 1} of {record.variant}, {record.date}: "
    head += f"{record.white} (x) - {record.black} (o) {record.result}"
    moves = " ".join(_move_of(ply) for ply in record.plies)
    lines = [
        head,
        f"opening: {record.fen}",
        *textwrap.wrap(moves, WIDTH, break_long_words=False, break_on_hyphens=False),
        f"{_end_of(record)}",
    ]
    return "\n".join(lines) + "\n"


def _move_of(ply: Ply) -> str:
    """A move with the value for its player, what is proven, and the simulations.

    >>> _move_of(Ply("4", 120, 5, 800, 0.1)), _move_of(Ply("4", 1000, 5, 80, 0.1, "win"))
    ('4 {+0.12 800}', '4 {win 80}')
    """
    value = ply.proven or (None if ply.score is None else f"{ply.score / 1000:+.2f}")
    words = [str(word) for word in (value, ply.nodes) if word is not None]
    return f"{ply.move} {{{' '.join(words)}}}"


def _end_of(record: GameRecord) -> str:
    winner = record.white if record.white_points == 1.0 else record.black
    who = "draw" if record.result == DRAW else f"{winner} wins"
    return f"{who}: {record.reason}" + ("" if record.fault is None else f": {record.fault}")
