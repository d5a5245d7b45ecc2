"""Searches of self-play: one position after the other of a game, with an evaluator of any kind.

A session of the core is used without an engine, because a search takes a fraction of a millisecond and its
whole result is not needed.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np

from anabranch import _core
from anabranch.defaults import resolve
from anabranch.errors import VariantError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.limits import Limits
from anabranch.loop import EvaluatorThread, Loop
from anabranch.named_games import core_name, full_name, is_reference, load_reference
from anabranch.selfplay.targets import VALUE_SCALE, WORTH, RootStatistics, root_statistics
from anabranch.sessions import open_session

MEMORY = 256 << 20
"""Bytes of a graph."""
FIXED = {"threads": 1, "memory": MEMORY, "width_visits": 0, "batch_size": 1, "batches_in_flight": 1}
"""One leaf at a time: data are worth more than speed by batches."""
IN_BATCHES = {"threads": 1, "memory": MEMORY, "width_visits": 8, "batch_size": 8, "batches_in_flight": 1}
"""For evaluators and games in Python, which gain by batches."""


@lru_cache(maxsize=4)
def open_evaluator(name: str, game: str) -> str | _core.Network | AnyEvaluator:
    """An evaluator, opened once in a process. Networks of another game are refused."""
    own = full_name(load_reference(game)) if is_reference(game) else game
    found = resolve_evaluator(name, game, threads=1)
    plays = getattr(found, "variant", None)
    if plays is not None and plays != own:
        raise VariantError(f"{name} is for {plays}, and this run plays {game}")
    return found


@lru_cache(maxsize=16)
def _settings(game: str, evaluator: str, changes: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """All settings of a search but its seed."""
    found = open_evaluator(evaluator, game)
    is_inside = isinstance(found, (str, _core.Network)) and not is_reference(game)
    named = {"evaluator": found} if isinstance(found, str) else {}
    usual = {**(FIXED if is_inside else IN_BATCHES), "c_scale": VALUE_SCALE}
    known = core_name(load_reference(game)) if is_reference(game) else game
    return resolve("default", known, found, {**usual, **named, **dict(changes)}).to_dict()


class GameSearch:
    """A game with the graph below its position."""

    def __init__(self, game: str, evaluator: str, **settings: Any) -> None:
        found = open_evaluator(os.fspath(evaluator), game)
        self._network = found if isinstance(found, _core.Network) else None
        self._outside = None if isinstance(found, (str, _core.Network)) else found
        seed = settings.pop("seed", 0)
        resolved = _settings(game, os.fspath(evaluator), tuple(sorted(settings.items())))
        self._thread = EvaluatorThread() if self._outside is not None else None
        self.session = open_session(
            game, False, {**resolved, "seed": seed}, self._outside is not None, self._network
        )
        self._quiet: dict[str, float] | None = None
        self.evaluations = 0
        """Evaluations of all searches so far."""

    def search(self, evaluations: int, simulations: int | None = None, noise: float = 0.0) -> dict[str, Any]:
        """Search the position, with so much noise in the priors of the root; the report of the core."""
        self._quiet = None
        if noise > 0.0 and self._network is None:
            # The priors of the root are read before the noise comes.
            self.session.set_noise(0.0)
            before = self.evaluations
            first = self._run(None, 1)
            if len(first["moves"]) < len(self.session.legal_moves()):
                first = self._run(None, 1)  # the list of a kept root is completed when a search begins
            self._quiet = {row["move"]: row["prior"] for row in first["moves"]}
            evaluations = max(1, evaluations - (self.evaluations - before))
        self.session.set_noise(noise)
        return self._run(evaluations, simulations)

    def _run(self, evaluations: int | None, simulations: int | None) -> dict[str, Any]:
        if self._outside is None:
            self.session.run(evaluations=evaluations, simulations=simulations, lines=0)
        else:
            assert self._thread is not None
            limits = Limits(evaluations=evaluations, simulations=simulations)
            Loop(self.session, self._outside, limits).run(self._thread)
        report = self.session.report(0, "off")
        self.evaluations += report["statistics"]["evaluations"]
        return report

    def statistics(self, report: dict[str, Any]) -> RootStatistics:
        """The statistics of the report of the last search, with the evaluator's priors without noise."""
        if self._network is None:
            if self._quiet is None:
                return root_statistics(report)
            return root_statistics(
                report, np.array([self._quiet.get(row["move"], 0.0) for row in report["moves"]])
            )
        _, _, moves = self._network.evaluate([self.session.fen()])[0]
        logits = dict(moves)
        in_order = np.array([logits[row["move"]] for row in report["moves"]])
        powers = np.exp(in_order - in_order.max())
        return root_statistics(report, powers / powers.sum())

    def proven(self, most: int) -> list[tuple[str, float]]:
        """Positions of the graph that are proven, with their results for the side to move; the most visited
        `most`. The root and positions where the game is over are left out.
        """
        nodes, _ = self.session.export(None, 1, 1 + 4 * most)
        inner = [node for node in nodes if node["depth"] and node["plies"] != 0]
        found = [(node["position"], WORTH.get(node["state"])) for node in inner]
        return [(text, worth) for text, worth in found if worth is not None][:most]
