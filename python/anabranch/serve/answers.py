"""The answers of the analysis server, as JSON objects."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from anabranch.errors import AnabranchError, QueryError
from anabranch.result import Progress, Result
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
    kind = "result" if isinstance(found, Result) else "progress"
    return {**_head(kind, query.id), "ply": ply, **found.to_dict()}


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


def _head(kind: str, name: str | None) -> JsonAnswer:
    return {"schema": SCHEMA, "type": kind, "id": name}
