"""Games written in Python, by name: `module:Class`, such as `anabranch.examples:ConnectFour`.

Such a name is accepted wherever a game is named: by `Engine`, on the command line, in matches, studies and
self-play. The class is called without arguments, or with those after a second colon:
`anabranch.examples:LeftRight:steps=20`. A module is imported only for a name that the user gives. A file that
names a game imports nothing: its game must have been loaded before.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from functools import cache
from typing import Any, TypeAlias

from anabranch import _core
from anabranch.errors import AnabranchError, GameError, VariantError
from anabranch.objects import ObjectAdapter
from anabranch.rows import RowsAdapter, is_rows

OBJECT = "object"
"""What the core's names of games of objects begin with."""
ROWS = "rows"
"""The same for games of rows."""
Adapter: TypeAlias = ObjectAdapter | RowsAdapter

_NAME = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<attribute>[A-Za-z_]\w*)(?::(?P<arguments>.*))?")
_known: dict[str, Adapter] = {}


def is_reference(name: str) -> bool:
    """Whether a name is that of a game written in Python. Nothing is imported.

    >>> is_reference("anabranch.examples:ConnectFour"), is_reference("hex:size=7"), is_reference("chess")
    (True, False, False)
    """
    match = _NAME.fullmatch(name)
    return match is not None and match["module"] not in _reserved()


@cache
def _reserved() -> frozenset[str]:
    """What names of games begin with that are not modules."""
    return frozenset({OBJECT, ROWS, *(row["name"] for row in _core.grid_games())})


def load_reference(name: str) -> Adapter:
    """Import a game by name, with the current folder on the path of modules.

    >>> load_reference("anabranch.examples:LeftRight:steps=5").name
    'LeftRight'
    """
    if name not in _known:
        _known[name] = adapter_of(_load(name))
    return _known[name]


def is_loaded(name: str) -> bool:
    """Whether a game was loaded before, by its name or as an object."""
    return name in _known


def check_loaded(name: str) -> str:
    """A name that came from outside, such as a query: one of a module that is not loaded is refused.

    >>> check_loaded("hex:size=7")
    'hex:size=7'
    """
    if is_reference(name):
        known_reference(name)
    return name


def known_reference(name: str) -> Adapter:
    """A game that was loaded before."""
    if not is_loaded(name):
        raise VariantError(f"the game {name} must be loaded first: Engine(game={name!r}), or --game {name}")
    return _known[name]


def adapter_of(game: object) -> Adapter:
    """What the core calls, for a game of either kind. From now on the game is known by its name.

    >>> from anabranch.examples import ConnectFour
    >>> reference_of(adapter_of(ConnectFour()))
    'anabranch.examples.connect_four:ConnectFour'
    """
    if isinstance(game, type):
        raise GameError(f"game takes a game, not its class: game={game.__name__}()")
    adapter = RowsAdapter(game) if is_rows(game) else ObjectAdapter(game)
    _known[reference_of(adapter)] = adapter
    return adapter


def reference_of(adapter: Adapter) -> str:
    """The name of a game's class, without arguments."""
    kind = type(adapter.game if isinstance(adapter, RowsAdapter) else adapter.first)
    return f"{kind.__module__}:{kind.__qualname__}"


def core_name(adapter: Adapter) -> str:
    """The name of a game in the core.

    >>> from anabranch.examples import ConnectFour
    >>> core_name(adapter_of(ConnectFour()))
    'rows:ConnectFour'
    """
    return f"{ROWS if isinstance(adapter, RowsAdapter) else OBJECT}:{adapter.name}"


def open_session(
    variant: str,
    chess960: bool,
    settings: dict[str, Any],
    external: bool,
    network: _core.Network | None = None,
    adapter: Adapter | None = None,
) -> _core.Session:
    """A session of the core for a game that ships, or for the game of `adapter`, or for one by name that is
    known.
    """
    if adapter is None and is_reference(variant):
        adapter = known_reference(variant)
    if adapter is None:
        return _core.Session(variant, chess960, settings, external, network)
    if network is not None:
        raise VariantError(f"{network.path} is for {network.variant}, and this engine plays {adapter.name}")
    of_game = _core.Session.of_rows if isinstance(adapter, RowsAdapter) else _core.Session.of_object
    return of_game(adapter.name, adapter, settings, external)


def _load(name: str) -> object:
    match = _NAME.fullmatch(name)
    if match is None:
        raise VariantError(f"a game written in Python is module:Class, not {name!r}")
    found: Any = getattr(_import(match["module"], name), match["attribute"], None)
    if found is None:
        raise VariantError(f"the module {match['module']} has no {match['attribute']}")
    arguments = match["arguments"]
    if not isinstance(found, type) and not callable(found):
        if arguments:
            raise VariantError(f"{match['module']}:{match['attribute']} takes no arguments")
        return found
    try:
        return found(**_read_arguments(arguments or "", name))
    except AnabranchError:
        raise
    except Exception as error:
        raise VariantError(f"{name} cannot be made: {type(error).__name__}: {error}") from error


def _import(module: str, name: str) -> Any:
    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise VariantError(f"there is no game {name}: no module is named {module}") from error
        raise VariantError(f"the game {name} cannot be imported: {error}") from error
    except Exception as error:
        raise VariantError(f"the game {name} cannot be imported: {type(error).__name__}: {error}") from error


def _read_arguments(text: str, name: str) -> dict[str, int | float | str]:
    """The arguments of a class, as numbers where they are."""
    found: dict[str, int | float | str] = {}
    for part in text.split(",") if text else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and key.isidentifier() and value):
            raise VariantError(f"an argument of a game is NAME=VALUE, not {part!r} in {name}")
        found[key] = _number(value)
    return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
