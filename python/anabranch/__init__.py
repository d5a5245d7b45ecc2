"""Monte-Carlo graph search for AlphaZero-style play.

Lines of play that reach the same position share its node and what was learned about it.

>>> import anabranch
>>> engine = anabranch.Engine(variant="crazyhouse", preset="mcgs-combined")
>>> result = engine.search("startpos", simulations=200)
>>> result.statistics.simulations
200
"""

from anabranch import errors, evaluators
from anabranch.catalogue import games
from anabranch.check import check_game
from anabranch.engine import Engine
from anabranch.errors import AnabranchError
from anabranch.graph import GraphEdge, GraphNode, SearchGraph
from anabranch.limits import Limits
from anabranch.result import Line, MoveStatistics, Progress, Result, Solved, Statistics
from anabranch.settings import Settings, presets, settings_table, variants
from anabranch.solution import Solution

__version__ = "0.1.0"  # a test compares it with Cargo.toml; importlib.metadata takes a tenth of a second

__all__ = [
    "AnabranchError",
    "Engine",
    "GraphEdge",
    "GraphNode",
    "Limits",
    "Line",
    "MoveStatistics",
    "Progress",
    "Result",
    "SearchGraph",
    "Settings",
    "Solution",
    "Solved",
    "Statistics",
    "__version__",
    "check_game",
    "errors",
    "evaluators",
    "games",
    "presets",
    "settings_table",
    "variants",
]
