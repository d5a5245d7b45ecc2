"""PGN through the page: files with many games, and nothing of them lost."""

import io
import random
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import chess.variant
import pytest
import zstandard
from playwright.sync_api import Page, expect
from tests.web.board import expect_moves, expect_no_faults, expect_to_fit, mode, paste, read_state

GAMES = 200
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "games" / "strong.pgn.zst"
TEXTS = ["good", 'says "why"', "line one\nline two", "[%csl Ge4,Rd5][%cal Gg1f3] look", "a ; b (c) $5 1-0 e4"]


def real_games(number: int) -> list[chess.pgn.Game]:
    """Games of a file beside the repository, where there is one."""
    if not REAL.is_file():
        return []
    with (
        REAL.open("rb") as packed,
        zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(packed) as raw,
    ):
        file = io.TextIOWrapper(raw)
        found = [chess.pgn.read_game(file) for _ in range(number)]
    return [game for game in found if game is not None]


def random_game(chance: random.Random, board: chess.Board) -> chess.pgn.Game:
    game = chess.pgn.Game()
    game.setup(board)
    node: chess.pgn.GameNode = game
    for _ in range(chance.randrange(8, 50)):
        legal = list(board.legal_moves)
        if not legal:
            break
        board.push(chance.choice(legal))
        node = node.add_variation(board.peek())
    return game


def decorate(game: chess.pgn.Game, chance: random.Random, number: int) -> None:
    """Everything that PGN has, somewhere in the game."""
    game.headers.update(
        {
            "Event": f'Event {number} \\ "quoted"',
            "White": "Müller, Jürgen",
            "Black": "O'Neil",
            "Date": "1999.??.??",
            "Round": "3.1",
            "Result": chance.choice(["1-0", "0-1", "1/2-1/2", "*"]),
            "WhiteElo": "2451",
            "TimeControl": "180+2",
            "Annotator": "?",
        }
    )
    game.comment = chance.choice(["", "before the game"])
    for ply, node in enumerate(list(game.mainline())):
        if chance.random() < 0.6:
            node.set_clock(180 - ply * 1.3)
        if chance.random() < 0.4:
            node.set_eval(
                chess.engine.PovScore(chess.engine.Cp(chance.randrange(-900, 900)), chess.WHITE), 17
            )
        if chance.random() < 0.2:
            node.comment = f"{node.comment} {chance.choice(TEXTS)}".strip()
        if chance.random() < 0.3:
            node.nags = set(chance.sample([1, 2, 3, 4, 5, 6, 10, 14, 19, 146, 220], 2))
        if chance.random() < 0.15:
            board = node.parent.board()
            side: chess.pgn.GameNode = node.parent
            for _ in range(4):
                legal = [move for move in board.legal_moves if not side.has_variation(move)]
                if not legal:
                    break
                side = side.add_variation(
                    chance.choice(legal), starting_comment="or" if side is node.parent else ""
                )
                assert isinstance(side, chess.pgn.ChildNode)
                board.push(side.move)
                side.comment = chance.choice(["", "deep"])


