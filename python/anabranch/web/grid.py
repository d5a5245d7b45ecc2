"""The games on a grid for the page: which there are, and the rules in a position.

The page does not know these rules: it sends the moves so far, and gets the board, the legal moves and the end
of the game. Searches of these games are those of `searches`.
"""

from __future__ import annotations

from dataclasses import asdict
from threading import Lock
from typing import Any

from anabranch.catalogue import games
from anabranch.engine import Engine
from anabranch.web.messages import GridGame

RULES_MEMORY = 16 << 20
"""Memory of the engine that knows the rules; it searches nothing."""


def catalogue() -> list[dict[str, Any]]:
    """The games with their rules and parameters."""
    return [asdict(row) for row in games()]


class GridRules:
    """The rules of the game that one browser plays."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._lock = Lock()

    def describe(self, game: GridGame) -> dict[str, Any]:
        """The position after the moves of a game; a result is for the first player."""
        with self._lock:
            if self._engine is None or self._engine.variant != game.name:
                self._engine = Engine(game.name, evaluator="uniform", memory=RULES_MEMORY, threads=1)
            engine = self._engine
            engine.position = game.moves
            ending = engine.ending
            position = engine.position
            sign = 1.0 if position.split()[1] == "x" else -1.0
            return {
                "game": game.name,
                "moves": game.moves,
                "position": position,
                "legal": list(engine.legal_moves),
                "result": None if ending is None else sign * ending,
            }
