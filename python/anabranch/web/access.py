"""Access control: the names under which the server may be called, the pages that may call it, the token.

A page of another site can make a browser call any address, ours included. So the Host must be ours (against
names that an attacker points at this machine), the Origin must be ours (against other pages), and the token
that only the command line printed must come along in a cookie. This file knows no routes.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

Headers = Iterable[tuple[bytes, bytes]]

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine for itself."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused."""

    status: int
    reason: str


def _new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class AccessControl:
    """The names of a server, and its token.

    >>> access = AccessControl(("127.0.0.1:8640",), token="secret")
    >>> access.refuse([(b"host", b"evil.example")], websocket=False)
    Refusal(status=421, reason='This server is not called that; use the address that anabranch play printed.')
    >>> cookie = access.cookie.encode()
    >>> access.refuse([(b"host", b"127.0.0.1:8640"), (b"cookie", cookie)], websocket=False) is None
    True
    """

    hosts: tuple[str, ...]
    """Names with port, in lower case, as a Host header has them."""
    token: str = field(default_factory=_new_token, repr=False)
    _tickets: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def of(cls, host: str, port: int) -> AccessControl:
        """Access control of a server that listens at an address."""
        name = f"[{host.lower()}]" if ":" in host else host.lower()
        names = dict.fromkeys((name, *(LOCAL if is_loopback(host) else ())))
        hosts = [f"{name}:{port}" for name in names]
        if port == 80:  # browsers leave it out
            hosts += names
        return cls(tuple(hosts))

    @property
    def cookie(self) -> str:
        """Name and value of the cookie with the token. The port is in the name, because cookies of all
        ports are sent.
        """
        return f"{self._cookie_name}={self.token}"

    @property
    def _cookie_name(self) -> str:
        return "anabranch-" + self.hosts[0].rpartition(":")[2]

    def refuse(self, headers: Headers, *, websocket: bool) -> Refusal | None:
        """Why a request is refused; `None` where it is not. A WebSocket must name its origin."""
        return self.refuse_address(headers, websocket=websocket) or self._refuse_cookie(headers)

    def refuse_address(self, headers: Headers, *, websocket: bool) -> Refusal | None:
        """The same by Host and Origin alone."""
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return Refusal(
                421, "This server is not called that; use the address that anabranch play printed."
            )
        origins = _all(headers, b"origin")
        if not origins and not websocket:
            return None
        if origins != [f"http://{hosts[0].lower()}"]:
            return Refusal(403, "Only the page of this server itself may call it.")
        return None

    def is_token(self, token: str) -> bool:
        """Whether a text is the token."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def new_ticket(self) -> str:
        """A token that is valid once, for the browser that is started from here: its command line can be read
        by others.

        >>> access = AccessControl(("127.0.0.1:8640",))
        >>> ticket = access.new_ticket()
        >>> access.use_ticket(ticket), access.use_ticket(ticket), access.use_ticket(access.token)
        (True, False, False)
        """
        ticket = _new_token()
        self._tickets.add(ticket)
        return ticket

    def use_ticket(self, ticket: str) -> bool:
        """Whether a text is a ticket; it is used up by that."""
        is_valid = ticket in self._tickets
        self._tickets.discard(ticket)
        return is_valid

    def _refuse_cookie(self, headers: Headers) -> Refusal | None:
        for line in _all(headers, b"cookie"):
            try:
                morsel = SimpleCookie(line).get(self._cookie_name)
            except CookieError:
                continue
            if morsel is not None and self.is_token(morsel.value):
                return None
        return Refusal(403, "The token is missing or old; open the address that anabranch play printed.")


def is_loopback(host: str) -> bool:
    """Whether an address or name belongs to this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("192.168.1.2")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _all(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def security_headers(hosts: tuple[str, ...]) -> dict[str, str]:
    """The headers of every response: load from here only, run no inline scripts, no frames, no caching."""
    # CSP cannot express IPv6 addresses, so only 'self' is used.
    sockets = " ".join(f"ws://{host}" for host in hosts if not host.startswith("["))
    return {
        "content-security-policy": (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
