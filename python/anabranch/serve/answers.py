"""The answers of the analysis server, as JSON objects and as lines.

A line with a result is written in one go, because its many moves would take most of the time of a short query
if they became dictionaries first. It holds the same document.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache
from json.encoder import encode_basestring
from math import isfinite
from operator import attrgetter
from typing import Any

from anabranch.errors import AnabranchError, QueryError
from anabranch.formats.json_lines import dump_line
from anabranch.formats.scores import Curve, curve_of
from anabranch.result import Counts, Line, MoveStatistics, Progress, Result, Root
from anabranch.serve.query import SCHEMA, Query

Findings = Progress | Exception
"""A result, a partial result, or why there is none."""
LONGEST_REASON = 600

JsonAnswer = dict[str, Any]


def answer_to(query: Query, ply: int, found: Findings | None) -> JsonAnswer:
    """The answer for one position of a query; `None` is one that was cancelled before its search."""
    if found is None:
        return {**_head("cancelled", query.id), "ply": ply}
    if isinstance(found, Exception):
        return {**error_of(query.id, found), "ply": ply}
    if query.top:
        found = replace(found, moves=found.moves[: query.top])
    return {**_head(_kind_of(found), query.id), "ply": ply, **found.to_dict()}


def line_of(query: Query, ply: int, found: Findings | None) -> str:
    """The answer for one position of a query as a line of JSON."""
    if not isinstance(found, Progress):
        return dump_line(answer_to(query, ply, found))
    moves = found.moves[: query.top] if query.top else found.moves
    curve = curve_of(found.root.raw, found.root.variant)
    head = dump_line({**_head(_kind_of(found), query.id), "ply": ply, **found.summary()})
    return (
        f'{head[:-1]}, "lines": [{_lines_text(found.lines, found.root, curve)}], '
        f'"statistics": {_numbers_text(found.statistics)}, '
        f'"moves": [{_moves_text(moves, found.root, curve)}]}}'
    )


def _lines_text(lines: tuple[Line, ...], root: Root, curve: Curve) -> str:
    """`Line.to_dict` of lines, as JSON."""
    texts = []
    for line in lines:
        if line.state != "unknown" or not isfinite(line.value):
            texts.append(dump_line(line.to_dict()))
            continue
        win, draw, loss = curve.chances(line.value)
        score = "null" if root.is_grid else curve.score(line.value)
        texts.append(
            f'{{"moves": [{", ".join(map(encode_basestring, line.moves))}], "value": {line.value!r}, '
            f'"visits": {line.visits}, "state": "unknown", "plies": null, '
            f'"centipawns": {score}, "mate": null, "wdl": [{win}, {draw}, {loss}]}}'
        )
    return ", ".join(texts)


def _numbers_text(statistics: Counts) -> str:
    """`Progress.to_dict` of statistics, as JSON."""
    kind: Any = statistics.__class__
    names, values_of, template = _numbers_of(kind)
    numbers = values_of(statistics)
    if not isfinite(sum(numbers)):
        return dump_line(dict(zip(names, numbers, strict=True)))
    return template % numbers


@cache
def _numbers_of(kind: Any) -> tuple[list[str], attrgetter[tuple[float, ...]], str]:
    """The names of fields that are all numbers, how to get these, and their JSON with a place for each."""
    names = [field.name for field in fields(kind)]
    return names, attrgetter(*names), "{" + ", ".join(f'"{name}": %r' for name in names) + "}"


def _moves_text(moves: tuple[MoveStatistics, ...], root: Root, curve: Curve) -> str:
    """`MoveStatistics.to_dict` of moves, as JSON."""
    rows, is_grid = [], root.is_grid
    for row in moves:
        q, raw, value = row.q, row.raw, row.child_value
        shares = row.prior + row.policy + row.improved
        if row.state != "unknown" or row.plies is not None or not isfinite(shares):
            rows.append(dump_line(row.to_dict()))
        elif q is None and raw is None and value is None:
            rows.append(
                f'{{"move": {encode_basestring(row.move)}, "visits": {row.visits}, "q": null, '
                f'"prior": {row.prior!r}, "policy": {row.policy!r}, "improved": {row.improved!r}, '
                f'"raw": null, "child_value": null, "child_visits": {row.child_visits}, '
                f'"state": "unknown", "plies": null, "draws": {row.draws}, "explored": {row.explored}, '
                '"centipawns": null, "mate": null, "wdl": null}'
            )
        elif q is None or raw is None or value is None or not isfinite(q + raw + value):
            rows.append(dump_line(row.to_dict()))
        else:
            win, draw, loss = curve.chances(q)
            score = "null" if is_grid else curve.score(q)
            q_text = repr(q)
            value_text = q_text if value == q else repr(value)
            rows.append(
                f'{{"move": {encode_basestring(row.move)}, "visits": {row.visits}, "q": {q_text}, '
                f'"prior": {row.prior!r}, "policy": {row.policy!r}, "improved": {row.improved!r}, '
                f'"raw": {raw!r}, "child_value": {value_text}, "child_visits": {row.child_visits}, '
                f'"state": "unknown", "plies": null, "draws": {row.draws}, "explored": {row.explored}, '
                f'"centipawns": {score}, "mate": null, "wdl": [{win}, {draw}, {loss}]}}'
            )
    return ", ".join(rows)


def error_of(name: str | None, error: Exception) -> JsonAnswer:
    """The answer to what was refused or failed.

    >>> error_of("a", QueryError("lines", "must be a number"))["error"]
    'lines must be a number'
    """
    field = error.field if isinstance(error, QueryError) else None
    text = f"a fault of the server ({type(error).__name__}); its stderr has the details"
    if isinstance(error, AnabranchError):
        text = str(error)
    words = " ".join(text.split())
    reason = words if len(words) <= LONGEST_REASON else f"{words[: LONGEST_REASON - 3]}..."
    return {**_head("error", name), "code": code_of(error), "field": field, "error": reason}


def code_of(error: Exception) -> str:
    """A word for the kind of an error, for programs.

    >>> from anabranch.errors import GameOverError
    >>> code_of(GameOverError()), code_of(ZeroDivisionError())
    ('game_over', 'internal')
    """
    if not isinstance(error, AnabranchError):
        return "internal"
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def event(kind: str, name: str | None, **fields: object) -> JsonAnswer:
    """An answer to an action."""
    return {**_head(kind, name), **fields}


def _kind_of(found: Progress) -> str:
    return "result" if isinstance(found, Result) else "progress"


def _head(kind: str, name: str | None) -> JsonAnswer:
    return {"schema": SCHEMA, "type": kind, "id": name}
