"""The analysis server over HTTP, on this machine only: messages in the body of a request, answers as lines of
the response while they are found.

A request is a client of its own: when its connection ends, its searches end, and when it does not read, its
searches wait and no others do. Web pages of other sites are refused by Host and Origin.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Thread

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from anabranch.errors import QueryError
from anabranch.serve.answers import error_of
from anabranch.serve.query import LARGEST_LINE
from anabranch.serve.service import Service
from anabranch.web.access import AccessControl
from anabranch.web.http_timeout import TimeoutHttp
from anabranch.web.listener import AnnouncedServer

LARGEST_BODY = 16 * LARGEST_LINE
BODY_TIMEOUT = 30.0
"""Seconds for the body of a request."""
MOST_CONNECTIONS = 64
LINES = "application/x-ndjson"
SCHEMA_FILE = Path(__file__).with_name("schema.json")


def make_service_app(service: Service, access: AccessControl, stop: Callable[[], object]) -> ASGIApp:
    """The application, behind access control. `stop` is called at the message `terminate`."""
    app = FastAPI(title="Anabranch", docs_url=None, redoc_url=None, openapi_url=None)

    @app.post("/v1")
    async def analyse(request: Request) -> Response:
        try:
            body = await asyncio.wait_for(_read_body(request), BODY_TIMEOUT)
        except TimeoutError:
            return _refused(408, f"the body of a request must come within {BODY_TIMEOUT:g} seconds")
        if body is None:
            return _refused(413, f"the body of a request has at most {LARGEST_BODY} bytes")
        is_one = request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"
        messages = [body] if is_one else [line for line in body.splitlines() if line.strip()]
        if not messages:
            return _refused(400, "the body of a request is a message, or several, one a line")
        return StreamingResponse(_answers(service, messages, stop), media_type=LINES)

    @app.get("/v1")
    async def status() -> Response:
        answers: list[str] = []
        client = service.connect(answers.append)
        service.receive(client, b'{"action": "status"}')
        service.disconnect(client)
        return Response(answers[0] + "\n", media_type="application/json")

    @app.get("/v1/schema")
    async def schema() -> Response:
        return Response(SCHEMA_FILE.read_bytes(), media_type="application/schema+json")

    return _LocalOnly(app, access)


async def _read_body(request: Request) -> bytes | None:
    """The body of a request; `None` if it is too large."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            return None
    return bytes(body)


async def _answers(
    service: Service, messages: list[bytes], stop: Callable[[], object]
) -> AsyncIterator[bytes]:
    """The answers to the messages of a request, as they are found."""
    loop = asyncio.get_running_loop()
    answers: asyncio.Queue[str | None] = asyncio.Queue()

    def deliver(line: str | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(answers.put_nowait, line)

    client = service.connect(deliver)
    ends = False

    def feed() -> None:
        nonlocal ends
        for message in messages:
            service.wait_for_room(client)
            if client.is_gone or ends:
                break
            ends = not service.receive(client, message)
        service.drain(client)
        deliver(None)

    Thread(target=feed, name="anabranch-request", daemon=True).start()
    try:
        while (line := await answers.get()) is not None:
            yield f"{line}\n".encode("utf-8", "replace")
            service.read(client)
    finally:
        service.disconnect(client)
        if ends:
            stop()


def _refused(status: int, reason: str) -> Response:
    return JSONResponse(error_of(None, QueryError(None, reason)), status)


class _LocalOnly:
    """Refuses what does not come from a program of this machine."""

    def __init__(self, app: ASGIApp, access: AccessControl) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._access.refuse_address(scope["headers"], websocket=False)
            if refusal is not None:
                reason = "only programs of this machine may call this server, by its address"
                await _refused(refusal.status, reason)(scope, receive, send)
                return
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)


def serve_http(service: Service, listener: socket.socket, started: Callable[[], object]) -> None:
    """Serve until Ctrl-C or the message `terminate`. `started` is called once it listens."""
    host, port = listener.getsockname()[:2]

    def stop() -> None:
        server.should_exit = True

    config = uvicorn.Config(
        make_service_app(service, AccessControl.of(host, port), stop),
        http=TimeoutHttp,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=16 * 1024,
    )
    server = AnnouncedServer(config, started)
    server.run(sockets=[listener])
