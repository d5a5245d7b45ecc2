"""What the searches of an engine use: its settings, its evaluator and its tablebases, as they are given and
as they are changed.

The arguments are checked here, and the session of the core is opened with them. Nothing here searches.
"""

from __future__ import annotations

import os
from types import EllipsisType

from anabranch import _core
from anabranch.catalogue import base_name, split_parameters
from anabranch.defaults import required, resolve
from anabranch.errors import EvaluatorError, GameError, VariantError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import NETWORK, resolve_evaluator
from anabranch.formats.tablebases import TablebasePaths, open_tablebases
from anabranch.game import CoreGame
from anabranch.loop import EvaluatorThread
from anabranch.named_games import (
    OBJECT,
    Adapter,
    adapter_of,
    check_not_reserved,
    core_name,
    is_for,
    is_reference,
    load_reference,
    remember,
)
from anabranch.networks.shipped import bundled
from anabranch.sessions import open_session
from anabranch.settings import Settings


class ConfiguredGame(CoreGame):
    """A game with what is needed to search it."""

    def __init__(
        self,
        variant: str = "chess",
        preset: str = "default",
        chess960: bool = False,
        *,
        game: object = None,
        evaluator: str | os.PathLike[str] | _core.Network | AnyEvaluator | None = None,
        tablebases: TablebasePaths | _core.Tablebases | None = None,
        **settings: bool | int | float | str,
    ) -> None:
        adapter = self._adapter = _read_game(game, variant, chess960)
        name = core_name(adapter) if adapter is not None else variant if game is None else str(game)
        variant, settings = split_parameters(name, settings)
        self._thread = EvaluatorThread()
        has_own = Settings.preset(preset).evaluator != Settings().evaluator  # the preset
        wants_bundled = evaluator == NETWORK or (evaluator is None and not has_own)
        self._evaluator, changes = read_evaluator(None if wants_bundled else evaluator, settings)
        self._preset = preset
        self._changes = changes
        self._settings = Settings.preset(preset).changed({**required(variant), **changes})
        settings_of_core, (external, network) = self._settings.to_dict(), source_of(self._evaluator)
        super().__init__(open_session(variant, chess960, settings_of_core, external, network, adapter))
        check_fit(self._evaluator, self._session, adapter)
        if wants_bundled and (evaluator is not None or bundled(self._variant) is not None):
            self.configure(evaluator=NETWORK)
        elif self._resolved(self._evaluator, changes) != self._settings:
            self.configure()
        if tablebases is not None:
            self.configure(tablebases=tablebases)

    @property
    def settings(self) -> Settings:
        """The settings in force.

        >>> from anabranch import Engine
        >>> Engine(q_epsilon=0.02).settings.q_epsilon
        0.02
        """
        return self._settings

    @property
    def evaluator(self) -> str | _core.Network | AnyEvaluator:
        """The evaluator: the name of a built-in one, the network, or what was given (a PyTorch module as
        the `TorchEvaluator` that wraps it).

        >>> from anabranch import Engine
        >>> Engine(evaluator="material").evaluator
        'material'
        """
        return self._settings.evaluator if self._evaluator is None else self._evaluator

    @property
    def tablebases(self) -> _core.Tablebases | None:
        """The tablebases in use, if there are any; their `problems` name the files that are not.

        >>> from anabranch import Engine
        >>> print(Engine().tablebases)
        None
        """
        with self._exclusive():
            return self._session.tablebases()

    def configure(
        self,
        *,
        evaluator: str | os.PathLike[str] | _core.Network | AnyEvaluator | None = None,
        tablebases: TablebasePaths | _core.Tablebases | EllipsisType | None = ...,
        **settings: bool | int | float | str,
    ) -> None:
        """Change settings, the evaluator or the tablebases (`None` leaves them aside). The graph is kept
        where it still means the same. Settings that were not set by hand follow the evaluator: see
        `anabranch.defaults`.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> engine.configure(c_init=3.0, evaluator="hash")
        >>> engine.settings.c_init, engine.evaluator
        (3.0, 'hash')
        """
        new, changes = read_evaluator(evaluator, settings, self._variant)
        if evaluator is None and "evaluator" not in changes:
            new = self._evaluator
        with self._exclusive():
            changes = {**self._changes, **changes}
            checked = self._resolved(new, changes)
            check_fit(new, self._session, self._adapter)
            tables = _read_tablebases(tablebases)
            self._session.configure(checked.to_dict(), *source_of(new))
            self._settings, self._evaluator, self._changes = checked, new, changes
            if not isinstance(tables, EllipsisType):
                self._session.set_tablebases(tables)

    def _resolved(
        self, evaluator: AnyEvaluator | _core.Network | None, changes: dict[str, object]
    ) -> Settings:
        judge = changes.get("evaluator", self._settings.evaluator) if evaluator is None else evaluator
        return resolve(self._preset, self._variant, judge, changes)

    def _outside_evaluator(self) -> AnyEvaluator | None:
        """The evaluator, if it is in Python."""
        if self._evaluator is not None and not isinstance(self._evaluator, _core.Network):
            return self._evaluator
        if self._session.is_external():
            made_by = "a network" if self._settings.evaluator == "network" else "an evaluator of Python"
            raise EvaluatorError(f"the graph was made with {made_by}, which must be given again")
        return None


