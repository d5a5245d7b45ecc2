"""Options that several commands share, and what they mean to an engine.

Only text is read here; the settings check the values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.from_settings import FromSettings
from anabranch.engine import Engine
from anabranch.errors import SettingError
from anabranch.evaluators.resolve import evaluator_names
from anabranch.limits import Limits
from anabranch.settings import Settings, presets, variants


def option(metavar: str | None, text: str, *flags: str) -> Any:
    """An option with its help."""
    return typer.Option(*flags, metavar=metavar, help=text)


def argument(metavar: str, text: str) -> Any:
    """An argument with its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def group(text: str) -> typer.Typer:
    """A command that has commands of its own."""
    names = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None, context_settings=names)


VariantOption: TypeAlias = Annotated[
    str,
    option(
        "NAME",
        f"One of {', '.join(variants())}; or another game: 'anabranch games' lists them; or one written in "
        "Python, module:Class.",
        "--variant",
        "--game",
        "-v",
    ),
]
ChessVariantOption: TypeAlias = Annotated[
    str, option("NAME", f"One of {', '.join(variants())}.", "--variant", "--game", "-v")
]
"""For what other games do not have."""
Chess960Option: TypeAlias = Annotated[
    bool, option(None, "Castling as in Chess960: the king takes the rook.", "--chess960")
]
PresetOption: TypeAlias = Annotated[str, option("NAME", f"One of {', '.join(presets())}.", "--preset", "-p")]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    option("NAME=VALUE", "A setting; may be repeated. 'anabranch settings' lists them.", "--set"),
]
EvaluatorOption: TypeAlias = Annotated[
    str | None,
    option(
        "NAME|FILE",
        f"One of {', '.join(evaluator_names())}, or a network file, .safetensors, .onnx or .pb.gz; openvino: "
        "before an ONNX network chooses its runtime.  "
        "[default: network]",
        "--evaluator",
        "-e",
    ),
]
ThreadsOption: TypeAlias = Annotated[
    int | None,
    option("N", "Threads; the graph does not depend on it.  [default: the usable cores]", "--threads", "-t"),
]
RayOption: TypeAlias = Annotated[
    str | None, option("ADDRESS", "Run on this Ray cluster (HOST:PORT or auto).", "--ray")
]
WorkersOption: TypeAlias = Annotated[
    int | None, option("N", "Worker processes.  [default: number of cores]", "--workers", "-w")
]
JsonOption: TypeAlias = Annotated[bool, option(None, "Print one JSON document and nothing else.", "--json")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """The engine of a command."""

    variant: VariantOption = "chess"
    chess960: Chess960Option = False
    preset: PresetOption = "default"
    evaluator: EvaluatorOption = None
    threads: ThreadsOption = None
    set: SetOption = None

    @property
    def changes(self) -> dict[str, str | int]:
        """The settings that differ from the preset, by name."""
        return read_changes(self.set, self.evaluator, self.threads)

    def make(self) -> Engine:
        """The engine."""
        return make_engine(self.variant, self.preset, self.chess960, self.changes)


EngineGroup: TypeAlias = Annotated[dict[str, Any], FromSettings(EngineOptions)]


def limit_options(*names: str, **defaults: str) -> FromSettings:
    """Options for some limits of a search, with defaults that the help shows."""
    short, metavars = {"simulations": "-n"}, {"time": "SECONDS", "mate": "MOVES"}
    return FromSettings(Limits, only=names, short=short, metavars=metavars, defaults=defaults)


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
    return Engine(variant, preset, chess960, **_checked(Settings.preset(preset), changes or {}))


def configure(engine: Engine, changes: dict[str, str | int]) -> None:
    """Change settings that came as text."""
    engine.configure(**_checked(engine.settings, changes))


def _checked(settings: Settings, changes: dict[str, str | int]) -> dict[str, Any]:
    """Changes of settings as values; an evaluator among them stays what it is."""
    given = {name: value for name, value in changes.items() if name != "evaluator"}
    checked = settings.changed(given)
    evaluator = None if "evaluator" not in changes else str(changes["evaluator"])
    return {"evaluator": evaluator, **{name: getattr(checked, name) for name in given}}


def position_text(position: str | None, moves: str | None) -> str:
    """A position with the moves of `--moves` behind its own.

    >>> position_text(None, "e4 e5"), position_text("startpos moves e4", "e5")
    ('startpos moves e4 e5', 'startpos moves e4 e5')
    """
    text = position or "startpos"
    if not moves:
        return text
    return f"{text} {moves}" if " moves" in text else f"{text} moves {moves}"
