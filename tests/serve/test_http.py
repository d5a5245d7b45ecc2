"""`anabranch serve --port` as a process: streams of answers, clients beside each other, refusals."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.serve.support import Message, check_answer, found_in

from anabranch import Engine

ENDLESS = {"simulations": 10**9}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "anabranch",
        "serve",
        "--port",
        "0",
        "--evaluator",
        "material",
        "-t",
        "1",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("Queries go to http://127.0.0.1:")
        yield line.split()[-1]
        httpx.post(line.split()[-1], json={"action": "terminate"}, timeout=30)
        assert process.wait(30) == 0


def post(address: str, *messages: Message, **options: Any) -> list[Message]:
    text = "\n".join(map(json.dumps, messages))
    answer = httpx.post(address, content=text, timeout=60, **options)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [check_answer(json.loads(line)) for line in answer.text.splitlines()]


def status(address: str) -> Message:
    return check_answer(httpx.get(address, timeout=30).json())


def wait_until_idle(address: str) -> None:
    for _ in range(1000):
        if status(address)["running"] == status(address)["waiting"] == 0:
            return
        time.sleep(0.01)
    raise AssertionError(status(address))


def test_answers_are_those_of_engine(address: str) -> None:
    query = {"id": "a", "moves": "e2e4 c7c5", "plies": "all", "limits": {"simulations": 100}}
    answers = post(address, query, {"id": "b", "moves": "e2e5"})
    for answer in answers:
        if answer["id"] == "a":
            moves = ["e2e4", "c7c5"][: answer["ply"]]
            result = Engine(evaluator="material").search(("startpos", moves), simulations=100).to_dict()
            assert found_in(answer) == {key: value for key, value in result.items() if key != "elapsed"}
    assert [answer["field"] for answer in answers if answer["type"] == "error"] == ["moves"]
    assert sorted(answer.get("ply", -1) for answer in answers) == [-1, 0, 1, 2]


def test_one_json_document_over_several_lines(address: str) -> None:
    text = json.dumps({"id": "a", "limits": {"simulations": 5}}, indent=2)
    answer = httpx.post(address, content=text, headers={"content-type": "application/json; charset=utf-8"})
    assert answer.json()["statistics"]["simulations"] == 5


def test_partial_results_stream_and_another_connection_cancels(address: str) -> None:
    query = {"id": "long", "limits": ENDLESS, "progress": 0.05}
    with httpx.stream("POST", address, json=query, timeout=30) as stream:
        lines = stream.iter_lines()
        assert json.loads(next(lines))["type"] == "progress"
        (done,) = post(address, {"action": "cancel", "query": "long"})
        assert done["positions"] == 1
        rest = [json.loads(line) for line in lines]
    assert rest[-1]["finish"] == "stopped"


def test_a_client_that_does_not_read_or_leaves_blocks_no_other(address: str) -> None:
    host, port = address.removeprefix("http://").removesuffix("/v1").split(":")
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 250
    query = {
        "id": "silent",
        "moves": moves[:900],
        "plies": "all",
        "limits": {"simulations": 2},
        "priority": 9,
    }
    body = json.dumps(query).encode()
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.connect((host, int(port)))
        silent.sendall(
            b"POST /v1 HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: %d\r\n\r\n"
            % (host.encode(), port.encode(), len(body))
            + body
        )
        while status(address)["waiting"] == 0:  # until its query has arrived
            time.sleep(0.01)
        for n in range(20):
            (answer,) = post(address, {"id": f"other {n}", "limits": {"simulations": 5}})
            assert answer["type"] == "result"
        assert status(address)["waiting"] > 0
    wait_until_idle(address)  # its queries went with it
    with httpx.stream("POST", address, json={"id": "long", "limits": ENDLESS, "progress": 0.05}) as stream:
        next(stream.iter_lines())
    wait_until_idle(address)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_other_sites_are_refused(address: str, headers: dict[str, str], code: int) -> None:
    answer = httpx.post(address, content='{"action": "status"}', headers=headers)
    assert answer.status_code == code
    assert "only programs of this machine" in check_answer(answer.json())["error"]


def test_what_is_no_query(address: str) -> None:
    def megabytes() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * (1 << 20)

    assert httpx.post(address, content=b"\n \n").status_code == 400
    assert httpx.post(address, content=megabytes(), timeout=30).status_code == 413
    assert httpx.get(address + "/nothing").status_code == 404
    assert httpx.get(address + "/schema").json()["$defs"]["result"]
    assert [answer["type"] for answer in post(address, {}, {"id": "a", "limits": {"simulations": 1}})] == [
        "error",
        "result",
    ]
