"""Options that several commands share, and what they mean to an engine.

Only text is read here; the settings check the values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

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
    str | None, typer.Option(metavar="ADDRESS", help="Run on this Ray cluster (HOST:PORT or auto).")
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--workers", "-w", metavar="N", help="Worker processes.  [default: number of cores]"),
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
