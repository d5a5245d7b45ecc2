"""What the tests of the page do in it: read its state, move pieces, paste games."""

import json
import time
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (360, 390, 768, 1366, 1536, 1920)
"""Of phones, tablets and screens."""
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
MEASURE = """async ([width, theme]) => {
  const root = document.documentElement;
  const boxes = () => [...document.querySelectorAll('div.table, dialog, .card, .openings, .games')];
  const measured = () => ({
    theme: root.dataset.theme,
    window: innerWidth,
    wide: [root, ...boxes()]
      .filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => `${one.scrollWidth} > ${one.clientWidth}: ${one.outerHTML.slice(0, 100)}`),
  });
  const fits = ({ wide, window, theme: drawn }) => !wide.length && window === width && drawn === theme;
  for (let frames = 0; frames === 0 || (frames < 30 && !fits(measured())); frames++) {
    await new Promise((done) => requestAnimationFrame(done));
  }
  return measured();
}"""
"""What is drawn, some frames after a change at most: the theme, and what is too narrow for its content."""
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


def stop(page: Page) -> None:
    """End the analysis; afterwards its last report and its last graph are there, and nothing more comes."""
    page.click("[data-id=stop]")
    wait_until(page, "anabranch.state.analysis.stopped === null")


def draw(page: Page) -> None:
    """Let the page draw what has changed: it does so in the next frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def fen(page: Page) -> str:
    return str(page.evaluate("(() => { const s = anabranch.state; return s.game.nodes[s.current].fen; })()"))


def expect_moves(page: Page, *wanted: str) -> None:
    expect(page.locator(".move-text button.move")).to_have_text(list(wanted))


def moves(page: Page) -> list[str]:
    return page.locator(".move-text button.move").all_inner_texts()


def mode(page: Page, name: str) -> None:
    page.click(f"[data-id=mode-{name}]")
    draw(page)


def paste(page: Page, text: str) -> None:
    page.get_by_role("button", name="Paste FEN or PGN").click()
    page.get_by_label("FEN or PGN", exact=True).fill(text)
    page.click("[data-id=import]")
    draw(page)  # until then the fields are those of the game before


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
    draw(page)  # what an earlier step has moved elsewhere is there before it is measured
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
    draw(page)
    for square in squares:
        page.mouse.click(*spot(page, square))


def pieces(page: Page) -> dict[str, str]:
    """What stands where, by the board's own account on the screen; it draws a frame after the page."""
    draw(page)
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


def theme(page: Page, name: Literal["light", "dark"]) -> None:
    """Have the system ask for a theme; the page follows, as long as none is chosen in it."""
    page.emulate_media(color_scheme=name)
    expect(page.locator("html")).to_have_attribute("data-theme", name)


def expect_to_fit(
    page: Page, what: str, widths: tuple[int, ...] = WIDTHS, *, colours: str | None = None
) -> None:
    """At every width, light and dark, nothing scrolls sideways. With `colours`, axe looks at those of a part
    of the page, where it is smallest and where it is largest.
    """
    size = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        for name in THEMES:
            page.emulate_media(color_scheme=name)
            seen = page.evaluate(MEASURE, [width, name])
            assert seen == {"theme": name, "window": width, "wide": []}, (what, seen)
            if colours is not None and width in (widths[0], widths[-1]):
                expect_no_faults(page, colours, colours=True)
    page.emulate_media(color_scheme="light")
    if size is not None:
        page.set_viewport_size(size)


def width_of(page: Page) -> int:
    """How wide the page is; wider than the window means that it scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth"))
