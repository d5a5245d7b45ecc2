"""The engines of the analysis server, one kind for each combination of settings: made once, used again.

A query with the same variant, preset, evaluator and settings as an earlier one finds its engines here. The
least recently used are forgotten.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from anabranch import _core
from anabranch.defaults import is_in_core
from anabranch.engine import Engine
from anabranch.errors import (
    AnabranchError,
    EvaluatorError,
    MoveError,
    NetworkError,
    QueryError,
    SettingError,
    VariantError,
)
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import evaluator_names, resolve_evaluator
from anabranch.serve.query import EngineKey, Query, Setting
from anabranch.settings import Settings

MOST_KEYS = 32
"""Kinds of engines that are kept."""
TABLEBASE_VARIANTS = ("chess", "chess960")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineDefaults:
    """What all engines of a server have in common."""

    variant: str = "chess"
    """The variant that `evaluator` is for."""
    evaluator: str | os.PathLike[str] | _core.Network | AnyEvaluator | None = None
    settings: dict[str, Setting] = field(default_factory=dict)
    tablebases: _core.Tablebases | None = None
    threads: int = 1


class EngineKind:
    """Engines with one key."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make
        self._checker = make()
        self.variant, self.chess960 = self._checker.variant, self._checker.chess960
        self.is_outside = not is_in_core(self._checker.evaluator)
        """Whether its evaluator is one of Python, so that its searches share batches."""
        self._lock = Lock()
        self._idle: list[Engine] = []

    def check(self, query: Query) -> None:
        """Refuse a game that is against the rules."""
        with self._lock:
            try:
                self._checker.position = (query.fen or "startpos", list(query.moves))
            except MoveError as error:
                raise QueryError("moves", f"cannot be played: {error}") from None
            except AnabranchError as error:
                raise QueryError("position", f"is refused: {error}") from None

    def take(self) -> Engine:
        """An engine that is not in use."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._make()

    def give_back(self, engine: Engine) -> None:
        """Keep an engine for the next search."""
        engine.forget()  # frees its graph
        with self._lock:
            self._idle.append(engine)


class EngineStore:
    """The engines of a server."""

    def __init__(self, defaults: EngineDefaults) -> None:
        self._defaults = defaults
        self._kinds: OrderedDict[EngineKey, EngineKind] = OrderedDict()
        self._opened: dict[tuple[str, str], object] = {}
        """Evaluators by name and variant."""
        self._lock = Lock()
        self._own: object = None
        if defaults.evaluator is not None:
            self._own = resolve_evaluator(defaults.evaluator, defaults.variant, threads=defaults.threads)

    def kind_of(self, key: EngineKey) -> EngineKind:
        """The engines for a key; refuses what makes no engine, with the field."""
        with self._lock:
            kind = self._kinds.get(key)
            if kind is None:
                kind = self._kinds[key] = EngineKind(self._maker(key))
                if len(self._kinds) > MOST_KEYS:
                    self._kinds.popitem(last=False)
            self._kinds.move_to_end(key)
            return kind

    def _maker(self, key: EngineKey) -> Callable[[], Engine]:
        evaluator: Any = self._evaluator(key)
        settings: dict[str, Any] = self._settings(key)
        tablebases = self._defaults.tablebases if key.variant in TABLEBASE_VARIANTS else None

        def make() -> Engine:
            try:
                return Engine(
                    key.variant,
                    key.preset,
                    key.chess960,
                    evaluator=evaluator,
                    tablebases=tablebases,
                    **settings,
                )
            except VariantError as error:
                own = getattr(evaluator, "variant", key.variant)
                if own != key.variant:
                    raise QueryError("evaluator", f"is for {own}, and not for {key.variant}") from None
                raise QueryError("variant", f"cannot be used: {error}") from None
            except EvaluatorError as error:
                raise QueryError("evaluator", f"cannot be used: {error}") from None
            except AnabranchError as error:
                raise QueryError("settings", f"cannot be used: {error}") from None

        return make

    def _evaluator(self, key: EngineKey) -> object:
        if key.evaluator is None:
            return self._own if key.variant == self._defaults.variant else None
        if key.evaluator not in evaluator_names():
            names = ", ".join(evaluator_names())
            raise QueryError("evaluator", f"must be one of {names}, not {key.evaluator!r}")
        place = (key.evaluator, key.variant)
        if place not in self._opened:
            try:
                self._opened[place] = resolve_evaluator(*place, threads=self._defaults.threads)
            except NetworkError as error:  # its text names a file of this machine
                print(error, file=sys.stderr)
                raise QueryError("evaluator", "cannot be opened; the server's stderr says why") from None
            except AnabranchError as error:
                raise QueryError("evaluator", f"cannot be used: {error}") from None
        return self._opened[place]

    def _settings(self, key: EngineKey) -> dict[str, Setting]:
        try:
            base = Settings.preset(key.preset)
        except SettingError as error:
            raise QueryError("preset", f"cannot be used: {error}") from None
        given = {**self._defaults.settings, **dict(key.settings)}
        try:
            checked = base.changed(given)
        except SettingError as error:
            raise QueryError("settings", f"cannot be used: {error}") from None
        most = base.changed(self._defaults.settings).memory
        if checked.memory > most:
            raise QueryError("settings.memory", f"must be at most {most}, the memory of a search here")
        return {**{name: getattr(checked, name) for name in given}, "threads": 1}
