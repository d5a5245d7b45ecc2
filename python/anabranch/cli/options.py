"""Options that several commands share, and what they mean to an engine.

Only text is read here; the settings check the values.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import typer

from anabranch.engine import Engine
from anabranch.errors import SettingError
from anabranch.evaluators.resolve import evaluator_names
from anabranch.settings import Settings, presets, variants

VariantOption: TypeAlias = Annotated[
    str, typer.Option("--variant", "-v", metavar="NAME", help=f"One of {', '.join(variants())}.")
]
Chess960Option: TypeAlias = Annotated[
    bool, typer.Option("--chess960", help="Castling as in Chess960: the king takes the rook.")
]
PresetOption: TypeAlias = Annotated[
    str, typer.Option("--preset", "-p", metavar="NAME", help=f"One of {', '.join(presets())}.")
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting; may be repeated. 'anabranch settings' lists them."
    ),
]
EvaluatorOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        "-e",
        metavar="NAME|FILE",
        help=f"One of {', '.join(evaluator_names())}, or a network file, .safetensors or .onnx.  "
        "[default: network]",
    ),
]
ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option("--threads", "-t", metavar="N", help="Threads; the graph does not depend on it.")
]
SimulationsOption: TypeAlias = Annotated[
    int | None, typer.Option("--simulations", "-n", metavar="N", help="Limit: simulations.")
]
EvaluationsOption: TypeAlias = Annotated[
    int | None, typer.Option("--evaluations", metavar="N", help="Limit: evaluations of positions.")
]
RayOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Do it on the Ray cluster there (HOST:PORT, or auto), not on this machine."
    ),
]
WorkersOption: TypeAlias = Annotated[
    int | None, typer.Option("--workers", "-w", metavar="N", help="Processes.  [default: the cores here]")
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]


def is_placement(text: str) -> bool:
    """Whether a text looks like the first field of a FEN, which is all of it that a shell leaves together.

    >>> is_placement("8/8/8/4k3/8/8/3QK3/8"), is_placement("tests/data/mates.epd"), is_placement("startpos")
    (True, False, False)
    """
    board = text.partition("[")[0].strip()
    return board.count("/") in (7, 8) and not set(board) - set("pnbrqkPNBRQK12345678/~")


def read_changes(
    assignments: Iterable[str] | None, evaluator: str | None = None, threads: int | None = None
) -> dict[str, str | int]:
    """The settings given by options, by name.

    >>> read_changes(["q_epsilon=0.02", "solver = off"], threads=2)
    {'q_epsilon': '0.02', 'solver': 'off', 'threads': 2}
    """
    changes: dict[str, str | int] = {}
    for assignment in assignments or ():
        name, equals, value = (part.strip() for part in assignment.partition("="))
        if not (name and equals and value):
            raise SettingError(f"a setting is given as name=value, not {assignment!r}")
        changes[name] = value
    if evaluator is not None:
        changes["evaluator"] = evaluator
    if threads is not None:
        changes["threads"] = threads
    return changes


def make_engine(
    variant: str, preset: str, chess960: bool = False, changes: dict[str, str | int] | None = None
) -> Engine:
    """An engine as options describe it."""
    given = dict(changes or {})
    evaluator = given.pop("evaluator", None)
    checked = Settings.preset(preset).changed(given)
    settings = {name: getattr(checked, name) for name in given}
    return Engine(
        variant, preset, chess960, evaluator=None if evaluator is None else str(evaluator), **settings
    )


def configure(engine: Engine, changes: dict[str, str | int]) -> None:
    """Change settings that came as text."""
    given = dict(changes)
    evaluator = given.pop("evaluator", None)
    checked = engine.settings.changed(given)
    settings = {name: getattr(checked, name) for name in given}
    engine.configure(evaluator=None if evaluator is None else str(evaluator), **settings)


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
    for field in dataclasses.fields(settings):
        if field.name in skip:
            continue
        hint = hints[field.name]
        # A switch that is off has no second name to switch it off.
        names = (f"--{field.name.replace('_', '-')}",) if field.default is False else ()
        metavar = next((name for word, name in METAVARS.items() if word in str(hint)), "NAME")
        option = typer.Option(*names, metavar=metavar, help=texts.get(field.name))
        kind = (own or {}).get(field.name, Annotated[hint, option])
        default = Parameter.empty if field.default is dataclasses.MISSING else field.default
        added.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))

    def decorate(command: Callable[..., Returned]) -> Callable[..., Returned]:
        @functools.wraps(command)
        def wrapped(**values: Any) -> Returned:
            given = {parameter.name: values.pop(parameter.name) for parameter in added}
            return command(**{into: given}, **values)

        before = inspect.signature(command, eval_str=True).parameters.values()
        kept = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in before if one.name != into]
        wrapped.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
        wrapped.__annotations__ = {one.name: one.annotation for one in (*kept, *added)}
        return wrapped

    return decorate


@functools.cache
def _classes(path: str) -> dict[str, ast.ClassDef]:
    """The classes of a file by name."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


@functools.cache
def field_texts(settings: type) -> dict[str, str]:
    """The texts below the fields of a dataclass, by field."""
    body = _classes(inspect.getfile(settings))[settings.__name__].body
    texts = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts
