"""Our engine as a player, in the calling process.

Every game begins with a new engine, or with one that was reset, so that a game depends on its description
alone. The graph is kept from move to move.
"""

from __future__ import annotations

import time
from typing import Any

import chess

from anabranch.clock import allocate
from anabranch.defaults import is_in_core
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, GameError, MatchError, SettingError
from anabranch.formats.scores import MATE, centipawns, score_of
from anabranch.limits import Limits
from anabranch.match.grid_board import GridBoard
from anabranch.match.player import Fault, MoveLimits, PlayerSpec, PlayResult
from anabranch.result import Result
from anabranch.settings import Settings

CAP = 8
"""Most simulations for each evaluation of a budget, besides chess: where repetitions are draws, a search may
find nothing new to evaluate."""
OVERHEAD = 0.02
"""Seconds of a clock that are kept as a reserve for each move."""


class EnginePlayer:
    """A preset with some settings changed."""

    def __init__(
        self,
        spec: PlayerSpec,
        variant: str,
        chess960: bool = False,
        margin: float = 1.0,
        game: object = None,
    ) -> None:
        self._game = game
        self._spec = spec
        self._variant = variant
        self._chess960 = chess960
        self._margin = margin
        self._settings = read_settings(spec)
        self._engine: Engine | None = None
        self.title = f"anabranch {spec.target}"

    def new_game(self, seed: int) -> None:
        """Make a new engine. Its seed is that of the game, unless the player has one of its own.

        An evaluator outside the core is opened once: its engine is reset.
        """
        if self._engine is not None and not is_in_core(self._engine.evaluator):
            if "seed" not in self._settings:
                self._engine.configure(seed=seed)
            self._engine.reset()
            return
        settings = self._settings if "seed" in self._settings else {**self._settings, "seed": seed}
        game = self._variant if self._game is None else self._game
        self._engine = Engine(preset=self._spec.target, chess960=self._chess960, game=game, **settings)

    def play(self, position: chess.Board | GridBoard, limits: MoveLimits) -> PlayResult:
        """A move by search."""
        if self._engine is None:
            self.new_game(0)
        assert self._engine is not None
        begun = time.monotonic()
        try:
            given = position.position if isinstance(position, GridBoard) else position
            result = self._engine.search(given, _search_limits(limits, position, self._variant), lines=1)
            move = (
                result.best_move if isinstance(position, GridBoard) else position.parse_uci(result.best_move)
            )
        except GameError:
            raise
        except (AnabranchError, ValueError) as error:
            raise Fault("crash", str(error)) from error
        seconds = time.monotonic() - begun
        allowed = limits.own_time(position.turn)
        if allowed is not None and seconds > allowed + self._margin:
            raise Fault("time", f"{seconds:.2f} s were spent and {allowed:.2f} s allowed")
        numbers = result.statistics
        depth = max(1, round(numbers.mean_depth))
        if isinstance(position, GridBoard):
            proven = None if result.solved is None else result.solved.state
            score = round(1000.0 * result.value)
            return PlayResult(move, score, depth, numbers.simulations, seconds, proven)
        score = score_of_result(result, self._variant)
        return PlayResult(move, score, depth, numbers.simulations, seconds)

    def close(self) -> None:
        """Release the engine and its graph."""
        self._engine = None


def read_settings(spec: PlayerSpec) -> dict[str, Any]:
    """The checked settings that a player changes in its preset; also its evaluator and tablebases, if any.

    A player has one thread unless it asks for more, because games are played at once on all cores.
    """
    settings = dict(spec.options)
    others: dict[str, Any] = {
        name: settings.pop(name) for name in ("evaluator", "tablebases") if name in settings
    }
    preset = Settings.preset(spec.target)
    try:
        checked = preset.changed(settings)
    except SettingError as error:
        raise SettingError(f"player {spec.name}: {error}") from error
    changes: dict[str, Any] = {name: getattr(checked, name) for name in settings}
    return {"threads": 1, **changes, **others}


def check_player(spec: PlayerSpec, variant: str, chess960: bool = False, game: object = None) -> None:
    """Refuse a player that cannot be made: settings, network, variant."""
    settings = read_settings(spec)
    try:
        played = variant if game is None else game
        Engine(preset=spec.target, chess960=chess960, game=played, **settings)
    except AnabranchError as error:
        raise MatchError(f"player {spec.name}: {error}") from error


def _search_limits(limits: MoveLimits, position: chess.Board | GridBoard, variant: str) -> Limits:
    """The limits of the search for a move."""
    budget = limits.budget
    simulations = [number for number in (budget.simulations, budget.nodes) if number is not None]
    if isinstance(position, GridBoard) and budget.evaluations is not None:
        simulations.append(CAP * budget.evaluations)
    seconds = budget.time
    if budget.clock is not None and limits.left is not None:
        side = 0 if position.turn == chess.WHITE else 1
        given = allocate(
            limits.left[side],
            limits.increments[side],
            played=position.fullmove_number - 1,
            variant=variant,
            overhead=OVERHEAD,
            lost=0.0,
        )
        seconds = max(given.optimum, 0.001)
    return Limits(simulations=min(simulations, default=None), evaluations=budget.evaluations, time=seconds)


def score_of_result(result: Result, variant: str) -> int:
    """The value of a search in centipawns, proofs beyond."""
    solved = result.solved
    if solved is None:
        return centipawns(result.value, variant)
    if solved.mate is not None:
        return MATE - solved.mate if solved.mate > 0 else -MATE - solved.mate
    return score_of(result.value, solved.state, variant)
