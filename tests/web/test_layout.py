"""The page at every size, light and dark: nothing scrolls sideways, everything can be seen."""

import pytest
from playwright.sync_api import Page, expect
from tests.web.board import MATE, POCKETS, mode, paste, width_of

WIDTHS = (360, 390, 768, 1366, 1536, 1920)
"""Of phones, tablets and screens."""
MORE = (1024, 1400, 1450)
"""Where columns change."""


def expect_to_fit(page: Page, what: str, widths: tuple[int, ...] = WIDTHS) -> None:
    """Nothing scrolls sideways; light and dark in turn, because both have the same sizes."""
    for number, width in enumerate(widths):
        theme = "dark" if number % 2 else "light"
        page.evaluate(f"anabranch.state.theme = '{theme}'")
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(30)
        assert width_of(page) <= width, (what, width)
        tables = page.locator("div.table")
        wide = tables.evaluate_all("(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length")
        assert wide == 0, (what, width)
    page.set_viewport_size({"width": 1400, "height": 900})


def test_no_route_scrolls_sideways_at_any_width(page: Page) -> None:
    expect_to_fit(page, "play")
    box = page.locator("cg-board").bounding_box()
    assert box is not None
    assert box["width"] >= 300
    page.click("[data-id=theme]")
    expect(page.locator("html")).not_to_have_attribute("data-theme", "")
    for name in ("Settings", "Openings", "Board editor"):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        expect_to_fit(page, name)
        page.keyboard.press("Escape")
    mode(page, "analyse")
    page.click("[data-id=start]")
    page.wait_for_selector(".lines li")
    page.get_by_role("combobox", name="Preset").select_option("alphazero")
    expect(page.get_by_role("region", name="What changes")).to_be_visible()
    page.get_by_text("Enhancements").click()
    page.click("[data-id=stop]")
    expect_to_fit(page, "what changes", WIDTHS + MORE)
    page.get_by_label("Compare two presets").check()
    page.click("[data-id=start]")
    page.wait_for_selector("[data-side='1'] .lines li")
    page.click("[data-id=stop]")
    expect_to_fit(page, "compare", WIDTHS + MORE)
    page.get_by_role("combobox", name="Preset A").select_option("default")
    mode(page, "graph")
    page.wait_for_selector("button.transposition")
    page.locator(".transpositions button.transposition").first.click()
    page.click("[data-id=stop]")
    expect_to_fit(page, "graph", WIDTHS + MORE)
    paste(page, MATE)
    page.click("[data-id=prove]")
    page.wait_for_selector(".proof-step")
    expect_to_fit(page, "proof")


def test_every_enhancement_has_a_tooltip(page: Page) -> None:
    mode(page, "analyse")
    page.get_by_text("Enhancements").click()
    settings = page.locator(".setting")
    assert settings.count() == len(page.evaluate("anabranch.state.hello.settings"))
    for index in range(settings.count()):
        settings.nth(index).hover()
        tip = settings.nth(index).get_by_role("tooltip")
        expect(tip).to_be_visible()
        assert len(tip.inner_text()) > 20
        assert width_of(page) <= 1400


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pocket_pieces_stand_out(page: Page, theme: str) -> None:
    page.evaluate(f"anabranch.state.theme = '{theme}'")
    paste(page, POCKETS)
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    for side in ("white", "black"):
        button = page.get_by_role("group", name=f"Pocket of {side}").locator("[data-role=bishop]")
        colour = button.evaluate("(element) => getComputedStyle(element).backgroundColor")
        parts = [float(part) / 255 for part in colour.strip("rgb()").split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert (light + 0.05) / 0.05 >= 4.5  # against the black of the pieces
