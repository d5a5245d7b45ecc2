"""Options built from the settings classes that they fill.

A field of a dataclass becomes an option: its name is the flag, its docstring the help, its type decides how
the text is read. A parameter with `FromSettings` receives the values of those options that were given; the
class has the defaults of the others. A field whose type names an option of typer becomes that option.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, wraps
from inspect import Parameter
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

from anabranch.errors import SettingError

OFF = "off"
"""The text of a value that is None."""


@dataclass(frozen=True)
class FromSettings:
    """Marks a parameter that receives fields of a dataclass: `Annotated[dict, FromSettings(...)]`."""

    settings: Any
    """The class, or an instance with the defaults that the help shows."""
    only: Collection[str] = ()
    """Fields; without any, all."""
    skip: Collection[str] = ()
    """Fields that have no option."""
    prefix: str = ""
    """Of the flags: `sprt-` makes `--sprt-alpha`."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Second names of flags, as `-n`."""
    metavars: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Defaults that the help shows in place of those of the settings."""
    raw: bool = False
    """Whether the command receives texts and reads them itself."""
    optional: bool = False
    """Whether all options may be missing, those of fields without a default too."""

    @property
    def kind(self) -> type:
        """The dataclass."""
        return self.settings if isinstance(self.settings, type) else type(self.settings)

    def options(self) -> dict[str, tuple[Parameter, str]]:
        """A parameter for each field, with the name of the field, by the name of the parameter."""
        found = {}
        for entry in fields(self.kind):
            if entry.name not in self.skip and (not self.only or entry.name in self.only):
                name = f"{self.prefix}{entry.name}".replace("-", "_")
                is_needed = self._default(entry.name) is MISSING and not self.optional
                default = Parameter.empty if is_needed else None
                annotation = self._annotation(entry)
                parameter = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                found[name] = parameter, entry.name
        return found

    def _annotation(self, entry: Field[Any]) -> Any:
        flag = flag_of(self.prefix + entry.name)
        names = (flag, *filter(None, [self.short.get(entry.name)]))
        text = field_texts(self.kind).get(entry.name, "")
        default = self._default(entry.name)
        shown = "" if default in (None, MISSING, ()) else text_of(default)
        shown = self.defaults.get(entry.name, shown)
        hint, _, option = types_of(self.kind)[entry.name]
        if option is not None:
            option = copy(option)
            option.show_default = shown if shown and default is not False else False
            return Annotated[hint | None, option]
        if hint is bool:
            # A switch that is off has no second name to switch it off.
            switch = flag if default is False else f"{flag}/--no-{flag[2:]}"
            return Annotated[bool | None, typer.Option(switch, help=text)]
        metavar = self.metavars.get(entry.name) or _metavar(hint)
        help_text = f"{text}  [default: {shown}]" if shown else text
        is_read = get_origin(hint) is tuple and get_args(hint)[1:] != (...,)
        taken = hint if is_read else list[str] if hint == tuple[str, ...] else str
        return Annotated[taken | None, typer.Option(*names, metavar=metavar, help=help_text)]

    def _default(self, name: str) -> Any:
        if not isinstance(self.settings, type):
            return getattr(self.settings, name)
        entry = next(entry for entry in fields(self.kind) if entry.name == name)
        return entry.default if entry.default_factory is MISSING else None

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the fields, by what their options took."""
        if self.raw:
            return dict(given)
        values: dict[str, Any] = {}
        for name, taken in given.items():
            hint, is_optional, _ = types_of(self.kind)[name]
            if isinstance(taken, list):
                values[name] = tuple(taken)
            elif not isinstance(taken, str):
                values[name] = taken
            elif taken == OFF and is_optional and self._default(name) is not None:
                values[name] = None
            else:
                values[name] = read_value(flag_of(self.prefix + name), taken, hint)
        return values


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters with `FromSettings` become options, one for each field."""
    hints = get_type_hints(command, include_extras=True)
    parameters: dict[str, Parameter] = {}
    built: dict[str, tuple[FromSettings, dict[str, str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        source = next((one for one in get_args(hints[name])[1:] if isinstance(one, FromSettings)), None)
        if source is None:
            kind = Parameter.KEYWORD_ONLY
            parameters[name] = parameter.replace(annotation=hints[name], kind=kind)
        else:
            options = source.options()
            parameters |= {option: found for option, (found, _) in options.items()}
            built[name] = source, {option: entry for option, (_, entry) in options.items()}

    @wraps(command)
    def run(**arguments: Any) -> None:
        for name, (source, options) in built.items():
            taken = {entry: arguments.pop(option) for option, entry in options.items()}
            arguments[name] = source.read({entry: one for entry, one in taken.items() if one is not None})
        command(**arguments)

    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: found.annotation for name, found in parameters.items()}
    return run


def flag_of(name: str) -> str:
    """The flag of a field.

    >>> flag_of("resign_score")
    '--resign-score'
    """
    return f"--{name.replace('_', '-')}"


class _Type(NamedTuple):
    """The type of a field without None, whether it may be None, and the option that it names."""

    hint: Any
    is_optional: bool
    option: OptionInfo | None


@cache
def types_of(kind: type) -> dict[str, _Type]:
    """The types of the fields of a class."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        option = None
        if get_origin(hint) is Annotated:
            hint, option = get_args(hint)[:2]  # noqa: PLW2901
        parts = [part for part in get_args(hint) if part is not type(None)]
        is_optional = isinstance(hint, UnionType) and len(parts) == 1
        found[name] = _Type(parts[0] if is_optional else hint, is_optional, option)
    return found


def _metavar(kind: Any) -> str:
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        if parts == (str, ...):
            return "NAME"
        return f"{_metavar(parts[0])},..." if parts[1:] == (...,) else " ".join(map(_metavar, parts))
    return {int: "N", float: "X"}.get(kind, "NAME")


def text_of(value: Any) -> str:
    """A value as it is given on the command line, or as a list of what is given one by one.

    >>> text_of(0.5), text_of((2, 10)), text_of(("rollout", "first"))
    ('0.5', '2 10', 'rollout, first')
    """
    if not isinstance(value, tuple):
        return str(value)
    return (", " if isinstance(value[0], str) else " ").join(map(str, value))


def read_value(flag: str, text: str, kind: Any) -> Any:
    """The value of a text for a field of some type.

    >>> read_value("--pairs", "10", int), read_value("--times", "0.1,0.2", tuple[float, ...])
    (10, (0.1, 0.2))
    """
    if get_origin(kind) is tuple:
        part = get_args(kind)[0]
        try:
            return tuple(sorted({part(one) for one in text.split(",")}))
        except ValueError:
            raise SettingError(f"{flag} takes numbers with commas between, not {text!r}") from None
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        word = "a whole number" if kind is int else "a number"
        raise SettingError(f"{flag} takes {word}, not {text!r}") from None


@cache
def field_texts(settings: type) -> dict[str, str]:
    """The texts below the fields of a dataclass, by field."""
    tree = ast.parse(Path(inspect.getfile(settings)).read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    texts = {}
    for entry, below in pairwise(classes[settings.__name__].body):
        match entry, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts
