"""What the tests of the page do in it: read its state, move pieces, paste games."""

import json
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


CASTLING = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1"
MATE = "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"
POCKETS = "r1bqk2r/pppp1ppp/2n2n2/4p3/4P3/2N2N2/PPPP1PPP/R1BQK2R[Bb] w KQkq - 0 1"


def read_state(page: Page, what: str) -> Any:
    return page.evaluate(f"anabranch.state.{what}")


def wait_until(page: Page, condition: str, seconds: float = 15.0) -> None:
    """Wait for a condition in the page, which allows no code from outside."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, condition
        page.wait_for_timeout(50)


def fen(page: Page) -> str:
    return str(page.evaluate("(() => { const s = anabranch.state; return s.game.nodes[s.current].fen; })()"))


def expect_moves(page: Page, *wanted: str) -> None:
    expect(page.locator(".move-text button.move")).to_have_text(list(wanted))


def moves(page: Page) -> list[str]:
    return page.locator(".move-text button.move").all_inner_texts()


def mode(page: Page, name: str) -> None:
    page.click(f"[data-id=mode-{name}]")


def paste(page: Page, text: str) -> None:
    page.get_by_role("button", name="Paste FEN or PGN").click()
    page.get_by_label("FEN or PGN", exact=True).fill(text)
    page.click("[data-id=import]")


def analyse(page: Page, text: str) -> None:
    mode(page, "analyse")
    paste(page, text)


def type_move(page: Page, move: str) -> None:
    page.get_by_label("Type a move").fill(move)
    page.keyboard.press("Enter")


def spot(page: Page, square: str) -> tuple[float, float]:
    """The middle of a square on the screen."""
    box = page.locator("cg-board").bounding_box()
    assert box is not None
    file, rank = ord(square[0]) - ord("a"), int(square[1]) - 1
    if read_state(page, "orientation") == "black":
        file, rank = 7 - file, 7 - rank
    size = box["width"] / 8
    return box["x"] + (file + 0.5) * size, box["y"] + (7.5 - rank) * size


def drag(page: Page, start: str | Locator, end: str) -> None:
    if isinstance(start, str):
        x, y = spot(page, start)
    else:
        box = start.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    to_x, to_y = spot(page, end)
    page.mouse.move((x + to_x) / 2, (y + to_y) / 2)
    page.mouse.move(to_x, to_y)
    page.mouse.up()


def click(page: Page, *squares: str) -> None:
    for square in squares:
        page.mouse.click(*spot(page, square))


def pieces(page: Page) -> dict[str, str]:
    """What stands where, by the board's own account on the screen; it draws a frame after the page."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return dict(
        page.evaluate(
            """[...document.querySelectorAll('cg-board piece:not(.ghost):not(.fading)')]
               .map((piece) => [piece.cgKey, piece.cgPiece])"""
        )
    )


def expect_no_faults(page: Page, part: str = "body", colours: bool = False) -> None:
    """Fail if axe finds a fault in a part of the page; with `colours`, in its colours alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    only = ", { runOnly: ['color-contrast'] }" if colours else ""
    found = page.evaluate(f"axe.run(document.querySelector('{part}'){only})")
    faults = [
        (fault["id"], [node["html"][:120] for node in fault["nodes"]][:3]) for fault in found["violations"]
    ]
    assert faults == [], json.dumps(faults, indent=1)


def width_of(page: Page) -> int:
    """How wide the page is; wider than the window means that it scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth"))
