"""What a result says about its values: centipawns, mates, win, draw and loss, for the side to move."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.commands import Commands

from anabranch import Engine
from anabranch.formats.scores import TABLEBASE_WIN, centipawns, wdl
from anabranch.networks.shipped import bundled
from anabranch.uci.info import InfoFormat, info_lines

pytestmark = pytest.mark.usefixtures("material_by_default")

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATED_NEXT = "7k/8/5K2/6Q1/8/8/8/8 b - - 0 1"
PAWN_DOWN = "rnbqkbnr/pppp1ppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
NETWORK = bundled("chess")


def test_rows_and_lines_have_centipawns_and_chances_of_their_value() -> None:
    result = Engine().search(PAWN_DOWN, simulations=400)
    assert result.value < 0
    assert result.centipawns == centipawns(result.value)
    assert result.wdl == wdl(result.value)
    for row in result.moves:
        assert row.q is not None
        assert (row.mate, row.centipawns, row.wdl) == (None, centipawns(row.q), wdl(row.q))
    for line in result.lines:
        assert (line.mate, line.centipawns, line.wdl) == (None, centipawns(line.value), wdl(line.value))


def test_the_scale_is_that_of_the_variant() -> None:
    result = Engine("crazyhouse").search("startpos moves e2e4", simulations=200)
    assert result.centipawns == centipawns(result.value, "crazyhouse")
    row = result.moves[0]
    assert row.q is not None
    assert row.wdl == wdl(row.q, None, "crazyhouse")


def test_what_is_proven_is_exact() -> None:
    result = Engine().search(BACK_RANK, simulations=400)
    assert (result.mate, result.centipawns, result.wdl) == (1, None, (1000, 0, 0))
    best = result.moves[0]
    assert (best.mate, best.centipawns, best.wdl) == (1, None, (1000, 0, 0))
    assert (result.lines[0].mate, result.lines[0].centipawns) == (1, None)
    lost = Engine().search(MATED_NEXT, simulations=400)
    assert (lost.mate, lost.centipawns, lost.wdl) == (-1, None, (0, 0, 1000))
    assert {row.mate for row in lost.moves} == {-1}
    drawn = replace(best, state="draw", plies=4, q=0.3)
    assert (drawn.mate, drawn.centipawns, drawn.wdl) == (None, 0, (0, 1000, 0))
    known = replace(best, state="tb-loss", plies=None, q=-0.8)
    assert (known.mate, known.centipawns, known.wdl) == (None, -TABLEBASE_WIN, (0, 0, 1000))


def test_a_move_without_visits_has_none() -> None:
    result = Engine().search("startpos", simulations=1)
    row = next(row for row in result.moves if row.q is None)
    assert (row.mate, row.centipawns, row.wdl) == (None, None, None)


@pytest.mark.parametrize("position", ["startpos", PAWN_DOWN])
def test_the_uci_engine_says_the_same(position: str) -> None:
    engine = Engine(evaluator=str(NETWORK))
    result = engine.search(position, simulations=300, lines=1)
    assert result.root.raw is not None
    line = result.lines[0]
    said = info_lines(result, InfoFormat("chess", 1, True, 1), 1.0)[0]
    assert f"score cp {line.centipawns} wdl {' '.join(map(str, line.wdl))} " in said


def test_documents_have_them_too(cli: Commands) -> None:
    document = cli.json("analyse", BACK_RANK, "-n", "200")
    for part in (document, document["lines"][0], document["moves"][0]):
        assert (part["mate"], part["centipawns"], part["wdl"]) == (1, None, [1000, 0, 0])
        assert "root" not in part
    document = cli.json("analyse", "-n", "200")
    assert document["centipawns"] == centipawns(document["value"])
    assert document["moves"][0]["wdl"] == list(wdl(document["moves"][0]["q"]))


def test_analyse_shows_them(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    result = Engine().search("startpos moves e2e4", simulations=300)
    shown = cli.shows("analyse", "--moves", "e2e4", "-n", "300")
    assert f", {result.centipawns:+d} cp, win {result.wdl[0] / 10:.1f} %" in shown
    row = result.moves[0]
    assert row.centipawns is not None
    assert row.wdl is not None
    cells = next(line.split() for line in shown.splitlines() if row.move in line.split())
    assert cells[4:8] == [f"{row.centipawns:+d}", *map(str, row.wdl)]
    assert "mate 1" in cli.shows("analyse", BACK_RANK, "-n", "200")


def test_one_is_singular(cli: Commands) -> None:
    shown = cli.shows("analyse", "-n", "1", "--top", "19")
    assert "1 simulation and 1 evaluation in" in shown
    assert "and 1 move more" in shown


def test_there_is_one_owner_of_the_formula() -> None:
    package = Path(__file__).parent.parent.parent / "python" / "anabranch"
    users = [path for path in package.rglob("*.py") if "atanh" in path.read_text(encoding="utf-8")]
    assert [path.name for path in users] == ["scores.py"]