def _read_game(game: object, variant: str, chess960: bool) -> Adapter | None:
    """The adapter of a game that is written in Python; none for the games of the core."""
    named = variant if game is None else game
    if not isinstance(named, str):
        adapter = remember(adapter_of(named))
    elif is_reference(named):
        adapter = load_reference(named)
    else:
        check_not_reserved(named)
        return None
    if variant not in ("chess", named):
        raise GameError(f"an engine plays one game: either {variant!r} or game={adapter.name}()")
    if chess960:
        raise GameError(f"{adapter.name} has no castling of Chess960")
    return adapter


def source_of(evaluator: AnyEvaluator | _core.Network | None) -> tuple[bool, _core.Network | None]:
    """Whether evaluations come from Python; and the network of the core, if there is one."""
    if isinstance(evaluator, _core.Network):
        return False, evaluator
    return evaluator is not None, None


def read_evaluator(
    evaluator: object, settings: dict[str, bool | int | float | str], variant: str | None = None
) -> tuple[AnyEvaluator | _core.Network | None, dict[str, object]]:
    """A Python evaluator, a network or none; and the settings, with the name of a built-in one among them."""
    changes: dict[str, object] = dict(settings)
    if evaluator is None:
        return None, changes
    threads = settings.get("threads")
    found = resolve_evaluator(evaluator, variant, threads=threads if type(threads) is int else None)
    if isinstance(found, str):
        return None, {**changes, "evaluator": found}
    if isinstance(found, _core.Network):
        return found, {**changes, "evaluator": NETWORK}
    return found, changes


def _read_tablebases(
    tablebases: TablebasePaths | _core.Tablebases | EllipsisType | None,
) -> _core.Tablebases | EllipsisType | None:
    """Open the tables of paths; `None` and `...` stay what they are."""
    if tablebases is None or isinstance(tablebases, (_core.Tablebases, EllipsisType)):
        return tablebases
    return open_tablebases(tablebases)


def check_fit(
    evaluator: AnyEvaluator | _core.Network | None, session: _core.Session, adapter: Adapter | None = None
) -> None:
    """Refuse an evaluator for another variant, or for planes that do not exist."""
    variant, (own, _) = getattr(evaluator, "variant", None), session.variant()
    is_own = adapter is not None and isinstance(variant, str) and is_for(variant, adapter)
    if isinstance(variant, str) and variant != own and not is_own:
        name = getattr(evaluator, "path", None) or repr(evaluator)
        raise VariantError(f"{name} is for {variant}, and this engine plays {own}")
    if base_name(own) == OBJECT and evaluator is not None:
        if getattr(evaluator, "inputs", "planes") != "positions":
            raise EvaluatorError("a game written in Python has no planes: its evaluator takes positions")
        return
    planes = getattr(evaluator, "planes", None)
    if planes is not None and not isinstance(planes, str):
        raise EvaluatorError(f"an evaluator's planes are the name of a version, not {type(planes).__name__}")
    session.shape(planes)
