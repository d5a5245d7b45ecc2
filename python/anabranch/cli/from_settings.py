"""Options built from the settings classes that they fill.

A field of a dataclass becomes an option: its name is the flag, its docstring the help, its type decides how
the text is read. `options_from` gives a command the options of one class, with the defaults of that class.
`with_settings` serves commands with several classes that must know which options were given.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache, wraps
from inspect import Parameter
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

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

    def options(self) -> dict[str, tuple[Parameter, str]]:
        """A parameter for each field, with the name of the field, by the name of the parameter."""
        found = {}
        for entry in fields(self.kind):
            if not self.only or entry.name in self.only:
                name = f"{self.prefix}{entry.name}".replace("-", "_")
                parameter = Parameter(
                    name, Parameter.KEYWORD_ONLY, default=None, annotation=self._annotation(entry)
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


METAVARS = {"tuple": "N N", "bool": None, "int": "N", "float": "X"}
"""What stands for the value of an option of a type."""
Returned = TypeVar("Returned")


def options_from(
    settings: type,
    into: str = "given",
    *,
    skip: Iterable[str] = (),
    own: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """A decorator that gives a command one option for each field of a dataclass, but for those of `skip`. The
    command's parameter `into` gets their values by name.

    Names, types and defaults are those of the fields, and the text below a field is the help of its option.
    `own` has types for fields whose option is more than that.
    """
    hints, texts = get_type_hints(settings), field_texts(settings)
    added = []
    for entry in fields(settings):
        if entry.name in skip:
            continue
        hint = hints[entry.name]
        # A switch that is off has no second name to switch it off.
        names = (f"--{entry.name.replace('_', '-')}",) if entry.default is False else ()
        metavar = next((name for word, name in METAVARS.items() if word in str(hint)), "NAME")
        option = typer.Option(*names, metavar=metavar, help=texts.get(entry.name))
        kind = (own or {}).get(entry.name, Annotated[hint, option])
        default = Parameter.empty if entry.default is MISSING else entry.default
        added.append(Parameter(entry.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))

    def decorate(command: Callable[..., Returned]) -> Callable[..., Returned]:
        @wraps(command)
        def wrapped(**values: Any) -> Returned:
            given = {parameter.name: values.pop(parameter.name) for parameter in added}
            return command(**{into: given}, **values)

        before = inspect.signature(command, eval_str=True).parameters.values()
        kept = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in before if one.name != into]
        wrapped.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
        wrapped.__annotations__ = {one.name: one.annotation for one in (*kept, *added)}
        return wrapped

    return decorate


@cache
def _classes(path: str) -> dict[str, ast.ClassDef]:
    """The classes of a file by name."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


@cache
def field_texts(settings: type) -> dict[str, str]:
    """The texts below the fields of a dataclass, by field."""
    body = _classes(inspect.getfile(settings))[settings.__name__].body
    texts = {}
    for entry, below in pairwise(body):
        match entry, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts
