"""One browser: its messages are handled, results are sent, and its search ends when it disconnects.

The search runs in a thread. Its reports go into a mailbox that keeps only the newest of each kind, so a
browser that reads slowly misses reports instead of filling memory; one that does not read is disconnected.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from anabranch.errors import AnabranchError
from anabranch.networks import list_networks
from anabranch.networks.folders import human_networks, installed_networks
from anabranch.web.grid import GridRules
from anabranch.web.messages import (
    LARGEST_MESSAGE,
    VARIANTS,
    Analyse,
    GridAnalyse,
    GridPlay,
    GridPosition,
    GridProve,
    Judge,
    MessageError,
    Networks,
    Openings,
    Play,
    Prove,
    StopMessage,
    Watch,
    read_message,
)
from anabranch.web.searches import ClientSearches

SEND_TIMEOUT = 5.0
"""A browser that does not take a message within this time is disconnected."""
MOST_ANSWERS = 64
"""Answers that may wait; reports do not count."""
BURST = 60
"""Messages that may come at once."""
KEPT = {"report": "side", "graph": "side", "judging": "ply"}
"""Messages of which only the newest of a kind waits, and the field that tells kinds apart."""
RATE = 20.0
"""Messages per second after that."""


class ClientGoneError(Exception):
    """The browser does not read, or sends too many messages."""


async def networks() -> list[dict[str, Any]]:
    """The installed networks: name, variant, architecture, and the rating of the players that they imitate.

    Files that cannot be used are left out. Paths stay on the server.
    """
    return await asyncio.to_thread(_networks)


def _networks() -> list[dict[str, Any]]:
    return _read_networks(
        tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in installed_networks().values())
    )


@lru_cache(maxsize=1)
def _read_networks(files: tuple[tuple[Path, int, int], ...]) -> list[dict[str, Any]]:
    """Every browser requests the list; the files are read again only when one of them has changed."""
    ratings = {path: rating for rating, path in human_networks().items()}
    return [
        {name: row[name] for name in ("name", "variant", "architecture")}
        | {"human": ratings.get(Path(row["file"]))}
        for row in list_networks()
        if row["problem"] is None and row["variant"] in VARIANTS
    ]


async def openings(variant: str) -> list[tuple[str, str]]:
    """Name and FEN of every opening of a variant that comes with the package."""
    return await asyncio.to_thread(_openings, variant)


@cache
def _openings(variant: str) -> list[tuple[str, str]]:
    from anabranch.match.openings import default_openings

    return [(opening.name, opening.fen) for opening in default_openings(variant)]


class Mailbox:
    """Messages to be sent. Reports and graphs replace older ones of their kind; answers do not.

    >>> box = Mailbox()
    >>> box.put(("report", 0), "old")
    >>> box.put(None, "answer")
    >>> box.put(("report", 0), "new")
    >>> box.take(), box.take(), box.take()
    ('new', 'answer', None)
    """

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self._latest: dict[tuple[str, int], str] = {}
        self._order: deque[tuple[str, int] | str] = deque()

    def put(self, kind: tuple[str, int] | None, text: str) -> None:
        """Add a message; it replaces one of its kind that waits."""
        if kind is None:
            if sum(isinstance(item, str) for item in self._order) < MOST_ANSWERS:
                self._order.append(text)
        else:
            if kind not in self._latest:
                self._order.append(kind)
            self._latest[kind] = text
        self.ready.set()

    def take(self) -> str | None:
        """The next message."""
        if not self._order:
            self.ready.clear()
            return None
        item = self._order.popleft()
        return item if isinstance(item, str) else self._latest.pop(item)


class Client:
    """A connected browser. `receive` and `send` are its connection; all methods belong to the event loop."""

    def __init__(
        self,
        searches: ClientSearches,
        receive: Callable[[], Awaitable[str]],
        send: Callable[[str], Awaitable[None]],
    ) -> None:
        self._searches = searches
        self._receive = receive
        self._send = send
        self._rules = GridRules()
        self._box = Mailbox()
        # A thread of its own: a common pool has room for as many searches as it has threads, and no more.
        self._thread = ThreadPoolExecutor(1, "search")
        self._search: asyncio.Task[None] | None = None
        self._allowance = float(BURST)
        self._counted = time.monotonic()

    async def serve(self, greeting: dict[str, Any]) -> None:
        """Serve until the browser disconnects, and end its search."""
        self._queue(greeting)
        listening = asyncio.create_task(self._receive_all())
        sending = asyncio.create_task(self._deliver())
        try:
            done, _ = await asyncio.wait((listening, sending), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (listening, sending):
                task.cancel()
            await asyncio.gather(listening, sending, return_exceptions=True)
            await self._end_search()
            self._thread.shutdown(wait=False)

    async def _receive_all(self) -> None:
        while True:
            text = await self._receive()
            self._count()
            try:
                if len(text) > LARGEST_MESSAGE:
                    raise MessageError(f"a message has at most {LARGEST_MESSAGE} bytes")
                await self._handle(text)
            except AnabranchError as error:
                self._queue({"type": "error", "id": None, "message": str(error)})

    def _count(self) -> None:
        """Disconnect a browser that sends too many messages."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + RATE * (now - self._counted)) - 1.0
        self._counted = now
        if self._allowance < 0.0:
            raise ClientGoneError("too many messages")

    async def _handle(self, text: str) -> None:
        match read_message(text):
            case Analyse() | Play() | Judge() | Prove() | GridAnalyse() | GridPlay() | GridProve() as request:
                await self._end_search()
                self._searches.prepare(getattr(request, "view", None))
                self._search = asyncio.create_task(self._run(request))
            case Watch(view=view):
                self._searches.view = view
            case GridPosition(id=number, game=game):
                found = await asyncio.to_thread(self._rules.describe, game)
                self._queue({"type": "grid-position", "id": number, **found})
            case Openings(variant=variant):
                self._queue({"type": "openings", "variant": variant, "positions": await openings(variant)})
            case Networks():
                self._queue({"type": "networks", "networks": await networks()})
            case StopMessage():
                await self._end_search(last=True)

    async def _run(
        self, request: Analyse | Play | Judge | Prove | GridAnalyse | GridPlay | GridProve
    ) -> None:
        loop = asyncio.get_running_loop()

        def send(message: dict[str, Any]) -> None:
            """Called in the thread of the search, where a large graph may take its time."""
            kind = message["type"]
            key = (kind, message[KEPT[kind]]) if kind in KEPT else None
            text = json.dumps(message, separators=(",", ":"))
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._box.put, key, text)

        work: dict[type, Callable[..., None]] = {
            Analyse: self._searches.analyse,
            GridAnalyse: self._searches.analyse,
            Play: self._searches.play,
            GridPlay: self._searches.play,
            Judge: self._searches.judge,
            Prove: self._searches.prove,
            GridProve: self._searches.prove,
        }
        try:
            await loop.run_in_executor(self._thread, work[type(request)], request, send)
        except AnabranchError as error:
            self._queue({"type": "error", "id": request.id, "message": str(error)})
        except Exception:
            self._queue(
                {"type": "error", "id": request.id, "message": "the search failed; see the server's log"}
            )
            raise

    async def _end_search(self, *, last: bool = False) -> None:
        """Stop the search and wait until its thread is free; with `last`, after its last graph."""
        search, self._search = self._search, None
        if search is None:
            return
        while not search.done():
            self._searches.stop(last=last)
            await asyncio.wait((search,), timeout=0.1)
        if (error := search.exception()) is not None:
            raise error

    def _queue(self, message: dict[str, Any]) -> None:
        self._box.put(None, json.dumps(message, separators=(",", ":")))

    async def _deliver(self) -> None:
        while True:
            await self._box.ready.wait()
            while (text := self._box.take()) is not None:
                try:
                    await asyncio.wait_for(self._send(text), SEND_TIMEOUT)
                except TimeoutError:
                    raise ClientGoneError("messages are not read") from None
