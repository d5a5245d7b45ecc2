"""Smaller things of the page: keys, wheel, comments, draws, resigning, the graph's history and picture."""

from pathlib import Path

import chess
from playwright.sync_api import Page, expect
from tests.web.board import (
    analyse,
    expect_moves,
    expect_no_faults,
    expect_to_fit,
    fen,
    mode,
    read_state,
    spot,
    stop,
    type_move,
    wait_until,
)


def test_keys_and_wheel(page: Page) -> None:
    analyse(page, "1. e4 e5 2. Nf3 Nc6 3. Bc4 *")
    expect(page.locator(".moves h2")).to_have_text("Italian Game")
    page.mouse.move(*spot(page, "e4"))
    page.mouse.wheel(0, -100)
    page.mouse.wheel(0, -100)
    wait_until(page, "anabranch.state.current === 3")
    page.mouse.wheel(0, 100)
    wait_until(page, "anabranch.state.current === 4")
    page.locator("h1").click()
    page.keyboard.press("l")
    expect(page.locator(".lines li")).to_have_count(3, timeout=10_000)
    page.keyboard.press("l")
    assert read_state(page, "analysis.running") is False
    wait_until(page, "anabranch.state.analysis.stopped === null")  # the last report is here
    best = read_state(page, "analysis.reports[0].best")
    page.keyboard.press(" ")
    wait_until(page, f"anabranch.state.game.nodes[anabranch.state.current].uci === '{best}'")


def test_comments_and_glyphs_are_changed(page: Page) -> None:
    analyse(page, "1. e4 {[%clk 0:01:00] old} *")
    page.get_by_label("Comment", exact=True).fill("new {text}")
    page.get_by_label("Comment", exact=True).blur()
    page.get_by_role("combobox", name="Glyph").select_option("!?")
    expect_moves(page, "e4!?")
    assert "1. e4 $5 { [%clk 0:01:00] new text }" in page.evaluate("anabranch.games.pgn()")


def test_resigning_asks_and_a_draw_is_offered(page: Page) -> None:
    page.get_by_role("button", name="Crazyhouse").click()
    expect(page.get_by_text("in crazyhouse it is not measured")).to_be_visible()
    page.get_by_role("button", name="Chess", exact=True).click()
    page.get_by_role("button", name="Evaluations").click()
    page.get_by_label("Evaluations for a move").fill("20")
    page.click("[data-id=start-match]")
    type_move(page, "e4")
    expect(page.locator(".move-text button.move")).to_have_count(2, timeout=10_000)
    page.click("[data-id=draw]")
    expect(page.get_by_role("alert")).to_contain_text("declines")  # the game has only begun
    page.get_by_role("button", name="Resign").click()
    page.click("[data-id=play-on]")
    expect(page.locator(".status")).to_have_text("Your move.")
    page.evaluate("anabranch.state.match.engineValue = -0.5")
    while (count := page.locator(".move-text button.move").count()) < 20:
        board = chess.Board(fen(page))
        quiet = [move for move in board.legal_moves if not board.is_capture(move)]
        type_move(page, quiet[count % len(quiet)].uci())
        wait_until(page, f"document.querySelectorAll('.move-text button.move').length >= {count + 2}", 15)
    page.evaluate("anabranch.state.match.engineValue = 0")
    page.click("[data-id=draw]")
    expect(page.locator(".status")).to_have_text("Draw by agreement")


def test_the_history_of_the_graph_and_its_picture(page: Page, tmp_path: Path) -> None:
    mode(page, "graph")
    wait_until(page, "anabranch.state.analysis.history[0].length >= 2", 30)
    stop(page)
    newest = read_state(page, "analysis.graphs[0].nodes[0].visits")
    page.get_by_role("slider", name="History").fill("0")
    first = read_state(page, "analysis.history[0][0].nodes[0].visits")
    assert first < newest
    label = page.locator("label.slider", has_text="History")
    assert label.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    shown = read_state(page, "analysis.history[0][0].nodes.length")
    assert f" {shown} nodes" in (page.locator("canvas.graph").get_attribute("aria-label") or "")
    with page.expect_download() as waiting:
        page.click("[data-id=export-png]")
    waiting.value.save_as(tmp_path / "graph.png")
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert fen(page)


def test_a_position_is_set_up_with_pockets(page: Page) -> None:
    mode(page, "analyse")
    page.click("[data-id=editor]")
    editor = page.get_by_role("dialog", name="Board editor")
    editor.get_by_role("button", name="Crazyhouse").click()
    page.click("[data-id=editor-empty]")
    expect(editor.get_by_role("status")).to_contain_text("cannot be used")
    expect(page.locator("[data-id=editor-use]")).to_be_disabled()
    for tool, square in (("K", "e1"), ("k", "e8"), ("r", "h8"), ("P", "a2"), ("P", "b2")):
        page.click(f"[data-tool={tool}]")
        page.click(f"[data-square={square}]")
    page.click("[data-square=b2]", button="right")
    editor.get_by_text("Black to move").click()
    editor.get_by_label("Black O-O", exact=True).check()
    page.click("[data-pocket=Q]")
    page.click("[data-pocket=n]", click_count=2)
    page.click("[data-pocket=n]", button="right")
    expect_no_faults(page)
    expect_to_fit(page, "editor", colours="dialog")
    page.click("[data-id=editor-use]")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert fen(page).split()[:3] == ["4k2r/8/8/8/8/8/P7/4K3[Qn]", "b", "k"]
    page.click("[data-id=start]")
    expect(page.locator(".lines li")).not_to_have_count(0, timeout=10_000)
