"""Games written in Python, by name: `module:Class`, such as `anabranch.examples:ConnectFour`.

Such a name is accepted wherever a game is named: by `Engine`, on the command line, in matches, studies and
self-play. What it names is called without arguments, or with those after a second colon:
`anabranch.examples:LeftRight:steps=20`. A module is imported only for a name that the user gives. Names that
come from elsewhere (files, queries, browsers) import nothing: their game must have been loaded before.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from functools import cache
from operator import attrgetter
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

_NAME = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<attribute>[A-Za-z_][\w.]*)(?::(?P<arguments>.*))?")
_named: dict[str, Adapter] = {}
"""Games that were loaded by name, with their arguments."""
_classes: dict[str, Adapter] = {}
"""The game of each class that was used last, by name or as an object."""


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


def check_not_reserved(name: str) -> None:
    """Refuse a module with the name of a game that ships, which is taken for that game."""
    match = _NAME.fullmatch(name)
    if match is not None and match["module"] in _reserved():
        raise VariantError(
            f"{name} is not a game: a parameter is NAME=VALUE, and a module of yours must not be named "
            f"{match['module']}"
        )


def load_reference(name: str) -> Adapter:
    """Import a game by name, with the current folder on the path of modules.

    >>> load_reference("anabranch.examples:LeftRight:steps=5").name
    'LeftRight'
    """
    if name not in _named:
        adapter = adapter_of(_load(name))
        match = _NAME.fullmatch(name)
        adapter.arguments = (match["arguments"] or "") if match else ""
        _named[name] = _named[full_name(adapter)] = adapter
    remember(_named[name])
    return _named[name]


def remember(adapter: Adapter) -> Adapter:
    """From now on, networks of this game can be opened."""
    _classes[class_name(adapter)] = adapter
    return adapter


def adapter_of(game: object) -> Adapter:
    """What the core calls, for a game of either kind."""
    if isinstance(game, type):
        raise GameError(f"game takes a game, not its class: game={game.__name__}()")
    return RowsAdapter(game) if is_rows(game) else ObjectAdapter(game)


def class_name(adapter: Adapter) -> str:
    """The name of a game's class, without arguments.

    >>> from anabranch.examples import ConnectFour
    >>> class_name(adapter_of(ConnectFour()))
    'anabranch.examples.connect_four:ConnectFour'
    """
    kind = type(adapter.game if isinstance(adapter, RowsAdapter) else adapter.first)
    return f"{kind.__module__}:{kind.__qualname__}"


def full_name(adapter: Adapter) -> str:
    """The name of a game's class, with the arguments where it was loaded by name.

    >>> full_name(load_reference("anabranch.examples:LeftRight:steps=5"))
    'anabranch.examples.left_right:LeftRight:steps=5'
    """
    return f"{class_name(adapter)}:{adapter.arguments}" if adapter.arguments else class_name(adapter)


def is_for(name: str, adapter: Adapter) -> bool:
    """Whether a full name is that of a game. Arguments of a game that is given as an object are not known."""
    match = _NAME.fullmatch(name)
    if match is None or f"{match['module']}:{match['attribute']}" != class_name(adapter):
        return False
    return adapter.arguments in (None, match["arguments"] or "")


def check_loaded(name: str) -> str:
    """A name that came from elsewhere: one of a module is refused unless it was loaded by this name.

    >>> check_loaded("hex:size=7")
    'hex:size=7'
    """
    if not is_loaded(name):
        raise VariantError(f"the game {name} is not loaded, and a name alone does not import it")
    return name


def is_loaded(name: str) -> bool:
    """Whether a game needs no import: it is not one of a module, or was loaded by this name.

    >>> is_loaded("hex:size=7"), is_loaded("nowhere:Game")
    (True, False)
    """
    return not is_reference(name) or name in _named


def find_named(name: str) -> Adapter | None:
    """A game that was loaded by this name."""
    return _named.get(name)


def find_loaded(name: str) -> Adapter | None:
    """A game that was loaded by this name, or else one of the same class that was used last."""
    match = _NAME.fullmatch(name)
    if name in _named or match is None:
        return _named.get(name)
    return _classes.get(f"{match['module']}:{match['attribute']}")


def loaded_reference(name: str) -> Adapter:
    """The same; refused where there is none."""
    adapter = find_loaded(name)
    if adapter is None:
        raise VariantError(f"the game {name} must be loaded first: Engine(game={name!r}), or --game {name}")
    return adapter


def core_name(adapter: Adapter) -> str:
    """The name of a game in the core.

    >>> from anabranch.examples import ConnectFour
    >>> core_name(adapter_of(ConnectFour()))
    'rows:ConnectFour'
    """
    return f"{ROWS if isinstance(adapter, RowsAdapter) else OBJECT}:{adapter.name}"


def _load(name: str) -> object:
    match = _NAME.fullmatch(name)
    if match is None:
        raise VariantError(f"a game written in Python is module:Class, not {name!r}")
    module = _import(match["module"], name)
    try:
        found: Any = attrgetter(match["attribute"])(module)
    except AttributeError:
        raise VariantError(f"the module {match['module']} has no {match['attribute']}") from None
    arguments = match["arguments"]
    if not callable(found):
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
            stem = module.removesuffix(".py")
            hint = f"; without .py it is {stem}" if stem != module else ""
            raise VariantError(f"there is no game {name}: no module is named {module}{hint}") from error
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
