"""The player of a description: our engine in this process, or a UCI program."""

from __future__ import annotations

from anabranch.match.engine_player import EnginePlayer
from anabranch.match.player import Player, PlayerSpec
from anabranch.match.uci_player import UciPlayer


def make_player(
    spec: PlayerSpec, variant: str, chess960: bool = False, margin: float = 1.0, patience: float = 60.0
) -> Player:
    """The player of a description. Nothing is started before it has to play."""
    if spec.kind == "preset":
        return EnginePlayer(spec, variant, chess960, margin)
    return UciPlayer(spec, variant, chess960, margin, patience)
