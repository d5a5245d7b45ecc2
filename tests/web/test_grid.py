"""The games on a grid in the page: played by clicks, analysed, with the same graph view."""

import pytest
from playwright.sync_api import Page, expect
from tests.web.board import (
    expect_moves,
    expect_no_faults,
    expect_to_fit,
    mode,
    read_state,
    theme,
    wait_until,
)
from tests.web.connection import Server, hear, until

from anabranch import Engine, games


def choose(page: Page, name: str, **parameters: str) -> None:
    mode(page, "games")
    page.get_by_role("combobox", name="Game").select_option(name)
    for parameter, value in parameters.items():
        choice = page.get_by_role("combobox", name=parameter, exact=True)
        field = page.get_by_label(parameter, exact=True)
        choice.or_(field).first.wait_for()
        if choice.count():
            choice.select_option(value)
        else:
            field.fill(value)
            field.blur()
    page.click("[data-id=grid-new]")
    text = ":".join([name, *[f"{key}={value}" for key, value in parameters.items()]])
    wait_until(page, f"anabranch.state.grid.position?.game === '{text}'")


def press(page: Page, *cells: str) -> None:
    for cell in cells:
        page.locator(f"[data-cell='{cell}'][role=button]").last.click()


def stop(page: Page) -> None:
    """End the analysis, if the position is not solved already."""
    if read_state(page, "analysis.running"):
        page.click("[data-id=stop], [data-id=start]")
    wait_until(page, "anabranch.state.analysis.stopped === null")  # the last report is here


@pytest.mark.parametrize(
    ("name", "parameters", "clicks", "moves"),
    [
        ("connect-four", {}, ["4", "4", "3"], ["4", "4", "3"]),
        ("tic-tac-toe", {}, ["b2", "a1"], ["b2", "a1"]),
        ("othello", {"size": "6"}, ["c2", "b2"], ["c2", "b2"]),
        ("hex", {"size": "5"}, ["c3", "d3"], ["c3", "d3"]),
        ("breakthrough", {}, ["a2", "b3", "c7", "c6"], ["a2b3", "c7c6"]),
        ("go", {"size": "5"}, ["c3", "d4"], ["c3", "d4"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_game_is_played_by_clicks_and_analysed(
    page: Page, name: str, parameters: dict[str, str], clicks: list[str], moves: list[str]
) -> None:
    choose(page, name, **parameters)
    for click, count in zip(clicks, range(1, len(clicks) + 1), strict=True):
        press(page, click)
        if len(clicks) == len(moves):
            wait_until(page, f"anabranch.state.grid.position.moves.length === {count}")
        elif count % 2 == 0:
            wait_until(page, f"anabranch.state.grid.position.moves.length === {count // 2}")
    expect_moves(page, *moves)
    engine = Engine(read_state(page, "grid.game"))
    engine.position = moves
    assert read_state(page, "grid.position.position") == engine.position
    assert read_state(page, "grid.position.legal") == list(engine.legal_moves)
    pieces = engine.position.split()[0]
    expect(page.locator(".grid-board .piece, .grid-board .stroke")).to_have_count(
        pieces.count("x") + pieces.count("o")
    )
    page.click("[data-id=start]")
    expect(page.locator(".lines li")).to_have_count(3, timeout=10_000)
    expect(page.locator(".grid-board .value.best")).to_have_count(1)
    wait_until(page, "anabranch.state.analysis.graphs[0]?.nodes.length > 20")
    stop(page)
    page.locator("table tbody tr button.move").first.click()
    wait_until(page, f"anabranch.state.grid.moves.length === {len(moves) + 1}")
    page.keyboard.press("ArrowLeft")
    wait_until(page, f"anabranch.state.grid.at === {len(moves)}")
    expect_to_fit(page, name)


def test_a_match_of_connect_four_to_its_end(page: Page) -> None:
    mode(page, "games")
    page.get_by_label("Evaluations for a move").fill("300")
    page.get_by_label("Evaluations for a move").blur()
    page.click("[data-id=grid-play]")
    for _ in range(21):
        expect(page.locator(".match .status")).not_to_have_text("Anabranch is thinking.", timeout=10_000)
        wait_until(
            page,
            """(() => { const g = anabranch.state.grid;
                 return g.position?.moves.length === g.moves.length
                   && (g.position.result !== null || g.moves.length % 2 === 0); })()""",
        )
        if read_state(page, "grid.position.result") is not None:
            break
        press(page, read_state(page, "grid.position.legal")[0])
    expect(page.locator(".outcome")).to_contain_text("wins")
    before = read_state(page, "grid.moves")
    page.reload()
    page.wait_for_selector(".connection.open")
    expect_moves(page, *before)
    page.get_by_role("button", name="Take back").click()
    wait_until(page, f"anabranch.state.grid.moves.length < {len(before)}")
    page.click("[data-id=grid-leave]")
    page.click("[data-id=start]")
    page.wait_for_selector(".lines li")
    stop(page)
    mode(page, "play")
    expect(page.locator("cg-board")).to_be_visible()


def test_the_games_are_for_everybody(page: Page) -> None:
    choose(page, "hex", size="4")
    page.click("[data-id=start]")
    page.wait_for_selector("button.transposition", timeout=20_000)
    stop(page)
    page.locator("button.transposition").first.click()
    expect(page.get_by_role("region", name="Selected node")).to_contain_text("for x")
    expect_no_faults(page)
    theme(page, "dark")
    expect_no_faults(page, colours=True)


def test_a_bad_parameter_is_a_sentence(page: Page) -> None:
    mode(page, "games")
    page.get_by_role("combobox", name="Game").select_option("hex")
    page.get_by_label("size", exact=True).fill("99")
    page.get_by_label("size", exact=True).blur()
    page.click("[data-id=grid-new]")
    expect(page.get_by_role("alert")).to_contain_text("2 to 19")


def test_the_server_knows_the_rules(server: Server) -> None:
    order = {"type": "grid-position", "id": 1, "game": {"name": "go:size=3", "moves": ["b2", "pass", "pass"]}}
    with server.asked(order) as line:
        news = until(line, "grid-position")
        assert news["result"] == 1.0  # area less komi, for x
        assert news["legal"] == []
        assert [game["name"] for game in _hello(server)["games"]] == [game.name for game in games()]
    for name, moves, part in [
        ("go:size=99", [], "3 to 9"),
        ("connect-four", ["9"], "no legal move"),
        ("object", [], "no variant"),
        ("../x", [], "pattern"),
    ]:
        with server.asked({**order, "game": {"name": name, "moves": moves}}) as line:
            assert part in hear(line)["message"]


def _hello(server: Server) -> dict[str, list[dict[str, str]]]:
    with server.talk() as line:
        return hear(line)
