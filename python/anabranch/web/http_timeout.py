"""HTTP with a timeout for the head of a request.

uvicorn limits the time between two requests, but not how long the head of one may take; a few hundred
browsers that never finish theirs would use up all connections.
"""

from __future__ import annotations

import asyncio
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

TIMEOUT = 5.0
"""Time for the head of a request, from the connection or from its first byte."""


class TimeoutHttp(H11Protocol):
    """uvicorn's HTTP, with a timer that runs while a request is expected and not complete."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Stop the timer where the request is complete."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._set(None)
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._expects_request():
            self._set(None)
        elif self._timer is None:
            self._set(self.loop.call_later(TIMEOUT, self._hang_up))

    def _expects_request(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _set(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def _hang_up(self) -> None:
        self._timer = None
        is_ours = self.transport.get_protocol() is self  # else it has become a WebSocket
        if is_ours and self._expects_request():
            self.transport.close()
