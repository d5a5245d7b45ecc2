"""The socket of a server, and a server that announces when it listens. Knows no routes."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from anabranch.errors import AnabranchError

UNREAD_MS = 20_000
"""Time after which the system drops a connection whose data is not acknowledged."""


class ServerError(AnabranchError, OSError):
    """The server cannot begin."""


class AnnouncedServer(uvicorn.Server):
    """A server that calls a function once it listens."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], object]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; a port of 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections inherit it
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ServerError(f"the server cannot listen at {host}, port {port}: {reason.lower()}") from None
    return listener
