"""Who may come in: 44 cases of Host and Origin, tokens, headers, paths."""

import contextlib
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.web.connection import HASTY, Server, start

OURS = "127.0.0.1:{port}"

HOSTS = [
    (OURS, True), ("localhost:{port}", True), ("LOCALHOST:{port}", True), ("[::1]:{port}", True),
    ("127.0.0.1", False), ("localhost", False), ("127.0.0.1:1", False), ("127.0.0.1:0{port}", False),
    ("127.0.0.2:{port}", False), ("0.0.0.0:{port}", False), ("evil.example", False),
    ("evil.example:{port}", False), ("localhost.evil.example:{port}", False),
    ("127.0.0.1.evil.example:{port}", False), ("localhost.:{port}", False),
    ("127.0.0.1:{port}.evil.example", False), ("evil.example@127.0.0.1:{port}", False),
    ("127.0.0.1:{port}@evil.example", False), ("127.0.0.1:{port}, evil.example", False),
    ("2130706433:{port}", False), ("0x7f000001:{port}", False), ("127.1:{port}", False),
    ("[::ffff:127.0.0.1]:{port}", False), ("", False),
]  # fmt: skip

# The second is not the Host that the request was sent to; where there is none, a program asks, not a page.
ORIGINS = [
    ("http://127.0.0.1:{port}", True), ("http://localhost:{port}", False),
    ("https://127.0.0.1:{port}", False), ("http://127.0.0.1", False), ("http://127.0.0.1:1", False),
    ("http://127.0.0.1:{port}/", False), ("http://127.0.0.1:{port}.evil.example", False),
    ("http://127.0.0.1:{port}@evil.example", False), ("http://evil.example", False),
    ("http://evil.example:{port}", False), ("https://evil.example/?http://127.0.0.1:{port}", False),
    ("HTTP://127.0.0.1:{port}", False), ("null", False), ("", False), ("file://", False),
    ("ws://127.0.0.1:{port}", False), ("chrome-extension://abcdefgh", False), (None, False),
    ("http://127.0.0.1:{port} http://evil.example", False), ("*", False),
]  # fmt: skip


@pytest.mark.parametrize(("host", "welcome"), HOSTS)
def test_only_our_names_are_answered(server: Server, host: str, welcome: bool) -> None:
    name = host.format(port=server.port)
    headers = [("Host", name), ("Cookie", server.cookie)]
    status, answer = server.ask("/", headers)
    assert (status == 200) == welcome, answer[:200]
    assert welcome or status in (400, 421)
    upgraded = server.upgrade([*headers, ("Origin", f"http://{name.lower()}")])
    assert (upgraded == 101) == welcome
    assert welcome or upgraded in (400, 403, 421)


@pytest.mark.parametrize(("origin", "welcome"), ORIGINS)
def test_only_our_page_may_talk(server: Server, origin: str | None, welcome: bool) -> None:
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Cookie", server.cookie)]
    if origin is not None:
        headers.append(("Origin", origin.format(port=server.port)))
    assert server.upgrade(headers) == (101 if welcome else 403)
    if origin is not None:
        assert server.ask("/", headers)[0] == (200 if welcome else 403)


def test_two_hosts_or_two_origins_are_none(server: Server) -> None:
    ours = ("Host", f"127.0.0.1:{server.port}")
    cookie = ("Cookie", server.cookie)
    assert server.ask("/", [ours, ("Host", "evil.example"), cookie])[0] in (400, 421)
    origins = [("Origin", server.origin), ("Origin", "http://evil.example")]
    assert server.upgrade([ours, cookie, *origins]) in (400, 403)


@pytest.mark.parametrize(
    "cookie",
    [None, "", "anabranch=x", "anabranch-{port}=", "anabranch-{port}={wrong}", "anabranch-1={token}", "="],
)
def test_without_the_token_nothing_is_answered(server: Server, cookie: str | None) -> None:
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Origin", server.origin)]
    if cookie is not None:
        wrong = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
        headers.append(("Cookie", cookie.format(port=server.port, token=server.token, wrong=wrong)))
    for path in ("/", "/page.js", "/?token=wrong", "/?token=", "/nothing"):
        status, answer = server.ask(path, headers)
        assert status == 403
        assert server.token.encode() not in answer
        assert b"open the address that anabranch play printed" in answer
    assert server.upgrade(headers) == 403


