"""What another choice of move costs: two searches of a position, and a longer one that judges their moves.

Measurements of one position share searches, which are kept for the next ones: a search follows from its
description alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from anabranch.engine import Engine
from anabranch.match.game import ending
from anabranch.match.openings import board_of

KEPT = 64
"""Searches that are remembered: those of a few positions."""

Maker = Callable[[str, str, Mapping[str, str]], Engine]
"""Makes the engine of a variant, a preset and settings."""


class Choices:
    """Searches whose moves are compared."""

    def __init__(self, engine_of: Maker) -> None:
        self._engine_of = engine_of
        self._choose = lru_cache(KEPT)(self._search_move)
        self._judge = lru_cache(KEPT)(self._search_value)

    def compare(self, variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
        """The moves of a side and of its base, and the points that the side's move loses by the judge."""
        position = about["position"]
        base = self._choose(variant, position, *_described(about["base"]))
        move = self._choose(variant, position, *_described(about))
        loss = 0.0
        if move != base:
            judge = _described(about["judge"])
            of_base, of_move = (self._judge(variant, position, played, *judge) for played in (base, move))
            loss = (of_base - of_move) / 2.0
        return {"move": move, "base": base, "loss": loss}

    def _search_move(self, variant: str, fen: str, preset: str, settings: str, evaluations: int) -> str:
        engine = self._engine_of(variant, preset, json.loads(settings))
        return engine.search(board_of(variant, fen, False), evaluations=evaluations, lines=0).best_move

    def _search_value(
        self, variant: str, fen: str, move: str, preset: str, settings: str, evaluations: int
    ) -> float:
        """The value of a move for the side that plays it."""
        board = board_of(variant, fen, False)
        board.push_uci(move)
        if (ended := ending(board)) is not None:
            return 0.0 if ended[0] == "1/2-1/2" else 1.0
        engine = self._engine_of(variant, preset, json.loads(settings))
        return -engine.search(board, evaluations=evaluations, lines=0).value


def _described(search: Mapping[str, Any]) -> tuple[str, str, int]:
    """A search as a key: preset, settings and evaluations."""
    return search["preset"], json.dumps(search["settings"], sort_keys=True), search["evaluations"]
