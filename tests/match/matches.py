"""Matches that cost nothing, for tests of matches."""

from typing import Any

import chess
import chess.pgn
import chess.syzygy

from anabranch.match.adjudication import Adjudication
from anabranch.match.openings import Opening, bundled_openings, read_openings
from anabranch.match.player import PlayerSpec, read_player
from anabranch.match.schedule import MatchSpec

START = Opening(chess.STARTING_FEN, "start")
SHORT = Adjudication(longest=6)
QUICK = "preset:default,evaluator=uniform,simulations=1"
"""A player that costs nothing."""


def quick(name: str, more: str = "") -> PlayerSpec:
    return read_player(f"{name}={QUICK}{more}")


def openings(variant: str, number: int) -> tuple[Opening, ...]:
    path = bundled_openings(variant)
    assert path is not None
    return tuple(read_openings(path, variant)[:number])


def spec(*players: PlayerSpec, **changes: Any) -> MatchSpec:
    values: dict[str, Any] = {"openings": (START,), "pairs": 1, "adjudication": SHORT, **changes}
    return MatchSpec(players=players or (quick("a"), quick("b")), **values)
