"""The messages of a browser, and their bounds.

Everything that arrives is read here, and only here: an unknown field, a number out of range or a text that is
too long is refused with a sentence. No field is a path or a command: networks are chosen by name among those
of the server, and threads and memory only below its limits.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from anabranch.defaults import MOST_THREADS
from anabranch.errors import AnabranchError
from anabranch.named_games import is_reference
from anabranch.settings import presets
from anabranch.strength import HIGHEST, LOWEST

LARGEST_MESSAGE = 64 * 1024
"""Bytes of a message; a game of 1,024 moves has some 10,000."""
MOST_MOVES = 2048
MOST_NODES = 2000
"""Nodes of the graph that are shown."""
LEAST_MEMORY = 16
"""MB."""

CHANGEABLE = (
    "backup",
    "stop",
    "q_epsilon",
    "merge",
    "solver",
    "improve",
    "mate_leaf",
    "mate_growth",
    "mate_root",
    "epsilon_greedy",
    "epsilon_checks",
    "epsilon_captures",
    "epsilon_threats",
    "chooser",
    "q_weight",
    "c_init",
    "urgency",
    "node_temperature",
    "virtual_mode",
    "table_values",
)
"""The settings that a browser may change."""


Variant: TypeAlias = Literal["chess", "crazyhouse"]
VARIANTS = get_args(Variant)


class MessageError(AnabranchError, ValueError):
    """A message of a browser makes no sense."""


def _refuse_module(name: str) -> str:
    """A browser may not name a game of a module, which would be imported."""
    if is_reference(name):
        raise ValueError("a game on a grid is one of those that ship")
    return name


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Game(_Strict):
    """A game up to the position in question."""

    variant: Variant
    chess960: bool = False
    fen: Annotated[str, Field(max_length=200, pattern=r"^[ -~]+$")]
    """Where it began."""
    moves: Annotated[
        list[Annotated[str, Field(pattern=r"^([a-h][1-8]){2}[qrbn]?$|^[PNBRQ]@[a-h][1-8]$")]],
        Field(max_length=MOST_MOVES),
    ] = []


class GridGame(_Strict):
    """A game on a grid up to the position in question."""

    name: Annotated[
        str, Field(pattern=r"^[a-z-]{1,20}(:[a-z0-9=.,-]{1,60})?$"), AfterValidator(_refuse_module)
    ]
    """With its parameters, as "hex:size=7"."""
    moves: Annotated[
        list[Annotated[str, Field(pattern=r"^[a-z0-9]{1,6}$")]], Field(max_length=MOST_MOVES)
    ] = []


class SearchConfig(_Strict):
    """A preset, and settings that differ from it."""

    preset: Annotated[str, Field(max_length=40)] = "default"
    network: Annotated[str, Field(pattern=r"^[\w.+-]{1,80}$")] | None = None
    """One of the installed networks by its name; none for the evaluator of the server."""
    changes: Annotated[
        dict[Annotated[str, Field(max_length=40)], bool | int | float | Annotated[str, Field(max_length=40)]],
        Field(max_length=len(CHANGEABLE)),
    ] = {}


class Machine(_Strict):
    """What a search uses of the machine; the server's own limits are never exceeded."""

    threads: Annotated[int, Field(ge=1, le=MOST_THREADS)] | None = None
    memory: Annotated[int, Field(ge=LEAST_MEMORY, le=1 << 20)] | None = None
    """MB for all graphs of the browser."""
    tablebases: bool = True
    """Whether to use those of the server."""


class View(_Strict):
    """The part of the graph that is shown."""

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = 300
    depth: Annotated[int, Field(ge=1, le=100)] = 12
    visits: Annotated[int, Field(ge=0, le=1_000_000_000)] = 1


class Elo(_Strict):
    """Play at a strength."""

    by: Literal["elo"]
    elo: Annotated[int, Field(ge=LOWEST, le=HIGHEST)]


class Evaluations(_Strict):
    """Play with so many evaluations for a move."""

    by: Literal["evaluations"]
    evaluations: Annotated[int, Field(ge=1, le=10_000_000)]


class Seconds(_Strict):
    """Play with so much time for a move."""

    by: Literal["seconds"]
    seconds: Annotated[float, Field(gt=0, le=600)]


class Clock(_Strict):
    """Play by a clock."""

    by: Literal["clock"]
    left: Annotated[float, Field(ge=0, le=86_400)]
    increment: Annotated[float, Field(ge=0, le=3_600)] = 0.0


