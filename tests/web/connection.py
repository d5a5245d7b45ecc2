"""A server under test, and lines to it: HTTP, WebSocket, and bytes as they come."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
GAME: dict[str, Any] = {"variant": "chess", "chess960": False, "fen": START, "moves": []}


@dataclass
class Server:
    process: subprocess.Popen[str]
    port: int
    token: str

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"anabranch-{self.port}={self.token}"

    def talk(self) -> ClientConnection:
        """A WebSocket of somebody who may come in."""
        return connect(
            f"ws://127.0.0.1:{self.port}/ws",
            origin=Origin(self.origin),
            additional_headers={"Cookie": self.cookie},
            max_size=None,
            proxy=None,
        )

    @contextlib.contextmanager
    def asked(self, *messages: dict[str, Any]) -> Iterator[ClientConnection]:
        """A WebSocket on which the server has said hello, and that has sent messages."""
        with self.talk() as line:
            assert hear(line)["type"] == "hello"
            for message in messages:
                line.send(json.dumps(message))
            yield line

    def ask(self, path: str, headers: list[tuple[str, str]], method: str = "GET") -> tuple[int, bytes]:
        """Status and whole answer to a request that is sent as it is."""
        if all(name != "Connection" for name, _ in headers):
            headers = [*headers, ("Connection", "close")]
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        return self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def send(self, request: bytes) -> tuple[int, bytes]:
        with closing(socket.create_connection(("127.0.0.1", self.port), 10)) as line:
            line.sendall(request)
            answer = b""
            while chunk := line.recv(65536):
                answer += chunk
                if answer.startswith(b"HTTP/1.1 101"):
                    break
        return int(answer.split(b" ", 2)[1]) if answer else 0, answer

    def upgrade(self, headers: list[tuple[str, str]]) -> int:
        """Status of a WebSocket handshake."""
        return self.ask("/ws", [*headers, *HANDSHAKE])[0]

    def is_well(self) -> None:
        """Fail unless the server answers, both ways."""
        assert self.process.poll() is None
        with self.asked(analyse(1, seconds=0.2)) as line:
            assert until(line, "done")["finish"] == "time"


HASTY = 1.5
"""Seconds for which a hasty server waits for a request, for the rest of one, and for somebody to read."""
HASTY_PROGRAM = f"""
import functools, sys, uvicorn
from anabranch.cli import run
from anabranch.web import client, http_timeout
uvicorn.Config = functools.partial(uvicorn.Config, timeout_keep_alive={HASTY})
client.SEND_TIMEOUT = http_timeout.TIMEOUT = {HASTY}
sys.exit(run(sys.argv[1:]))
"""


def start(*options: str, browser: str | None = None, data: Path | None = None, hasty: bool = False) -> Server:
    """A server on a free port, and a command that takes its address as a browser would. `data` is the folder
    of the user's data, which has the installed networks. A hasty server waits for nobody for long.
    """
    program = ["-c", HASTY_PROGRAM] if hasty else ["-m", "anabranch"]
    call = [sys.executable, *program, "play", "--port", "0", *options]
    environment = {**os.environ, "BROWSER": browser or ""}
    if data is not None:
        environment["XDG_DATA_HOME"] = str(data)
    process = subprocess.Popen(
        call if browser else [*call, "--no-browser"], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
    assert found is not None, said
    return Server(process, int(found[1]), found[2])


HANDSHAKE = [
    ("Upgrade", "websocket"),
    ("Connection", "Upgrade"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("Sec-WebSocket-Version", "13"),
]


def hear(line: ClientConnection, timeout: float = 20.0) -> dict[str, Any]:
    news: dict[str, Any] = json.loads(line.recv(timeout))
    return news


def until(line: ClientConnection, kind: str, timeout: float = 20.0) -> dict[str, Any]:
    """The first message of a kind."""
    while (news := hear(line, timeout))["type"] != kind:
        assert news["type"] != "error", news
    return news


def closing_of(line: ClientConnection) -> tuple[int, str]:
    """Code and reason with which the server closes the line."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            line.recv(20)
    assert line.close_code is not None
    return line.close_code, line.close_reason or ""


def analyse(number: int, **fields: Any) -> dict[str, Any]:
    return {"type": "analyse", "id": number, "game": GAME, "configs": [{"preset": "default"}], **fields}
