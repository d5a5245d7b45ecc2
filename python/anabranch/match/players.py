"""Makes players of their descriptions, and keeps those of this process from game to game."""

from __future__ import annotations

import atexit

from anabranch.match.engine_player import EnginePlayer
from anabranch.match.grid_board import identity_of
from anabranch.match.player import Player, PlayerSpec
from anabranch.match.uci_player import UciPlayer


def make_player(
    spec: PlayerSpec,
    variant: str,
    chess960: bool = False,
    margin: float = 1.0,
    timeout: float = 60.0,
    game: object = None,
) -> Player:
    """The player of a description. A program is started when it first has to play."""
    if spec.kind == "preset":
        return EnginePlayer(spec, variant, chess960, margin, game)
    return UciPlayer(spec, variant, chess960, margin, timeout)


_players: dict[str, Player] = {}
"""Kept because programs are slow to start."""


def keep_player(
    spec: PlayerSpec,
    variant: str,
    chess960: bool = False,
    margin: float = 1.0,
    timeout: float = 60.0,
    side: str = "",
    game: object = None,
) -> Player:
    """The player of a description; the same one whenever the arguments are the same."""
    key = repr((spec, variant, chess960, margin, timeout, side, identity_of(variant, game)))
    if key not in _players:
        _players[key] = make_player(spec, variant, chess960, margin, timeout, game)
    return _players[key]


def close_players() -> None:
    """End the programs that players of this process have started."""
    for player in _players.values():
        player.close()
    _players.clear()


atexit.register(close_players)
