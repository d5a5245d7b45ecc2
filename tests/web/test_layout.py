"""The page at every size, light and dark: nothing scrolls sideways, everything can be seen."""

import itertools

from playwright.sync_api import Page, expect
from tests.web.board import MATE, POCKETS, THEMES, WIDTHS, expect_to_fit, mode, paste, theme, width_of

MORE = (1024, 1400, 1450)
"""Where columns change."""


def test_no_route_scrolls_sideways_at_any_width(page: Page) -> None:
    expect_to_fit(page, "play")
    box = page.locator("cg-board").bounding_box()
    assert box is not None
    assert box["width"] >= 300
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
    expect_to_fit(page, "graph", MORE)
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


def test_the_button_changes_the_theme(page: Page) -> None:
    for chosen, drawn in (("light", "light"), ("dark", "dark"), ("system", "light")):
        page.click("[data-id=theme]")
        expect(page.get_by_role("button", name=f"Theme: {chosen}")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("data-theme", drawn)


def test_pocket_pieces_stand_out(page: Page) -> None:
    paste(page, POCKETS)
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)
    for name, side in itertools.product(THEMES, ("white", "black")):
        theme(page, name)
        button = page.get_by_role("group", name=f"Pocket of {side}").locator("[data-role=bishop]")
        colour = button.evaluate("(element) => getComputedStyle(element).backgroundColor")
        parts = [float(part) / 255 for part in colour.strip("rgb()").split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert (light + 0.05) / 0.05 >= 4.5  # against the black of the pieces
