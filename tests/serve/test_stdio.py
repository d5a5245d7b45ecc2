"""`anabranch serve --stdio` as a process: malformed, huge and slow clients, many queries, every end."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest
from tests.serve.support import Message, check_answer, found_in
from tests.support.commands import Commands

from anabranch import Engine
from anabranch.bench.workload import positions

COMMAND = [sys.executable, "-m", "anabranch", "serve", "--stdio", "--evaluator", "material"]
ENDLESS = {"simulations": 10**9}


def start(*options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def as_lines(messages: Iterable[Message | bytes]) -> bytes:
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages)


def serve(*messages: Message | bytes, options: Iterable[str] = ()) -> list[Message]:
    done = subprocess.run(
        [*COMMAND, *options], input=as_lines(messages), capture_output=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return [check_answer(json.loads(line)) for line in done.stdout.splitlines()]


def small(number: int, **fields: Any) -> Message:
    return {"id": str(number), "limits": {"simulations": 1}, "lines": 0, "top": 1, **fields}


def test_malformed_and_huge_lines_are_refused_and_the_rest_is_answered() -> None:
    bad = [
        b"\n", b"  \r\n", b"nonsense\n", b"\x00\xff\n", b"{}\n", b'"text"\n',
        b'{"id": "long", "moves": "' + b"e2e4 " * 500_000 + b'"}\n',
        b'{"id": "wide", "settings": {' + b",".join(b'"%d": 1' % n for n in range(90_000)) + b"}}\r\n",
    ]  # fmt: skip
    answers = serve(*bad, small(1), b'{"id": "cut"')
    errors = [answer["error"] for answer in answers if answer["type"] == "error"]
    assert len(errors) == 7
    assert sum("at most 1048576 bytes" in error for error in errors) == 1
    assert [answer["id"] for answer in answers if answer["type"] == "result"] == ["1"]


def test_ten_thousand_queries() -> None:
    lines = as_lines(small(n, moves=["e2e4", "e7e5"][: n % 3]) for n in range(10_000))
    done = subprocess.run(COMMAND, input=lines, capture_output=True, check=True, timeout=280)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(int(answer["id"]) for answer in answers) == list(range(10_000))
    assert {(int(answer["id"]) % 3, answer["position"]) for answer in answers} == {
        (n, position_after(n)) for n in range(3)
    }
    assert {answer["type"] for answer in answers} == {"result"}


def position_after(plies: int) -> str:
    engine = Engine(evaluator="material")
    for move in ["e2e4", "e7e5"][:plies]:
        engine.play(move)
    return engine.position


def test_terminate_ends_it_with_an_answer_for_every_query() -> None:
    begin = time.monotonic()
    game = {"id": "game", "moves": "e2e4 e7e5 g1f3", "plies": "all", "limits": ENDLESS}
    answers = serve(game, {"id": "end", "action": "terminate"}, small(5))
    last = [answer["ply"] for answer in answers if answer["id"] == "game"]
    assert sorted(last) == [0, 1, 2, 3]
    assert [answer["positions"] for answer in answers if answer["type"] == "done"] == [4]
    assert len(answers) == 5
    assert time.monotonic() - begin < 60


def test_a_client_that_does_not_read_is_not_read_from_and_gets_everything_later() -> None:
    count = 1500
    with start("--queue", "16", "--threads", "2") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent = 0

        def send() -> None:
            nonlocal sent
            assert process.stdin is not None
            for n in range(count):
                process.stdin.write(as_lines([small(n, position="startpos" + " " * 500)]))
                sent = n + 1
            process.stdin.close()

        sender = threading.Thread(target=send)
        sender.start()
        before = -1
        while sent != before or sent == 0:  # until nothing moves any more
            before = sent
            time.sleep(1.0)
        assert sent < count
        answers = [json.loads(line) for line in process.stdout]
        sender.join()
        assert sorted(int(answer["id"]) for answer in answers) == list(range(count))
        assert process.wait(30) == 0


def test_kill_and_restart_lose_no_query_and_change_no_answer() -> None:
    queries: dict[str, Message] = {
        str(n): {"id": str(n), "position": place, "limits": {"simulations": 1000}}
        for n, place in enumerate(positions("chess", 12))
    }
    found: dict[str, Message] = {}
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(as_lines(queries.values()))
        for _ in range(3):
            answer = json.loads(process.stdout.readline())
            found[answer["id"]] = found_in(answer)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    rest = [query for name, query in queries.items() if name not in found]
    assert len(rest) == 9
    found |= {answer["id"]: found_in(answer) for answer in serve(*rest)}
    for name in ("0", "5", "11"):
        result = Engine(evaluator="material").search(queries[name]["position"], simulations=1000).to_dict()
        assert found[name] == {key: value for key, value in result.items() if key != "elapsed"}
    assert set(found) == set(queries)


@pytest.mark.parametrize("way", ["reader", "signal"])
def test_it_ends_when_its_reader_has_gone_and_by_signals(way: str) -> None:
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(as_lines([{"id": "a", "limits": ENDLESS, "progress": 0.05}]))
        process.stdout.readline()
        if way == "reader":
            process.stdout.close()
        else:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == (0 if way == "reader" else 130)


class TestOptions:
    def test_are_the_defaults_of_queries(self) -> None:
        options = ("--variant", "crazyhouse", "--preset", "mcgs", "--set", "seed=3", "--threads", "1")
        (answer,) = serve({"id": "a"}, options=options)
        engine = Engine("crazyhouse", "mcgs", evaluator="material", seed=3)
        result = engine.search("startpos", evaluations=800).to_dict()
        assert found_in(answer) == {key: value for key, value in result.items() if key != "elapsed"}

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ([], "--stdio or --port"),
            (["--stdio", "--port", "80"], "--stdio or --port"),
            (["--stdio", "--threads", "0"], "--threads takes a number from 1"),
            (["--port", "70000"], "--port takes a number from 0 to 65535"),
            (["--stdio", "--variant", "checkers"], "checkers"),
            (["--stdio", "--evaluator", "nothing.onnx"], "nothing.onnx"),
            (["--stdio", "--set", "seeed=3"], "seeed"),
        ],
    )
    def test_are_refused_in_a_sentence(self, cli: Commands, options: list[str], reason: str) -> None:
        assert reason in cli.refuses("serve", *options)

    def test_the_schema_is_printed(self, cli: Commands) -> None:
        assert json.loads(cli.shows("serve", "--schema"))["$defs"]["query"]["required"] == ["id"]
