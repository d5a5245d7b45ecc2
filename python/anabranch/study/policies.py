"""Counts the moves that the nodes of a graph have, and those that they keep with a prior.

The counts are read from the file that `Engine.save` writes, because an export of a graph of a million nodes
takes longer than its search. Only the sizes of the parts of the file are known here, as
`crates/core/src/run/save.rs` writes them; nothing of a node but its counts is read.
"""

from __future__ import annotations

import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from anabranch.engine import Engine
from anabranch.errors import StudyError

MAGIC = b"ANABRCH\x01"
COUNTS = struct.Struct("<28xHHHHHHx")
"""A node: what is skipped, legal moves, unknown, plies, flags, opened moves, listed moves, state."""
PROOF_NUMBERS, EDGE, CANDIDATE, CHECKSUM = 4, 30, 4, 4
"""Bytes in the file."""
EVALUATED = 1
"""The flag of a node that has a value, and so had a policy."""


class Policies(NamedTuple):
    """Sums over the nodes of a graph."""

    nodes: int
    """All nodes, those where the game is over among them."""
    legal: int
    """Legal moves of the evaluated nodes: the length of their policies."""
    opened: int
    """Moves that are edges; an edge has its prior."""
    listed: int
    """Moves that are not opened and are kept with their prior."""


def count_policies(engine: Engine) -> Policies:
    """The counts of the graph of an engine."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph"
        engine.save(path)
        return read_policies(path.read_bytes(), engine.settings.pn_weight > 0.0)


def read_policies(saved: bytes, has_numbers: bool = False) -> Policies:
    """The counts of a saved graph, with proof numbers or without."""
    if saved[: len(MAGIC)] != MAGIC:
        raise StudyError(f"the graph file begins with {saved[: len(MAGIC)]!r}, not with {MAGIC!r}")
    (header,) = struct.unpack_from("<I", saved, len(MAGIC))
    at = len(MAGIC) + 4 + header + 8  # the words, then the state of the random source
    (nodes,) = struct.unpack_from("<I", saved, at)
    at += 4
    head = COUNTS.size + PROOF_NUMBERS * has_numbers
    legal_sum = opened_sum = listed_sum = 0
    try:
        for _ in range(nodes):
            legal, _, _, flags, opened, listed = COUNTS.unpack_from(saved, at)
            at += head + EDGE * opened + CANDIDATE * listed
            legal_sum += legal if flags & EVALUATED else 0
            opened_sum += opened
            listed_sum += listed
    except struct.error:
        raise StudyError(f"the graph file ends at {len(saved)}, within its {nodes} nodes") from None
    if at + CHECKSUM != len(saved):
        raise StudyError(f"the nodes of the graph file end at {at}, and the file at {len(saved)}")
    return Policies(nodes, legal_sum, opened_sum, listed_sum)
