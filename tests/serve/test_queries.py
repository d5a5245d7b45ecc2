"""Messages to the analysis server: every field, the schema, and refusals that name field and reason."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.support import SCHEMA, VALIDATORS, talking

from anabranch.errors import QueryError
from anabranch.serve.query import (
    ACTION_FIELDS,
    ACTIONS,
    LARGEST_LINE,
    QUERY_FIELDS,
    QueryDefaults,
    read_message,
)

REPOSITORY = Path(__file__).parents[2]


def test_the_schema_has_the_fields_and_actions() -> None:
    fields = SCHEMA["$defs"]
    assert set(fields["query"]["properties"]) == set(QUERY_FIELDS)
    assert set(fields["action"]["properties"]) == set(ACTION_FIELDS)
    assert fields["action"]["properties"]["action"]["enum"] == list(ACTIONS)


BAD: list[tuple[dict[str, Any], str | None, str]] = [
    ({}, "id", "missing"),
    ({"id": ""}, "id", "1 to 200 characters"),
    ({"id": 7}, "id", "text"),
    ({"id": "a", "mooves": []}, "mooves", "did you mean 'moves'"),
    ({"id": "a", "schema": 2}, "schema", "must be 1"),
    ({"id": "a", "position": 5}, "position", "text"),
    ({"id": "a", "variant": "antigravity:fly"}, "variant", "not the one of the server"),
    ({"id": "a", "position": "no position"}, "position", "refused"),
    ({"id": "a", "moves": ["e2e5"]}, "moves", "cannot be played"),
    ({"id": "a", "moves": [1.5]}, "moves", "list of moves"),
    ({"id": "a", "moves": ["e2e4"] * 10_001}, "moves", "10000 are allowed"),
    ({"id": "a", "pgn": "1. e4 e5 2. Ke3"}, "pgn", "cannot be read"),
    ({"id": "a", "pgn": "1. e4 *\n\n1. d4 *"}, "pgn", "one game, not 2"),
    ({"id": "a", "pgn": "1. e4 *", "moves": "e2e4"}, "moves", "pgn"),
    ({"id": "a", "plies": [1]}, "plies", "from 0 to 0"),
    ({"id": "a", "plies": []}, "plies", "list of whole numbers"),
    ({"id": "a", "plies": [0, 0]}, "plies", "twice"),
    ({"id": "a", "variant": "checkers"}, "variant", "checkers"),
    ({"id": "a", "chess960": 1}, "chess960", "true or false"),
    ({"id": "a", "preset": "fast"}, "preset", "fast"),
    ({"id": "a", "evaluator": "/etc/passwd"}, "evaluator", "must be one of"),
    ({"id": "a", "evaluator": "crazyhouse"}, "evaluator", "is for crazyhouse, and not for chess"),
    ({"id": "a", "evaluator": "crazyhouse-rise"}, "evaluator", "is for crazyhouse, and not for chess"),
    ({"id": "a", "settings": {"threads": 9}}, "settings.threads", "server's"),
    ({"id": "a", "settings": {"memory": 1 << 40}}, "settings.memory", "at most"),
    ({"id": "a", "settings": {"c_init": []}}, "settings.c_init", "a list"),
    ({"id": "a", "settings": {"c_inti": 3}}, "settings", "did you mean 'c_init'"),
    ({"id": "a", "limits": {}}, "limits", "needs a limit"),
    ({"id": "a", "limits": {"simulations": 0}}, "limits.simulations", "from 1 to"),
    ({"id": "a", "limits": {"time": -1}}, "limits.time", "above 0"),
    ({"id": "a", "limits": {"nodes": 5}}, "limits.nodes", "is not one of"),
    ({"id": "a", "limits": {"simulations": 5, "root_moves": "e2e4"}}, "limits.root_moves", "list of moves"),
    ({"id": "a", "lines": -1}, "lines", "from 0 to 500"),
    ({"id": "a", "priority": 1e9}, "priority", "to 1000000"),
    ({"id": "a", "progress": 0.001}, "progress", "0.05"),
    ({"action": "stop"}, "action", "must be one of"),
    ({"action": "cancel"}, "query", "missing"),
    ({"action": "status", "query": "a"}, "query", "does not belong"),
]  # fmt: skip


def test_what_is_wrong_is_said_with_its_field_and_the_server_goes_on() -> None:
    with talking() as talk:
        for message, field, reason in BAD:
            (answer,) = talk.ask(message)
            assert (answer["type"], answer["field"]) == ("error", field), answer
            assert reason in answer["error"]
            assert str(REPOSITORY) not in answer["error"]
            assert answer["id"] == (message.get("id") if message.get("id") == "a" else None)
        (answer,) = talk.ask({"id": "a", "limits": {"simulations": 5}})
        assert answer["type"] == "result"


def test_the_schema_refuses_what_the_server_refuses_by_form() -> None:
    only_rules = ("position", "moves", "pgn", "plies", "variant", "preset", "evaluator", "settings", "limits")
    for message, field, reason in BAD:
        is_form = field not in only_rules or "must be" in reason or "list of" in reason
        if is_form and field not in ("settings.memory", "query", "evaluator"):
            name = "action" if "action" in message else "query"
            assert not VALIDATORS[name].is_valid(message), message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (b'{"id": "a", "variant": "\\ud800"}', "surrogate"),
        (b'{"id": "\xed\xa0\x80"}', "surrogate"),
        (b"[1]", "a JSON object, not a list"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"id": "a", "lines": NaN}', "NaN"),
        (b'{"id": "a", "lines": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"id": "' + b"a" * LARGEST_LINE + b'"}', "at most 1048576 bytes"),
    ],
)
def test_what_is_no_message(text: bytes, reason: str) -> None:
    with pytest.raises(QueryError, match=reason):
        read_message(text, QueryDefaults())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(
        {"id": st.just("a")}, optional={name: VALUES for name in (*QUERY_FIELDS, "action") if name != "id"}
    )
)
def test_nothing_else_than_a_query_error_comes_of_any_json(message: dict[str, Any]) -> None:
    text = json.dumps(message)
    with suppress(QueryError):
        read_message(text, QueryDefaults())
        finite = json.loads(text, parse_constant=lambda _: 1e400)
        assert VALIDATORS["action" if "action" in message else "query"].is_valid(finite)
