"""Messages of a client, read and checked field by field. Errors name the field.

Only forms and bounds are checked here. Whether a position is legal and a setting exists, the engines say.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn, TypeVar

from anabranch.errors import AnabranchError, AnnotationError, LimitError, QueryError, VariantError
from anabranch.formats.pgn import parse_game, split_games
from anabranch.limits import LimitKeywords, Limits, check_count, check_seconds
from anabranch.named_games import check_loaded
from anabranch.positions import read_position

SCHEMA = 1
"""Version of the messages. It grows when a client of the version before would misread them."""
LARGEST_LINE = 1 << 20
"""Bytes of a message."""
LONGEST_ID = 200
MOST_MOVES = 10_000
"""Moves of a game, and positions of a query."""
MOST_LINES = 500
MOST_PRIORITY = 1_000_000
SHORTEST_INTERVAL = 0.05
LONGEST_INTERVAL = 3600.0

ACTIONS = ("status", "cancel", "cancel_all", "terminate")
LIMITS = tuple(LimitKeywords.__annotations__)

Setting = bool | int | float | str
Checked = TypeVar("Checked")


@dataclass(frozen=True, slots=True)
class EngineKey:
    """What makes the engine of a query. Queries with equal keys share engines and batches."""

    variant: str
    chess960: bool
    preset: str
    evaluator: str | None
    """By name; `None` is the server's."""
    settings: tuple[tuple[str, Setting], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Positions of one game to search, all in the same way."""

    id: str
    key: EngineKey
    fen: str | None
    """Where the game begins; `None` for the start of the game."""
    moves: tuple[str, ...]
    plies: tuple[int, ...]
    """The positions to search, by the number of moves before them."""
    limits: Limits
    lines: int
    top: int
    """Moves of the root in an answer; 0 for all."""
    priority: int
    progress: float | None
    """Seconds between partial results; `None` for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A message that is not a query."""

    id: str | None
    action: str
    query: str | None = None
    """The query to cancel."""
    plies: tuple[int, ...] | None = None
    """Its positions to cancel; `None` for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDefaults:
    """What a query takes that does not say."""

    variant: str = "chess"
    chess960: bool = False
    preset: str = "default"
    limits: Limits = field(default_factory=lambda: Limits(evaluations=800))
    lines: int = 3


def read_message(text: str | bytes, defaults: QueryDefaults) -> Query | Action:
    """A message as its line has it.

    >>> read_message('{"id": "a", "moves": ["e2e4"], "limits": {"evaluations": 100}}', QueryDefaults()).plies
    (1,)
    >>> read_message('{"id": "a", "prioritty": 5}', QueryDefaults())
    Traceback (most recent call last):
        ...
    anabranch.errors.QueryError: prioritty is not a field of a query; did you mean 'priority'?
    """
    return read_document(parse(text), defaults)


def parse(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a line."""
    if len(text) > LARGEST_LINE:
        raise QueryError(None, f"a message has at most {LARGEST_LINE} bytes")
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
        is_plain = text.isascii() and (b"\\" not in text if isinstance(text, bytes) else "\\" not in text)
        if not is_plain:  # only then there may be half of a surrogate pair
            json.dumps(document, ensure_ascii=False).encode()
    except RecursionError:
        raise QueryError(None, "the message is nested too deeply") from None
    except UnicodeEncodeError:
        raise QueryError(None, "the message has half of a surrogate pair, which is no character") from None
    except ValueError as error:  # malformed JSON, no UTF-8, a number with thousands of digits
        raise QueryError(None, f"the message is not JSON: {str(error)[:200]}") from None
    if not isinstance(document, dict):
        raise QueryError(None, f"a message is a JSON object, not {_kind(document)}")
    return document


def id_of(document: dict[str, Any]) -> str | None:
    """The id of a message that may be wrong in any other field."""
    name = document.get("id")
    return name if isinstance(name, str) and 0 < len(name) <= LONGEST_ID else None


def read_document(document: dict[str, Any], defaults: QueryDefaults) -> Query | Action:
    """A message from its JSON object."""
    if "action" in document:
        return _read_action(document)
    fields = _Fields(document, QUERY_FIELDS, "a query")
    name = fields.take("id", _read_id)
    if name is None:
        raise QueryError("id", "is missing: a query needs one")
    game = _read_game(fields, defaults)
    return Query(
        id=name,
        key=EngineKey(
            game.variant,
            game.chess960,
            fields.take("preset", _read_word) or defaults.preset,
            fields.take("evaluator", _read_word),
            fields.take("settings", _read_settings) or (),
        ),
        fen=game.fen,
        moves=game.moves,
        plies=_read_plies(fields, len(game.moves)),
        limits=_read_limits(fields) or defaults.limits,
        lines=fields.count("lines", 0, MOST_LINES, defaults.lines),
        top=fields.count("top", 0, MOST_LINES, 0),
        priority=fields.count("priority", -MOST_PRIORITY, MOST_PRIORITY, 0),
        progress=fields.take("progress", _read_interval),
    )


QUERY_FIELDS = (
    "id", "schema", "position", "moves", "pgn", "plies", "variant", "chess960", "preset", "evaluator",
    "settings", "limits", "lines", "top", "priority", "progress",
)  # fmt: skip
ACTION_FIELDS = ("id", "schema", "action", "query", "plies")


def _hint(name: str, known: tuple[str, ...]) -> str:
    """What the client may have meant."""
    if name in LIMITS and "limits" in known:
        return "; it belongs into 'limits'"
    if name == "game" and "variant" in known:
        return "; the name of a game is 'variant'"
    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


class _Fields:
    """The fields of a message. A null is a field that is not there."""

    def __init__(self, document: dict[str, Any], known: tuple[str, ...], what: str) -> None:
        self._document = document
        for name in document:
            if name not in known:
                raise QueryError(name[:100], f"is not a field of {what}{_hint(name[:100], known)}")
        if self.count("schema", 0, 2**31, SCHEMA) != SCHEMA:
            raise QueryError("schema", f"must be {SCHEMA}, the version that this server speaks")

    def has(self, name: str) -> bool:
        return self._document.get(name) is not None

    def take(self, name: str, read: Callable[[str, Any], Checked]) -> Checked | None:
        value = self._document.get(name)
        return None if value is None else read(name, value)

    def count(self, name: str, least: int, most: int, default: int) -> int:
        try:
            value = check_count(name, self._document.get(name), least, most)
        except LimitError as error:
            raise QueryError(name, str(error).removeprefix(f"{name} ")) from None
        return default if value is None else value


@dataclass(frozen=True, slots=True)
class _Game:
    variant: str
    chess960: bool
    fen: str | None
    moves: tuple[str, ...]


def _read_game(fields: _Fields, defaults: QueryDefaults) -> _Game:
    try:
        variant = check_loaded(fields.take("variant", _read_word) or defaults.variant)
    except VariantError:
        raise QueryError("variant", "is not a game that ships, and not the one of the server") from None
    chess960 = fields.take("chess960", _read_flag)
    if fields.has("pgn"):
        for name in ("position", "moves"):
            if fields.has(name):
                raise QueryError(name, "and pgn cannot both be given")
        text = fields.take("pgn", _read_text) or ""
        return _read_pgn(text, variant if fields.has("variant") else "auto")
    if chess960 is None:
        chess960 = defaults.chess960 and variant == defaults.variant
    try:
        fen, moves = read_position(fields.take("position", _read_position) or "startpos", variant, chess960)
    except AnabranchError as error:
        raise QueryError("position", f"cannot be read: {error}") from None
    played = (*moves, *(fields.take("moves", _read_moves) or ()))
    if len(played) > MOST_MOVES:
        raise QueryError("moves", f"has {len(played)} moves, and {MOST_MOVES} are allowed")
    return _Game(variant, chess960, fen, played)


def _read_pgn(text: str, variant: str) -> _Game:
    try:
        games = split_games(text)
        if len(games) != 1:
            raise QueryError("pgn", f"must hold one game, not {len(games)}")
        game = parse_game(games[0], variant)
    except AnnotationError as error:
        raise QueryError("pgn", f"cannot be read: {error}") from None
    board = game.board()
    moves = tuple(move.uci() for move in game.mainline_moves())
    return _Game(board.uci_variant or "chess", board.chess960, board.fen(en_passant="fen"), moves)


def _read_plies(fields: _Fields, last: int) -> tuple[int, ...]:
    def read(name: str, value: Any) -> tuple[int, ...]:
        if value == "all":
            return tuple(range(last + 1))
        return _read_ply_list(name, value, last)

    plies = fields.take("plies", read)
    return (last,) if plies is None else plies


def _read_ply_list(name: str, value: Any, last: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(ply) is int for ply in value):
        raise QueryError(name, "must be a list of whole numbers, or 'all'")
    if len(set(value)) != len(value):
        raise QueryError(name, "has a number twice")
    for ply in value:
        if not 0 <= ply <= last:
            raise QueryError(name, f"must be from 0 to {last}, the number of moves, not {str(ply)[:30]}")
    return tuple(value)


def _read_action(document: dict[str, Any]) -> Action:
    fields = _Fields(document, ACTION_FIELDS, "an action")
    name, action = fields.take("id", _read_id), document["action"]
    if action not in ACTIONS:
        raise QueryError("action", f"must be one of {', '.join(ACTIONS)}, not {str(action)[:50]!r}")
    query = fields.take("query", _read_id)
    plies = fields.take("plies", lambda name, value: _read_ply_list(name, value, MOST_MOVES))
    if action == "cancel" and query is None:
        raise QueryError("query", "is missing: it names the query to cancel")
    if action != "cancel" and (query is not None or plies is not None):
        raise QueryError("query" if query is not None else "plies", f"does not belong to {action}")
    return Action(id=name, action=action, query=query, plies=plies)


def _read_limits(fields: _Fields) -> Limits | None:
    def read(name: str, value: Any) -> Limits:
        if not isinstance(value, dict):
            raise QueryError(name, f"must be an object with some of {', '.join(LIMITS)}, not {_kind(value)}")
        for limit in value:
            if limit not in LIMITS:
                raise QueryError(f"{name}.{limit[:100]}", f"is not one of {', '.join(LIMITS)}")
        try:
            return Limits(**value)
        except AnabranchError as error:
            field = next((limit for limit in LIMITS if str(error).startswith(f"{limit} ")), None)
            if field is None:
                raise QueryError(name, f"cannot be used: {error}") from None
            raise QueryError(f"{name}.{field}", str(error).removeprefix(f"{field} ")) from None

    return fields.take("limits", read)


def _read_id(name: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        raise QueryError(name, f"must be a text of 1 to {LONGEST_ID} characters")
    return value


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise QueryError(name, f"must be a text, not {_kind(value)}")
    return value


def _read_word(name: str, value: Any) -> str:
    text = _read_text(name, value)
    if not 0 < len(text) <= LONGEST_ID:
        raise QueryError(name, f"must be a name of 1 to {LONGEST_ID} characters")
    return text


def _read_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise QueryError(name, f"must be true or false, not {_kind(value)}")
    return value


def _read_position(name: str, value: Any) -> str:
    return _read_text(name, value)


def _read_moves(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split())
    if not isinstance(value, list) or not all(type(move) in (str, int) for move in value):
        raise QueryError(name, "must be a list of moves, or a text with moves")
    return tuple(map(str, value))


def _read_settings(name: str, value: Any) -> tuple[tuple[str, Setting], ...]:
    if not isinstance(value, dict):
        raise QueryError(name, f"must be an object, not {_kind(value)}")
    for setting, given in value.items():
        if setting == "threads":
            raise QueryError(f"{name}.threads", "is the server's: the option --threads")
        if setting == "evaluator":
            raise QueryError(f"{name}.evaluator", "is a field of the query itself")
        if not isinstance(given, (bool, int, float, str)):
            raise QueryError(
                f"{name}.{setting[:100]}", f"must be a number, a text, true or false, not {_kind(given)}"
            )
    return tuple(sorted(value.items()))


def _read_interval(name: str, value: Any) -> float:
    try:
        seconds = check_seconds(name, value, exclusive=True)
    except LimitError as error:
        raise QueryError(name, str(error).removeprefix(f"{name} ")) from None
    if not SHORTEST_INTERVAL <= seconds <= LONGEST_INTERVAL:
        raise QueryError(name, f"must be from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL:g} seconds")
    return seconds


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _kind(value: Any) -> str:
    """The JSON type of a value, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
    return "an object"
