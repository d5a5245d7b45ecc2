"""Tests of lines that are written in one go: each is the document that `answer_to` makes."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from anabranch import Engine
from anabranch.formats.json_lines import dump_line
from anabranch.result import Progress, Result
from anabranch.serve.answers import answer_to, line_of
from anabranch.serve.query import Query, QueryDefaults, read_message

MATE = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
SHUFFLE = "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"


def query(**given: object) -> Query:
    read = read_message(json.dumps({"id": 'a "quoted" id, ä', **given}), QueryDefaults())
    assert isinstance(read, Query)
    return read


def check(found: Progress, asked: Query) -> Any:
    line = line_of(asked, 7, found)
    answer = json.loads(line, parse_constant=pytest.fail)
    assert answer == json.loads(dump_line(answer_to(asked, 7, found)))
    return answer


@pytest.mark.parametrize(
    ("engine", "position"),
    [
        (Engine(), "startpos"),
        (Engine(), MATE),
        (Engine(), SHUFFLE),
        (Engine("crazyhouse"), "startpos moves e2e4 d7d5 e4d5 d8d5"),
        (Engine(evaluator="material"), MATE),
        (Engine("hex:size=4"), "b2"),
        (Engine("connect-four", evaluator="uniform"), "4 3 4 3 4 3"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("simulations", [1, 30, 600])
def test_a_line_holds_the_document(engine: Engine, position: str, simulations: int) -> None:
    engine.reset()
    reports: list[Progress] = []
    found = engine.search(position, simulations=simulations, progress=reports.append, progress_interval=0.0)
    answer = check(found, query())
    assert list(answer)[:4] == ["schema", "type", "id", "ply"]
    assert len(answer["moves"]) == len(found.moves)
    assert len(check(found, query(top=2))["moves"]) == min(2, len(found.moves))
    for report in reports[:3]:
        assert check(report, query())["type"] == "progress"


@pytest.mark.parametrize(
    "change",
    [
        lambda found: replace(found, moves=(replace(found.moves[0], prior=math.nan), *found.moves[1:])),
        lambda found: replace(found, moves=(replace(found.moves[0], raw=math.inf), *found.moves[1:])),
        lambda found: replace(found, moves=(replace(found.moves[0], raw=None), *found.moves[1:])),
        lambda found: replace(found, moves=(replace(found.moves[0], child_value=-0.5), *found.moves[1:])),
        lambda found: replace(found, moves=(replace(found.moves[0], move='"\\\n'), *found.moves[1:])),
        lambda found: replace(found, statistics=replace(found.statistics, leak=-math.inf)),
        lambda found: replace(found, elapsed=math.nan),
        lambda found: replace(found, lines=(), moves=()),
    ],
)
def test_what_json_cannot_say_is_null(change: Callable[[Result], Result]) -> None:
    check(change(Engine().search(simulations=20)), query())