@pytest.fixture(scope="module")
def texts() -> list[str]:
    chance = random.Random(7)
    games = real_games(GAMES // 2)
    while len(games) < GAMES:
        kind = len(games) % 4
        start: chess.Board = chess.Board()
        if kind == 1:
            start = chess.variant.CrazyhouseBoard()
        elif kind == 2:
            start = chess.Board.from_chess960_pos(chance.randrange(960))
        elif kind == 3:
            start = chess.Board("r3k2r/1P4p1/8/3pP3/8/8/6P1/R3K2R w KQkq d6 0 31")
        games.append(random_game(chance, start))
    for number, game in enumerate(games):
        if number % 3:
            decorate(game, chance, number)
    return [str(game) for game in games]


def described(node: chess.pgn.GameNode) -> Any:
    """All that a node holds, and all below it; spaces at the ends of comments do not count."""
    comment = node.comment.replace("\n", " ").strip()
    own = (comment, node.starting_comment.strip(), sorted(node.nags))
    move = node.move.uci() if isinstance(node, chess.pgn.ChildNode) else ""
    return move, own, [described(child) for child in node.variations]


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert game.errors == []
    return game


def test_a_round_trip_of_two_hundred_games_loses_nothing(
    page: Page, texts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("\n\n".join(texts) + "\n")
    page.get_by_role("button", name="Paste FEN or PGN").click()
    page.set_input_files("[data-id=open-file]", path)
    expect(page.get_by_role("status").filter(has_text="games")).to_have_text(f"{GAMES} of {GAMES} games")
    written = page.evaluate(
        """() => anabranch.state.collection.entries.map((_, index) => {
             anabranch.games.choose(index); return anabranch.games.pgn(); })"""
    )
    assert len(written) == GAMES
    for number, (came, went) in enumerate(zip(texts, written, strict=True)):
        before, after = read(came), read(went)
        assert dict(after.headers) == dict(before.headers), number
        assert described(after) == described(before), number
    assert sum("%clk" in text for text in written) > 50
    assert read_state(page, "notice") == ""


def test_a_game_of_a_file_is_found_shown_changed_and_downloaded(page: Page, tmp_path: Path) -> None:
    first = '[White "Anna"]\n[Black "Boris"]\n[Result "1-0"]\n\n1. e4   e5 2. Nf3 1-0'
    second = (
        '[Event "Cup"]\n[White "Carl"]\n[Black "Dora"]\n[Date "2001.02.03"]\n[Result "0-1"]\n\n'
        "1. d4 $6 {[%clk 0:02:59] [%eval -0.4] strange} d5 {[%clk 0:02:58]} (1... f5!? {Dutch} 2. g3) 0-1"
    )
    path = tmp_path / "two.pgn"
    path.write_text(f"{first}\n\n{second}\n")
    mode(page, "analyse")
    page.get_by_role("button", name="Paste FEN or PGN").click()
    page.set_input_files("[data-id=open-file]", path)
    expect_no_faults(page)
    page.get_by_label("Find games").fill("dora 2001")
    expect(page.locator(".games button")).to_have_count(1)
    page.locator(".games button").click()
    expect_moves(page, "d4?!", "d5", "f5!?", "g3")
    expect(page.locator(".comment")).to_have_text(["strange", "Dutch"])
    expect(page.locator(".clk")).to_have_text(["2:59", "2:58"])
    expect(page.locator(".judged")).to_have_text("−0.40")
    expect(page.locator("[data-id=game-info] summary")).to_contain_text("Carl – Dora 0-1")
    expect(page.get_by_role("timer", name="Clock of white")).to_have_text("2:59")
    page.get_by_label("Type a move").fill("c4")
    page.keyboard.press("Enter")
    page.reload()
    page.wait_for_selector(".connection.open")
    page.click("[data-id=games]")
    with page.expect_download() as waiting:
        page.click("[data-id=download-all]")
    waiting.value.save_as(tmp_path / "out.pgn")
    with (tmp_path / "out.pgn").open() as file:
        text = file.read()
    assert text.startswith(first)  # untouched, to the letter
    changed = read(text[len(first) :].lstrip())
    assert [node.san() for node in changed.mainline()] == ["d4", "d5", "c4"]
    assert changed.headers["Result"] == "0-1"
    assert [variation.comment for variation in changed.variations[0].variations] == [
        "[%clk 0:02:58]",
        "Dutch",
    ]


def test_a_file_can_be_dropped_on_the_page(page: Page) -> None:
    page.evaluate(
        """() => { const files = new DataTransfer();
             files.items.add(new File(['[White "A"]\\n\\n1. e4 c5 *'], 'a.pgn'));
             document.body.dispatchEvent(
               new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true })); }"""
    )
    expect_moves(page, "e4", "c5")


def test_many_games_can_be_pasted_and_the_clocks_of_a_match_are_written(page: Page) -> None:
    name = "Somebody with a long name, of a place with a longer one"
    paste(
        page, f'[White "{name}"]\n[Black "{name}"]\n\n1. e4 *\n\n[White "B"]\n[Variant "Atomic"]\n\n1. d4 *'
    )
    buttons = page.locator(".games button")
    expect(buttons).to_have_count(2)
    expect(buttons.nth(1)).to_be_disabled()
    expect_to_fit(page, "games of a file", colours="dialog")
    buttons.nth(0).click()
    expect_moves(page, "e4")
    page.click("[data-id=games]")
    page.click("[data-id=close-file]")
    expect(page.locator("[data-id=games]")).to_have_count(0)
    page.get_by_label("Play with clocks").check()
    page.click("[data-id=start-match]")
    page.get_by_label("Type a move").fill("e4")
    page.keyboard.press("Enter")
    expect(page.locator(".move-text button.move")).to_have_count(2, timeout=15_000)
    assert "[%clk 0:0" in page.evaluate("anabranch.games.pgn()")
