"""Options of several settings classes in one command, where it matters which of them were given.

A field of a dataclass becomes an option: its name the flag, its docstring the help, its type the way in which
the text is read. A command receives the fields that were given, by name, and makes its settings of them.
`options_from` of `anabranch.cli.options` is the simpler way for one class whose defaults are those of the
command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, wraps
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from anabranch.cli.options import field_texts
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
    prefix: str = ""
    """Of the flags: `sprt-` makes `--sprt-alpha`."""
    metavars: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Defaults that the help shows in place of those of the settings."""
    raw: bool = False
    """Whether the command receives texts and reads them itself."""

    @property
    def kind(self) -> type:
        """The dataclass."""
        return self.settings if isinstance(self.settings, type) else type(self.settings)

    def options(self) -> dict[str, tuple[inspect.Parameter, str]]:
        """A parameter for each field, with the name of the field, by the name of the parameter."""
        found = {}
        for entry in fields(self.kind):
            if not self.only or entry.name in self.only:
                name = f"{self.prefix}{entry.name}".replace("-", "_")
                parameter = inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=self._annotation(entry)
                )
                found[name] = parameter, entry.name
        return found

    def _annotation(self, entry: Field[Any]) -> Any:
        flag = flag_of(self.prefix + entry.name)
        text = field_texts(self.kind).get(entry.name, "")
        default = self._default(entry.name)
        shown = self.defaults.get(entry.name) or ("" if default is None else str(default))
        hint, _ = types_of(self.kind)[entry.name]
        if hint is bool:
            return Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", help=text)]
        metavar = self.metavars.get(entry.name) or _metavar(hint)
        return Annotated[
            str | None,
            typer.Option(flag, metavar=metavar, help=f"{text}  [default: {shown}]" if shown else text),
        ]

    def _default(self, name: str) -> Any:
        if not isinstance(self.settings, type):
            return getattr(self.settings, name)
        default = next(entry.default for entry in fields(self.kind) if entry.name == name)
        return None if default is MISSING else default

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the fields, by the texts of their options."""
        if self.raw:
            return dict(given)
        values: dict[str, Any] = {}
        for name, text in given.items():
            hint, is_optional = types_of(self.kind)[name]
            if isinstance(text, bool):
                values[name] = text
            elif text == OFF and is_optional and self._default(name) is not None:
                values[name] = None
            else:
                values[name] = read_value(flag_of(self.prefix + name), text, hint)
        return values


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters with `FromSettings` become options, one for each field."""
    hints = get_type_hints(command, include_extras=True)
    parameters: dict[str, inspect.Parameter] = {}
    built: dict[str, tuple[FromSettings, dict[str, str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        source = next((one for one in get_args(hints[name])[1:] if isinstance(one, FromSettings)), None)
        if source is None:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters[name] = parameter.replace(annotation=hints[name], kind=kind)
        else:
            options = source.options()
            parameters |= {option: found for option, (found, _) in options.items()}
            built[name] = source, {option: entry for option, (_, entry) in options.items()}

    @wraps(command)
    def run(**arguments: Any) -> None:
        for name, (source, options) in built.items():
            texts = {entry: arguments.pop(option) for option, entry in options.items()}
            arguments[name] = source.read({entry: text for entry, text in texts.items() if text is not None})
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


@cache
def types_of(kind: type) -> dict[str, tuple[Any, bool]]:
    """The types of the fields of a class without None, and whether they may be None."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        parts = [part for part in get_args(hint) if part is not type(None)]
        is_optional = isinstance(hint, UnionType) and len(parts) == 1
        found[name] = (parts[0] if is_optional else hint), is_optional
    return found


def _metavar(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return f"{_metavar(get_args(kind)[0])},..."
    return {int: "N", float: "X"}.get(kind, "TEXT")


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
