"""Matches: engines against engines from paired openings, and the statistics of their results."""

from anabranch.match.openings import bundled_openings, read_openings
from anabranch.match.player import read_player
from anabranch.match.runner import run_match
from anabranch.match.schedule import MatchSpec

__all__ = ["MatchSpec", "bundled_openings", "read_openings", "read_player", "run_match"]
