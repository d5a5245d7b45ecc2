"""The puzzles of tests/data: each file is read as a suite is, and holds what its header says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import chess.variant
import pytest

from anabranch.formats.epd import read_epd

DATA = Path(__file__).parents[1] / "data"


def read(name: str) -> list[tuple[str, chess.Board, int]]:
    """Variant, position and distance of every puzzle."""
    puzzles = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            fen, operations = read_epd(line)
            variant = operations["id"][0].split()[0]
            board = chess.variant.find_variant(variant)(fen)
            puzzles.append((variant, board, int(operations["dm"][0])))
    return puzzles


@pytest.mark.parametrize("name", ["won-by-checks.epd", "chess-mates.epd", "variant-wins.epd"])
def test_puzzles_are_different_games_under_way(name: str) -> None:
    puzzles = read(name)
    assert len({board.epd() for _, board, _ in puzzles}) == len(puzzles)
    for _, board, mate in puzzles:
        assert board.is_valid()
        assert not board.is_game_over()
        assert mate


def test_wins_by_checks_are_many_and_long() -> None:
    puzzles = read("won-by-checks.epd")
    distances = Counter(mate for _, _, mate in puzzles)
    assert {variant for variant, _, _ in puzzles} == {"crazyhouse"}
    assert distances.total() == 150
    assert min(distances) == 3
    assert distances[3] <= 15
    assert sum(number for mate, number in distances.items() if mate >= 6) >= 50
    assert all(any(map(board.gives_check, board.legal_moves)) for _, board, _ in puzzles)


def test_mates_of_chess_are_on_either_side() -> None:
    puzzles = read("chess-mates.epd")
    assert {variant for variant, _, _ in puzzles} == {"chess"}
    assert set(range(3, 9)) <= {abs(mate) for _, _, mate in puzzles} <= set(range(3, 11))
    assert any(mate < 0 for _, _, mate in puzzles)
    quiet = [line for line in (DATA / "chess-mates.epd").read_text().splitlines() if line.endswith('quiet";')]
    assert len(quiet) >= 20


def test_every_other_variant_has_wins() -> None:
    puzzles = read("variant-wins.epd")
    variants = {"atomic", "3check", "kingofthehill", "antichess", "horde", "racingkings"}
    assert {variant for variant, _, _ in puzzles} == variants
    assert {mate for _, _, mate in puzzles} == {1, 2, 3, 4}
    assert len(puzzles) == 40
