"""Takes the pictures of docs/web.md: the real server, the real page, the system's Chromium.

Run it with `.venv/bin/python`. Pictures are PNG files with a palette.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import which

from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
BLUNDERS = (
    '[White "Anna"]\n[Black "Boris"]\n[Date "2026.05.01"]\n[Result "0-1"]\n\n1. e4 {[%clk 0:05:00]} e5 '
    "{[%clk 0:04:58]} 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1"
)
GAME = (
    "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 (5... Nxe4 6. d4 b5 7. Bb3 d5) 6. Re1 b5 7. Bb3 d6 "
    "8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 *"
)
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
ENDING = "8/8/1k6/p1p1p1p1/P1P1P1P1/3K4/8/8 w - - 0 1"
MATE = "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"
WIDE, PHONE = (1400, 900), (390, 844)


def paste(page: Page, text: str) -> None:
    """Put a FEN or PGN on the board."""
    page.get_by_role("button", name="Paste FEN or PGN").click()
    page.get_by_label("FEN or PGN", exact=True).fill(text)
    page.click("[data-id=import]")


def play(page: Page) -> None:
    """A game of crazyhouse with clocks."""
    paste(page, HOUSE)
    page.get_by_label("From the position on the board").check()
    page.get_by_label("Play with clocks").check()
    page.click("[data-id=start-match]")
    page.get_by_label("Type a move").fill("B@h4")
    page.keyboard.press("Enter")
    page.locator(".move-text button.move").nth(1).wait_for()
    page.get_by_role("button", name="Hint").click()
    page.wait_for_timeout(2000)


def analyse(page: Page) -> None:
    """A judged game, and its last position searched."""
    page.click("[data-id=mode-analyse]")
    paste(page, BLUNDERS)
    page.click("[data-id=sweep]")
    page.locator(".summary").wait_for(timeout=120_000)
    for _ in range(4):
        page.get_by_role("button", name="Back", exact=True).click()
    page.click("[data-id=start]")
    page.wait_for_timeout(4000)


def compare(page: Page) -> None:
    """Two presets side by side."""
    page.click("[data-id=mode-analyse]")
    paste(page, GAME)
    page.get_by_label("Compare two presets").check()
    page.click("[data-id=start]")
    page.wait_for_timeout(5000)


def graph(page: Page) -> None:
    """The whole graph, while it grows."""
    page.click("[data-id=mode-graph]")
    page.wait_for_timeout(6000)


def transposition(page: Page) -> None:
    """A transposition at high zoom."""
    graph(page)
    page.click("[data-id=stop]")
    page.wait_for_timeout(600)
    page.locator("button.transposition").first.click()
    for _ in range(2):
        page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(500)


def sharing(page: Page) -> None:
    """What sharing changes in a pawn ending."""
    page.click("[data-id=mode-analyse]")
    paste(page, ENDING)
    graph(page)
    page.click("[data-id=stop]")


def proof(page: Page) -> None:
    """A mate in four with all defences."""
    page.click("[data-id=mode-analyse]")
    paste(page, MATE)
    page.click("[data-id=mode-graph]")
    page.click("[data-id=prove]")
    page.locator(".proof-step").nth(25).wait_for()


def games(page: Page) -> None:
    """A game of Hex, searched."""
    page.click("[data-id=mode-games]")
    page.get_by_role("combobox", name="Game").select_option("hex")
    page.get_by_label("size", exact=True).fill("7")
    page.get_by_label("size", exact=True).blur()
    page.click("[data-id=grid-new]")
    for count, cell in enumerate(("d4", "c5", "d3"), 1):
        page.locator(f"[data-cell='{cell}'][role=button]").click()
        page.locator(".move-text button.move").nth(count - 1).wait_for()
        page.wait_for_timeout(400)
    page.click("[data-id=start]")
    page.wait_for_timeout(5000)


PARTS = {"web-sharing": ".sharing", "web-proof": ".proof"}
"""Pictures of a part of the page."""
PICTURES: list[tuple[str, Callable[[Page], None], tuple[int, int], str]] = [
    ("web-play", play, WIDE, "light"),
    ("web-analyse", analyse, WIDE, "dark"),
    ("web-compare", compare, WIDE, "light"),
    ("web-graph", graph, WIDE, "light"),
    ("web-graph-dark", graph, WIDE, "dark"),
    ("web-transposition", transposition, WIDE, "dark"),
    ("web-sharing", sharing, WIDE, "light"),
    ("web-proof", proof, WIDE, "light"),
    ("web-games", games, WIDE, "light"),
    ("web-play-phone", play, PHONE, "dark"),
    ("web-analyse-phone", analyse, PHONE, "light"),
    ("web-graph-phone", graph, PHONE, "dark"),
]


def take(browser: Browser, address: str, wanted: list[str]) -> None:
    """Take the pictures of these names, or all."""
    from PIL import Image

    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, prepare, (width, height), scheme in PICTURES:
        if wanted and name not in wanted:
            continue
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(".connection.open")
        prepare(page)
        with tempfile.NamedTemporaryFile(suffix=".png") as raw:
            page.mouse.move(0, 0)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(200)
            (page.locator(PARTS[name]) if name in PARTS else page).screenshot(path=raw.name)
            Image.open(raw.name).convert("RGB").quantize(256).save(IMAGES / f"{name}.png", optimize=True)
        context.close()


def main() -> None:
    """Start a server and a browser, and take the pictures."""
    chromium = which("chromium") or which("chromium-browser")
    command = [sys.executable, "-m", "anabranch", "play", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http\S+", server.stdout.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                take(browser, found[0], sys.argv[1:])
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
