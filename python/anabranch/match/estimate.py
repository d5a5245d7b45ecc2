"""Rough estimates of how long games will take.

Where games of the match have been played, their mean decides. Otherwise the estimate is moves times limits:
times and clocks as given, budgets of our engine by its measured speed, those of programs by a usual speed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from statistics import mean

from anabranch.catalogue import base_name, is_grid
from anabranch.engine import Engine
from anabranch.errors import AnabranchError
from anabranch.match.engine_player import read_settings
from anabranch.match.game import GameRecord, GameSpec
from anabranch.match.player import Budget, PlayerSpec
from anabranch.named_games import OBJECT, ROWS, is_reference

PLIES = {"chess": 90, "crazyhouse": 70}
"""Plies of a game from the openings of the package to its adjudication, about: 16 games each of `default` and
`mcgs-combined` at 400 evaluations had 89 and 67."""
DEFAULT_PLIES = 80
NODES_PER_SECOND = 500_000.0
"""The assumed speed of a UCI program on one core."""
SIMULATIONS_PER_SECOND = 30_000.0
"""The assumed speed of our engine where it cannot be measured."""
OVERHEAD = 0.002
"""Seconds of a move of our engine beyond its search."""
MEASURED_SECONDS, MEASURED_SIMULATIONS = 0.1, 2_000
"""Limits of a measurement of speed."""
ENOUGH = 4
"""Played games from which on their mean is used."""


def seconds_of_games(missing: Sequence[GameSpec], played: Iterable[GameRecord] = ()) -> float:
    """Seconds that one process needs for games; from those that were played if there are enough."""
    known = [record.seconds for record in played if record.fault is None]
    if len(known) >= ENOUGH:
        return len(missing) * mean(known)
    costs: dict[tuple[int, int], float] = {}
    total = 0.0
    for game in missing:
        key = (id(game.white), id(game.black))
        if key not in costs:
            costs[key] = _seconds_of_game(game)
        total += costs[key]
    return total


def _seconds_of_game(game: GameSpec) -> float:
    plies = plies_of(game.variant)
    if game.adjudication.longest is not None:
        plies = min(plies, game.adjudication.longest)
    moves = plies / 2.0
    return sum(
        _seconds_of_side(side, game.variant, game.chess960, moves) for side in (game.white, game.black)
    )


@cache
def plies_of(variant: str) -> int:
    """Plies of a game, about: in games on a grid seven tenths of the cells, passes and captures aside.

    >>> plies_of("chess"), plies_of("hex:size=6")
    (90, 25)
    """
    is_own = base_name(variant) in (OBJECT, ROWS) or is_reference(variant)
    if variant in PLIES or not is_grid(variant) or is_own:
        return PLIES.get(variant, DEFAULT_PLIES)
    _, rows, columns = Engine(variant).plane_shape
    return round(0.7 * rows * columns)


def _seconds_of_side(player: PlayerSpec, variant: str, chess960: bool, moves: float) -> float:
    """Seconds of all moves of a player, by the limit that ends its searches first."""
    budget = player.budget
    found = []
    count = least_count(budget)
    if count is not None and player.kind == "uci":
        found.append(moves * count / NODES_PER_SECOND)
    elif count is not None:
        options = tuple(sorted(player.options.items()))
        found.append(moves * seconds_of_search(count, variant, options, chess960))
    if budget.time is not None:
        found.append(moves * budget.time)
    if budget.clock is not None:
        found.append(seconds_of_clock(budget.clock, budget.increment, moves))
    return min(found, default=0.0)


def least_count(budget: Budget) -> int | None:
    """The smallest count of a budget."""
    counts = [n for n in (budget.evaluations, budget.simulations, budget.nodes) if n is not None]
    return min(counts, default=None)


def seconds_of_clock(clock: float, increment: float, moves: float) -> float:
    """Seconds spent of a clock: nine tenths of it in an ordinary game of 45 moves, and most of the increment.

    >>> round(seconds_of_clock(60.0, 1.0, 45))
    92
    """
    return clock * (1.0 - math.pow(0.1, moves / 45.0)) + 0.85 * increment * moves


def seconds_of_search(
    count: int, variant: str, options: tuple[tuple[str, str], ...] = (), chess960: bool = False
) -> float:
    """Seconds of a search of our engine with so many simulations or evaluations.

    The preset `default` is measured, with the evaluator of the options: that makes most of the difference.
    """
    evaluator = tuple(pair for pair in options if pair[0] in ("evaluator", "batch_size", "threads"))
    return OVERHEAD + count / simulations_per_second(variant, evaluator, chess960)


@cache
def simulations_per_second(
    variant: str, options: tuple[tuple[str, str], ...] = (), chess960: bool = False
) -> float:
    """The speed of our engine on this machine, measured at the start of a game."""
    try:
        settings = read_settings(PlayerSpec("default", "preset", "default", dict(options)))
        engine = Engine(variant, "default", chess960, **settings)
        result = engine.search(simulations=MEASURED_SIMULATIONS, time=MEASURED_SECONDS, lines=0)
    except AnabranchError:
        return SIMULATIONS_PER_SECOND
    return max(1.0, result.statistics.simulations / max(result.elapsed, 1e-6))


def in_words(seconds: float) -> str:
    """A duration in words.

    >>> [in_words(seconds) for seconds in (5, 80, 600, 5000, 40_000, 400_000)]
    ['less than a minute', '1 minute', '10 minutes', '1.4 hours', '11 hours', '5 days']
    """
    if seconds < 60.0:
        return "less than a minute"
    if seconds < 3600.0:
        return _of(round(seconds / 60.0), "minute")
    hours = seconds / 3600.0
    if hours < 48.0:
        return _of(round(hours) if hours >= 10.0 else round(hours, 1), "hour")
    return _of(round(hours / 24.0), "day")


def _of(number: float, unit: str) -> str:
    return f"{number:g} {unit}{'' if number == 1 else 's'}"
