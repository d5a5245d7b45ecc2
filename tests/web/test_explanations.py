"""What the page explains: what sharing changes, proofs as trees, and the moves of a file as a book."""

from pathlib import Path

from playwright.sync_api import Page, expect
from tests.web.board import (
    MATE,
    analyse,
    expect_moves,
    expect_no_faults,
    expect_to_fit,
    fen,
    mode,
    paste,
    read_state,
    theme,
    wait_until,
)

STOP_AT_SHARING = """async () => {
  for (let frames = 0; !(anabranch.state.analysis.graphs[0]?.sharing.nodes.length > 2); frames++) {
    if (frames > 1800) throw new Error('no transposition changes anything');
    await new Promise((done) => requestAnimationFrame(done));
  }
  document.querySelector('[data-id=stop]').click();
}"""
ENDING = "8/8/1k6/p1p1p1p1/P1P1P1P1/3K4/8/8 w - - 0 1"


def test_what_sharing_changes_is_said(page: Page) -> None:
    analyse(page, ENDING)
    page.get_by_role("combobox", name="Network").select_option("other")  # a slow one
    mode(page, "graph")
    # The longer a search has gone on, the less a single transposition changes: it is stopped at once.
    page.evaluate(STOP_AT_SHARING)
    wait_until(page, "anabranch.state.analysis.stopped === null && !anabranch.state.analysis.running")
    card = page.get_by_role("region", name="What sharing changes")
    expect(card.locator(".shared-nodes button").nth(2)).to_be_visible()
    sharing = read_state(page, "analysis.graphs[0].sharing")
    alone = {row["move"]: row["alone"] for row in sharing["moves"]}
    lead = alone[sharing["best_alone"]] - alone[sharing["best"]]
    assert abs(sharing["lead"] - lead) < 2e-4  # all of them are rounded
    text = "Transpositions change the order" if sharing["decides"] else "with and without sharing"
    expect(card.locator("[data-id=decision]")).to_contain_text(text)
    expect(card.locator("tbody tr")).to_have_count(len(sharing["moves"]))
    values = [(row["shared"], row["alone"]) for row in sharing["moves"]]
    assert any(abs(shared - alone) > 0.001 for shared, alone in values)
    first = card.locator(".shared-nodes button").first
    position = first.get_attribute("data-fen")
    first.click()
    assert read_state(page, "selected.fen") == position
    expect_to_fit(page, "sharing", colours=".explanations")
    page.click("[data-id=compare-tree]")
    expect(page.locator("[data-side='1'] .lines li")).not_to_have_count(0, timeout=15_000)
    assert read_state(page, "analysis.configs[1].changes.backup") == "tree"


def test_a_proof_is_drawn_as_a_tree(page: Page) -> None:
    analyse(page, MATE)
    mode(page, "graph")
    page.click("[data-id=prove]")
    expect(page.locator("[data-id=proof-verdict]")).to_have_text("The side to move wins in 4.")
    steps = page.locator(".proof-step")
    expect(steps).to_have_count(26)
    expect(steps.nth(1)).to_have_text("Ra7+")
    assert page.locator(".proof-step.end").count() == 7
    assert all(text.endswith("#") for text in page.locator(".proof-step.end").all_inner_texts())
    first, second = steps.nth(2).bounding_box(), steps.nth(3).bounding_box()
    assert first is not None
    assert second is not None
    assert (first["x"], first["y"]) == (second["x"], first["y"])
    assert second["y"] > first["y"]  # another defence has a row of its own
    steps.nth(8).click()
    expect(page.locator(".preview")).to_be_visible()
    assert len(read_state(page, "selected.path")) == 3
    expect_no_faults(page, ".explanations")
    page.locator(".preview button").click()
    theme(page, "dark")
    expect_no_faults(page, ".explanations", colours=True)
    paste(page, "8/8/4k3/8/8/8/3QK3/8 b - - 0 1")
    expect(steps).to_have_count(0)


def test_the_games_of_a_file_are_a_book(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "three.pgn"
    path.write_text(
        '[White "A"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
        '[White "B"]\n[Result "0-1"]\n\n1. Nf3 e5 2. e4 0-1\n\n'
        '[White "C"]\n[Result "1/2-1/2"]\n\n1. e4 c5 1/2-1/2\n'
    )
    mode(page, "analyse")
    page.get_by_role("button", name="Openings").click()
    page.set_input_files("[data-id=open-book]", path)
    page.get_by_role("button", name="Close", exact=True).click()
    card = page.get_by_role("region", name="Moves played")
    expect(card.get_by_role("heading")).to_have_text("Played in three.pgn")
    expect(card.locator("tbody tr")).to_have_count(2)
    expect(card.locator("tr[data-move=e2e4] td").nth(1)).to_have_text("2")
    expect(card.locator("tr[data-move=e2e4] .wdl")).to_have_attribute(
        "aria-label", "White won 1, 1 drawn, Black won 0"
    )
    card.get_by_role("button", name="e4").click()
    card.get_by_role("button", name="e5").click()
    expect_moves(page, "e4", "e5")
    expect(card.locator("tbody tr")).to_have_count(1)
    assert fen(page).endswith(" 2")
    expect_no_faults(page, ".book")
