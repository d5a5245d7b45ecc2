"""Matches: engines against engines from paired openings, and the statistics of their results."""

from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameRecord, GameSpec, play_game
from anabranch.match.openings import Opening, bundled_openings, read_openings, write_openings
from anabranch.match.player import (
    Budget,
    Fault,
    MoveLimits,
    Player,
    PlayerSpec,
    PlayResult,
    read_player,
)
from anabranch.match.players import make_player
from anabranch.match.ratings import PairResult, rate
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec
from anabranch.match.standings import Standings
from anabranch.match.statistics import Estimate, Sprt, elo, normalised_elo, superiority

__all__ = [
    "Adjudication",
    "Budget",
    "Estimate",
    "Fault",
    "GameRecord",
    "GameSpec",
    "MatchSpec",
    "MoveLimits",
    "Opening",
    "PairResult",
    "PlayResult",
    "Player",
    "PlayerSpec",
    "Sprt",
    "Standings",
    "bundled_openings",
    "elo",
    "make_player",
    "normalised_elo",
    "play_game",
    "rate",
    "read_openings",
    "read_player",
    "run_match",
    "superiority",
    "write_openings",
]