def test_the_token_opens_the_page_and_stays_out_of_reach_of_scripts(server: Server) -> None:
    with httpx.Client() as client:
        first = client.get(server.address)
        assert first.status_code == 200
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=Strict" in first.headers["set-cookie"]
        assert server.token not in first.text
        again = client.get(f"{server.origin}/page.js")
        assert again.status_code == 200
        assert again.headers["content-type"].startswith("text/javascript")
    assert httpx.get(f"{server.origin}/page.js?token={server.token}").status_code == 403


def test_the_browser_gets_a_ticket_for_one_visit(tmp_path: Path) -> None:
    script, told = tmp_path / "browser.py", tmp_path / "told"
    script.write_text(f"import pathlib, sys; pathlib.Path({str(told)!r}).write_text(sys.argv[1])")
    with start(browser=f"{sys.executable} {script} %s") as server:
        deadline = time.monotonic() + 20
        while not (told.exists() and told.read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = told.read_text()
        assert server.token not in address
        assert httpx.get(address).headers["set-cookie"].startswith(server.cookie)
        assert httpx.get(address).status_code == 403
        assert httpx.get(server.address).status_code == 200


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/nothing", "/?token=wrong"])
def test_every_answer_has_its_headers(server: Server, path: str) -> None:
    answer = httpx.get(server.origin + path, headers={"Cookie": server.cookie})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers


def test_refusals_have_them_too(server: Server) -> None:
    answer = httpx.get(server.origin, headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "default-src 'none'" in answer.headers["content-security-policy"]


TRAVERSALS = [
    "/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd",
    "/....//....//etc/passwd", "/..\\..\\etc\\passwd", "/..%5c..%5cetc%5cpasswd", "//etc/passwd",
    "/etc/passwd", "/static/../server.py", "/../server.py", "/server.py", "/./page.js/../../access.py",
    "/page.js/..", "/page.js%00.html", "/%00", "/..;/..;/etc/passwd", "/%c0%ae%c0%ae/etc/passwd",
    "/%252e%252e/etc/passwd", "/file:///etc/passwd", "http://evil.example/etc/passwd", "/ws", "/docs",
    "/openapi.json", "/sources/", "/.", "/..", "/~root", "/" + "a" * 8000,
]  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_page(server: Server, path: str) -> None:
    status, answer = server.ask(path, [("Host", f"127.0.0.1:{server.port}"), ("Cookie", server.cookie)])
    assert status in (400, 404), answer[:200]
    assert b"root:" not in answer
    assert b"import" not in answer


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_there_is_nothing_but_get(server: Server, method: str) -> None:
    headers = [("Host", f"127.0.0.1:{server.port}"), ("Cookie", server.cookie), ("Content-Length", "0")]
    assert server.ask("/", headers, method)[0] in (400, 405)
    assert server.ask(f"/?token={server.token}", headers[:1], method)[0] in (400, 405)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # a browser that tries TLS
    ],
)
def test_what_is_not_http_is_refused(hasty: Server, request_bytes: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        assert hasty.send(request_bytes)[0] in (0, 400, 421, 431)
    hasty.is_well()


UNFINISHED = {
    "silence": [],
    "half a head": [b"GET / HTTP/1.1\r\nHost: 127"],
    "letter by letter": [b"G", b"E", b"T", b" ", b"/"],
    "line by line": [b"GET / HTTP/1.1\r\n", b"X-Slow: 1\r\n", b"X-Slower: 2\r\n"],
}


def test_an_unfinished_request_is_disconnected(hasty: Server) -> None:
    def wait_for_end(pieces: list[bytes]) -> float:
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", hasty.port), timeout=HASTY + 10) as line:
            for piece in pieces:
                line.sendall(piece)
                time.sleep(0.1)
            assert line.recv(1000) == b""
            return time.monotonic() - began

    with ThreadPoolExecutor(len(UNFINISHED)) as pool:
        waited = dict(zip(UNFINISHED, pool.map(wait_for_end, UNFINISHED.values()), strict=True))
    assert all(seconds >= HASTY for seconds in waited.values()), waited
    hasty.is_well()


def test_a_second_request_must_be_finished_too(hasty: Server) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=HASTY + 10) as line:
        head = f"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:{hasty.port}\r\nCookie: {hasty.cookie}\r\n"
        line.sendall(f"{head}\r\n".encode())
        assert line.recv(10_000).startswith(b"HTTP/1.1 404")
        line.sendall(head.encode())
        while line.recv(10_000):
            pass
    hasty.is_well()
