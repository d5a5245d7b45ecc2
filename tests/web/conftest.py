"""The real server in a process of its own, and the system's Chromium."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from shutil import which

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, sync_playwright
from tests.web.line import Server


def start(*options: str, browser: str | None = None) -> Server:
    """A server on a free port, and a command that takes its address as a browser would."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "anabranch",
            "play",
            "--port",
            "0",
            *options,
            *(() if browser else ("--no-browser",)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **({"BROWSER": browser} if browser else {})},
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said)
    assert found is not None, said
    return Server(process, int(found[1]), found[2])


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with start() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: its event loop runs as long, and other tests have loops of their own."""
    path = which("chromium") or which("chromium-browser") or which("google-chrome")
    assert path is not None, "there is no Chromium; scripts/install-programs installs it"
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page, open and connected; after the test its console must be clean."""
    yield from _open(browser, server, 1400, 900)


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    """The page on a small screen in the dark."""
    yield from _open(browser, server, 390, 844, "dark", has_touch=True)


def _open(
    browser: Browser, server: Server, width: int, height: int, scheme: str = "light", has_touch: bool = False
) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        accept_downloads=True,
        reduced_motion="reduce",
        has_touch=has_touch,
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    def fail(error: Error) -> None:
        complaints.append(str(error))

    opened.on("console", listen)
    opened.on("pageerror", fail)
    opened.goto(server.address)
    opened.wait_for_selector(".connection.open")
    yield opened
    context.close()
    assert complaints == []