class Human(_Strict):
    """Play as people of a rating do: by the policy of an installed network, without search."""

    by: Literal["human"]
    rating: Annotated[int, Field(ge=100, le=9999)]
    temperature: Annotated[float, Field(ge=0, le=10)] = 1.0
    """0 is the most probable move."""


Level: TypeAlias = Annotated[Elo | Evaluations | Seconds | Clock | Human, Field(discriminator="by")]
Number: TypeAlias = Annotated[int, Field(ge=0, le=2**31)]


class Analyse(_Strict):
    """Search a position until `stop`; with one configuration, or with two in turn."""

    type: Literal["analyse"]
    id: Number
    game: Game
    configs: Annotated[list[SearchConfig], Field(min_length=1, max_length=2)]
    machine: Machine = Machine()
    lines: Annotated[int, Field(ge=1, le=8)] = 3
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    view: View | None = None
    """Show the graph too."""


class Play(_Strict):
    """Choose a move."""

    type: Literal["play"]
    id: Number
    game: Game
    config: SearchConfig = SearchConfig()
    machine: Machine = Machine()
    level: Level
    clock: Clock | None = None
    """A clock that the move must respect, whatever the level is."""


class GridAnalyse(_Strict):
    """Search a position of a game on a grid until `stop`."""

    type: Literal["grid-analyse"]
    id: Number
    game: GridGame
    configs: Annotated[list[SearchConfig], Field(min_length=1, max_length=1)]
    machine: Machine = Machine()
    lines: Annotated[int, Field(ge=1, le=8)] = 3
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    view: View | None = None


class GridPlay(_Strict):
    """Choose a move of a game on a grid."""

    type: Literal["grid-play"]
    id: Number
    game: GridGame
    config: SearchConfig = SearchConfig()
    machine: Machine = Machine()
    level: Annotated[Evaluations | Seconds, Field(discriminator="by")]
    clock: None = None


class GridPosition(_Strict):
    """Request the position after the moves, its legal moves and its end."""

    type: Literal["grid-position"]
    id: Number
    game: GridGame


class Judge(_Strict):
    """Judge every move of a game."""

    type: Literal["judge"]
    id: Number
    game: Game
    config: SearchConfig = SearchConfig()
    machine: Machine = Machine()
    seconds: Annotated[float, Field(gt=0, le=60)] = 0.5
    """For each position."""


class Prove(_Strict):
    """Look for a forced win or loss, and send its proof as a tree."""

    type: Literal["prove"]
    id: Number
    game: Game
    seconds: Annotated[float, Field(gt=0, le=60)] = 5.0


class GridProve(_Strict):
    """The same in a game on a grid."""

    type: Literal["grid-prove"]
    id: Number
    game: GridGame
    seconds: Annotated[float, Field(gt=0, le=60)] = 5.0


class Watch(_Strict):
    """Change what is shown of the graph, or stop showing it, while the search goes on."""

    type: Literal["watch"]
    view: View | None


class Openings(_Strict):
    """Request the openings of a variant."""

    type: Literal["openings"]
    variant: Variant


class Networks(_Strict):
    """Request the installed networks."""

    type: Literal["networks"]


class StopMessage(_Strict):
    """End the search."""

    type: Literal["stop"]


Message: TypeAlias = (
    Analyse
    | Play
    | Judge
    | Prove
    | GridAnalyse
    | GridPlay
    | GridProve
    | GridPosition
    | Watch
    | Openings
    | Networks
    | StopMessage
)
_READER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def read_message(text: str) -> Message:
    """A message from its JSON text.

    >>> read_message('{"type": "stop"}')
    StopMessage(type='stop')
    >>> read_message('{"type": "open", "path": "/etc/passwd"}')
    Traceback (most recent call last):
        ...
    anabranch.web.messages.MessageError: the message cannot be read: Input tag 'open' ...
    """
    try:
        message = _READER.validate_json(text)
    except ValidationError as error:
        raise MessageError(f"the message cannot be read: {_first(error)}") from None
    if isinstance(message, Analyse | GridAnalyse):
        for config in message.configs:
            _check(config)
    elif isinstance(message, Play | GridPlay | Judge):
        _check(message.config)
    return message


def _first(error: ValidationError) -> str:
    """The first complaint, with its place; what was given is not repeated."""
    complaint = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:40] for part in complaint["loc"])
    text = complaint["msg"][:300]
    return f"{text} ({place})" if place else text


def _check(config: SearchConfig) -> None:
    if config.preset not in presets():
        raise MessageError(f"there is no preset {config.preset!r}")
    for name in config.changes:
        if name not in CHANGEABLE:
            raise MessageError(f"the setting {name!r} cannot be changed from a browser")
