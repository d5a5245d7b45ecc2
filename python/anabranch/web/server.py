"""The HTTP and WebSocket server of the board: routes, limits of connections, the life of the process.

The page is read into memory once, so no request ever names a file. Access is checked by
`access`; the messages of a socket are handled by `client`.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anabranch import __version__, _core
from anabranch.defaults import resolve
from anabranch.engine import Engine
from anabranch.errors import VariantError
from anabranch.evaluators.resolve import display_name
from anabranch.settings import presets, settings_table
from anabranch.strength import HIGHEST, LOWEST, MEASURED
from anabranch.web.access import AccessControl, Refusal, security_headers
from anabranch.web.client import Client, ClientGoneError
from anabranch.web.grid import catalogue
from anabranch.web.http_timeout import TimeoutHttp
from anabranch.web.listener import AnnouncedServer, ServerError
from anabranch.web.messages import CHANGEABLE, LARGEST_MESSAGE, LEAST_MEMORY, MOST_NODES, VARIANTS
from anabranch.web.searches import ClientSearches, Resources

STATIC = Path(__file__).with_name("static")
MOST_CONNECTIONS = 128
"""Open connections of any kind; further ones get status 503."""
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to serve."""

    resources: Resources = field(default_factory=Resources)
    clients: int = 8
    """Browsers at a time; each may search."""
    tables: _core.Tablebases | None = None
    """Tablebases for chess, shared by all."""
    evaluator: str | None = None
    """A name or a network file, in the variant that it is for; elsewhere the network of the package."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    kind: str


def read_page(folder: Path = STATIC) -> dict[str, _File]:
    """The built page: what is served under which path."""
    files = {
        path.relative_to(folder).as_posix(): _File(
            path.read_bytes(), mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    if "index.html" not in files:
        raise ServerError("the page is not in this package; 'make web' builds it")
    return files


def make_app(access: AccessControl, options: ServerOptions) -> FastAPI:
    """The application, behind access control."""
    app = FastAPI(title="Anabranch", docs_url=None, redoc_url=None, openapi_url=None)
    files = read_page()
    connected: set[WebSocket] = set()
    hello = greeting(options)

    @app.get("/{path:path}")
    def page(path: str) -> Response:
        file = files.get(path or "index.html")
        if file is None:
            return JSONResponse({"error": "There is no such page."}, 404)
        return Response(file.content, media_type=file.kind)

    @app.websocket("/ws")
    async def talk(line: WebSocket) -> None:
        await line.accept()
        if len(connected) >= options.clients:
            await line.close(TRY_AGAIN_LATER, f"{options.clients} browsers are connected; no more are served")
            return
        connected.add(line)
        client = Client(
            ClientSearches(options.resources, options.tables, options.evaluator),
            partial(_receive, line),
            line.send_text,
        )
        try:
            await client.serve(hello)
        except WebSocketDisconnect:
            pass
        except ClientGoneError as reason:
            with contextlib.suppress(RuntimeError, OSError, WebSocketDisconnect):  # it has gone already
                await asyncio.wait_for(line.close(POLICY_VIOLATION, str(reason)), 1.0)
        finally:
            connected.discard(line)

    app.add_middleware(_Guard, access=access, front=files["index.html"].content)
    return app


async def _receive(line: WebSocket) -> str:
    """The next text message of a browser."""
    message = await line.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect
    text = message.get("text")
    if not isinstance(text, str):
        raise ClientGoneError("messages are text")
    return text


def greeting(options: ServerOptions) -> dict[str, Any]:
    """The first message to the page: presets, settings and limits."""
    rows = {row.name: row for row in settings_table()}
    evaluators = {variant: _evaluator(variant, options.evaluator) for variant in VARIANTS}
    return {
        "type": "hello",
        "version": __version__,
        "presets": {
            name: {variant: _changeable(name, variant, evaluators[variant]) for variant in VARIANTS}
            for name in presets()
        },
        "settings": [
            {
                "name": name,
                "meaning": rows[name].meaning,
                "choices": list(rows[name].choices),
                "minimum": rows[name].minimum,
                "maximum": rows[name].maximum,
            }
            for name in CHANGEABLE
        ],
        "games": catalogue(),
        "elo": [LOWEST, HIGHEST],
        "measured_elo": MEASURED,
        "seconds": options.resources.seconds,
        "nodes": MOST_NODES,
        "machine": _machine(options, evaluators),
    }


def _machine(options: ServerOptions, evaluators: dict[str, object]) -> dict[str, Any]:
    """What a browser may use of this machine, and what it has; files by their names, never by their paths."""
    tables, given = options.tables, options.evaluator
    return {
        "threads": options.resources.threads,
        "memory": [LEAST_MEMORY, options.resources.memory >> 20],
        "tablebases": None if tables is None else {"men": tables.men, "files": len(tables.files)},
        "evaluators": {
            variant: "bundled" if given is None or evaluator is None else display_name(given)
            for variant, evaluator in evaluators.items()
        },
    }


def _evaluator(variant: str, given: str | None) -> object:
    """The evaluator of a variant: the given one if it is for this variant, else the package's network."""
    with contextlib.suppress(VariantError):
        return None if given is None else Engine(variant, evaluator=given).evaluator
    return None


def _changeable(preset: str, variant: str, evaluator: object) -> dict[str, bool | int | float | str]:
    settings = resolve(preset, variant, evaluator, {})
    return {name: getattr(settings, name) for name in CHANGEABLE}


class _Guard:
    """Checks access first, and adds security headers to every response."""

    def __init__(self, app: ASGIApp, access: AccessControl, front: bytes) -> None:
        self._app = app
        self._front = front
        self._access = access
        self._headers = [
            (name.encode(), value.encode()) for name, value in security_headers(access.hosts).items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        if scope["type"] == "websocket":
            refusal = self._access.refuse(scope["headers"], websocket=True)
            if refusal is None and scope["path"] == "/ws":
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        answer = self._answer(Request(scope))
        if answer is None:
            await self._app(scope, receive, send_guarded)
        else:
            await answer(scope, receive, send_guarded)

    def _answer(self, request: Request) -> Response | None:
        """The response to a request that is refused, or that brings the token for the first time."""
        headers = request.scope["headers"]
        refusal = self._access.refuse_address(headers, websocket=False)
        if refusal is not None:
            return _refused(refusal)
        token = request.query_params.get("token")
        if token is None or request.url.path != "/":
            is_first = False
        else:
            is_first = self._access.is_token(token) or self._access.use_ticket(token)
        if is_first:
            if request.method != "GET":
                return JSONResponse({"error": "Only GET is understood here."}, 405)
            answer = HTMLResponse(self._front)
            answer.headers["set-cookie"] = f"{self._access.cookie}; Path=/; HttpOnly; SameSite=Strict"
            return answer
        refusal = self._access.refuse(headers, websocket=False)
        return None if refusal is None else _refused(refusal)


def _refused(refusal: Refusal) -> Response:
    return JSONResponse({"error": refusal.reason}, refusal.status)


def serve(
    listener: socket.socket, access: AccessControl, options: ServerOptions, started: Callable[[], None]
) -> None:
    """Serve until Ctrl-C. `started` is called once it listens."""
    config = uvicorn.Config(
        make_app(access, options),
        http=TimeoutHttp,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=16 * 1024,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
    )
    AnnouncedServer(config, started).run(sockets=[listener])
