"""The machine in the page: threads, memory, tablebases and networks; and how the board looks."""

from playwright.sync_api import Page, expect
from tests.web.board import analyse, mode, read_state, type_move, wait_until

TABLE = "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"


def test_threads_memory_and_tablebases_are_chosen(page: Page) -> None:
    machine = read_state(page, "hello.machine")
    page.click("[data-id=settings]")
    dialog = page.get_by_role("dialog", name="Settings")
    expect(dialog.locator(".statistics")).to_contain_text("bundled, maia-1500, other")
    dialog.get_by_role("slider", name="Memory of the graphs").fill("64")
    dialog.get_by_role("slider", name="Threads").fill("1")
    dialog.get_by_role("checkbox", name="Tablebases").uncheck()
    page.keyboard.press("Escape")
    chosen = read_state(page, "machine")
    assert chosen["memory"] == 64
    assert chosen["tablebases"] is False
    assert chosen["threads"] == (1 if machine["threads"] > 1 else None)
    analyse(page, TABLE)
    page.click("[data-id=start]")
    wait_until(page, "anabranch.state.analysis.reports[0]?.statistics.visits > 50")
    assert read_state(page, "analysis.reports[0].statistics.tablebase_hits") == 0
    page.reload()  # the choice is remembered
    page.wait_for_selector(".connection.open")
    page.click("[data-id=settings]")
    expect(dialog.locator(".slider b")).to_have_text([f"1 of {machine['threads']}", "64 MB of 512"])
    dialog.get_by_role("checkbox", name="Tablebases").check()
    page.keyboard.press("Escape")
    page.click("[data-id=start]")
    wait_until(page, "anabranch.state.analysis.reports[0]?.statistics.tablebase_hits > 0")


def test_a_network_is_chosen_for_analysis_and_people_for_play(page: Page) -> None:
    mode(page, "analyse")
    page.get_by_role("combobox", name="Network").select_option("other")
    page.get_by_role("combobox", name="Preset").select_option("alphazero")
    page.click("[data-id=start]")
    wait_until(page, "anabranch.state.analysis.trials.rows[0]?.label === 'alphazero, other'")
    mode(page, "play")
    page.get_by_role("button", name="Crazyhouse").click()
    expect(page.get_by_role("button", name="People")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Network")).to_have_count(0)
    page.get_by_role("button", name="Chess", exact=True).click()
    page.get_by_role("button", name="People").click()
    expect(page.get_by_role("combobox", name="Plays like people rated")).to_have_value("1500")
    page.click("[data-id=start-match]")
    expect(page.locator(".strip").first).to_contain_text("like people of 1500")
    type_move(page, "e4")
    expect(page.locator(".move-text button.move")).to_have_count(2, timeout=15_000)
    assert read_state(page, "match.engineValue") is None  # a move of the policy, without search


def test_colours_and_pieces_are_chosen_and_remembered(page: Page) -> None:
    square = "getComputedStyle(document.documentElement).getPropertyValue('--board-dark')"
    piece = "getComputedStyle(document.querySelector('cg-board piece.white.king')).backgroundImage"
    before = page.evaluate(square), page.evaluate(piece)
    page.click("[data-id=settings]")
    page.get_by_role("button", name="Green").click()
    page.get_by_role("button", name="Letters").click()
    page.keyboard.press("Escape")
    wait_until(page, "document.documentElement.dataset.pieces === 'letters'")
    after = page.evaluate(square), page.evaluate(piece)
    assert before[0] != after[0]
    assert before[1] != after[1]
    wait_until(page, "Object.values(localStorage).some((stored) => stored.includes('letters'))")
    page.reload()
    page.wait_for_selector(".connection.open")
    assert (page.evaluate(square), page.evaluate(piece)) == after
