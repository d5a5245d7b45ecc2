"""The real server in a process of its own, and the system's Chromium."""

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, sync_playwright
from tests.support.tables import TABLES
from tests.web.connection import Server, start

NETWORK = Path(__file__).resolve().parents[1] / "data" / "lc0" / "tinygyal-8.pb.gz"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With tablebases, and two installed networks of which one has the name of a Maia network."""
    data = tmp_path_factory.mktemp("data")
    folder = data / "anabranch" / "networks"
    folder.mkdir(parents=True)
    for name in ("maia-1500", "other"):
        (folder / f"{name}.pb.gz").write_bytes(NETWORK.read_bytes())
    with start("--tablebases", str(TABLES), data=data) as running:
        yield running


@pytest.fixture(scope="session")
def hasty() -> Iterator[Server]:
    """For those who keep a server waiting."""
    with start(hasty=True) as running:
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
