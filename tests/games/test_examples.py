"""The examples of one player: exact answers, and rules against slow ones."""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from anabranch import Engine, check_game
from anabranch.examples import ConnectFour, LeftRight, Morpion, SameGame, Tour
from anabranch.examples.morpion import SIZE

Cell = tuple[int, int]


@pytest.mark.parametrize(
    "game",
    [ConnectFour(), LeftRight(12), Tour.random(7), SameGame.random(5, 6, 3), Morpion()],
    ids=lambda game: type(game).__name__,
)
def test_the_contract_is_kept(game: Any) -> None:
    assert check_game(game, games=4) == []


class TestLeftRight:
    def test_the_best_score_is_proven_because_it_is_the_bound(self) -> None:
        engine = Engine(game=LeftRight(10), evaluator="uniform")
        result = engine.search(simulations=20_000)
        assert result.solved is not None
        assert result.solved.state == "win"
        assert result.lines[0].moves == ("left",) * 10
        assert result.statistics.nodes <= 11 * 12 // 2

    def test_values_keep_their_sign(self) -> None:
        engine = Engine(game=LeftRight(4), evaluator="uniform")
        left, right = (engine.search(first, simulations=500).value for first in ("left left", "right right"))
        assert left > right
        assert engine.search("right right right", simulations=100).value < 0
        for move in ("left", "right", "left", "left"):
            engine.position = [move] * 4
        assert engine.ending == 1.0


def shortest(distances: Any) -> int:
    """The length of the shortest tour, by exact dynamic programming (Held and Karp)."""
    count = len(distances)
    best = {(1 << city, city): int(distances[0][city]) for city in range(1, count)}
    for size in range(2, count):
        for visited, last in [key for key in best if key[0].bit_count() == size - 1]:
            for city in range(1, count):
                if visited >> city & 1:
                    continue
                key = visited | 1 << city, city
                length = best[visited, last] + int(distances[last][city])
                best[key] = min(length, best.get(key, length))
    everywhere = (1 << count) - 2
    return min(best[everywhere, last] + int(distances[last][0]) for last in range(1, count))


class TestTour:
    def test_the_search_finds_the_shortest_tour_or_nearly(self) -> None:
        excess = []
        for seed in range(4):
            game = Tour.random(7, seed)
            best = shortest(game.distances)
            assert game.least <= best < game.most
            engine = Engine(game=game)
            while engine.ending is None:
                engine.play(engine.search(simulations=1000).best_move)
            excess.append(game.length(engine.ending) / best - 1)
        assert 0 <= min(excess) <= max(excess) < 0.1
        assert sum(one == 0 for one in excess) >= 2

    def test_lengths_are_those_of_the_tours(self) -> None:
        game = Tour.random(5, 1)
        lengths = []
        for rest in permutations(range(1, 5)):
            state = game.first()[None]
            for city in rest:
                assert game.legal(state)[0, city]
                state = game.play(state, np.array([city]))
            tour = (0, *rest, 0)
            length = sum(int(game.distances[a, b]) for a, b in pairwise(tour))
            assert state["length"][0] == length
            outcome = float(game.outcome(state)[0])
            assert outcome == -1 or game.length(outcome) == length
            lengths.append(length)
        assert min(lengths) == shortest(game.distances)

    def test_a_tour_that_meets_its_bound_is_proven(self) -> None:
        ring = np.array([(1, 0), (2, 0), (3, 1), (3, 2), (2, 3), (1, 3), (0, 2), (0, 1)])
        apart = np.abs(ring[:, None] - ring[None])
        game = Tour(100 * apart.max(axis=2) + 1 - np.eye(8, dtype=int))
        assert game.least == shortest(game.distances) == 8 * 101
        result = Engine(game=game).search(simulations=20_000)
        assert result.solved is not None
        assert result.solved.state == "win"

    def test_bad_tables(self) -> None:
        for table in ([[0, 1], [1, 0]], [[0, 1, 2]], np.full((3, 3), -1), np.zeros((3, 3))):
            with pytest.raises(ValueError, match="distances are a table"):
                Tour(table)


class SlowSameGame:
    """SameGame cell by cell."""

    def __init__(self, board: Any) -> None:
        self.columns = [[int(board[y][x]) for y in range(len(board))][::-1] for x in range(len(board[0]))]
        self.height = len(board)
        self.points = 0

    def colour(self, x: int, y: int) -> int:
        """From the bottom."""
        inside = 0 <= x < len(self.columns) and 0 <= y < len(self.columns[x])
        return self.columns[x][y] if inside else 0

    def group(self, x: int, y: int) -> set[Cell]:
        colour, found, todo = self.colour(x, y), set(), [(x, y)]
        while todo:
            cell = todo.pop()
            if cell in found or self.colour(*cell) != colour:
                continue
            found.add(cell)
            todo += [(cell[0] + dx, cell[1] + dy) for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        return found

    def groups(self) -> dict[Cell, set[Cell]]:
        """By their first cell in rows from the top."""
        cells = [(x, y) for x, column in enumerate(self.columns) for y in range(len(column))]
        groups = {frozenset(group) for cell in cells if len(group := self.group(*cell)) > 1}
        return {min(group, key=lambda cell: (-cell[1], cell[0])): set(group) for group in groups}

    def play(self, group: set[Cell]) -> None:
        columns = [
            [cell for y, cell in enumerate(column) if (x, y) not in group]
            for x, column in enumerate(self.columns)
        ]
        self.columns = [column for column in columns if column]
        self.points += (len(group) - 2) ** 2 + (0 if self.columns else 1000)

    def final(self) -> int:
        left = [cell for column in self.columns for cell in column]
        return self.points - sum(max(left.count(colour) - 2, 0) ** 2 for colour in set(left))


class TestSameGame:
    def test_rules_against_slow_ones(self) -> None:
        random = Random(4)
        for seed in range(12):
            board = np.random.default_rng(seed).integers(1, 4, (5, 6))
            game, slow = SameGame(board), SlowSameGame(board)
            state = game.first()[None]
            while groups := slow.groups():
                names = {game.actions[(4 - y) * 6 + x]: group for (x, y), group in groups.items()}
                legal = [game.actions[place] for place in np.flatnonzero(game.legal(state)[0])]
                assert set(legal) == set(names)
                assert np.isnan(game.outcome(state))[0]
                move = random.choice(sorted(names))
                slow.play(names[move])
                state = game.play(state, np.array([game.actions.index(move)]))
                assert state["points"][0] == slow.points
            assert game.points(float(game.outcome(state)[0])) == slow.final()

    def test_an_empty_board_is_the_bound_where_each_colour_goes_at_once(self) -> None:
        game = SameGame(np.array([[1, 1, 2], [1, 1, 2]]))
        result = Engine(game=game, evaluator="uniform").search(simulations=500)
        assert result.solved is not None
        assert result.solved.state == "win"
        assert game.points(1.0) == 4 + 0 + 1000

    def test_bad_boards(self) -> None:
        for board in ([1, 2], [[-1]], np.zeros((3, 3))):
            with pytest.raises(ValueError, match="a board of SameGame"):
                SameGame(np.asarray(board))


DIRECTIONS: tuple[Cell, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))


class SlowMorpion:
    """Morpion Solitaire with sets."""

    def __init__(self, points: set[Cell]) -> None:
        self.points = points
        self.used: set[tuple[int, Cell]] = set()

    def lines(self) -> set[tuple[int, Cell]]:
        found = set()
        for number, (dy, dx) in enumerate(DIRECTIONS):
            for y, x in {(y - k * dy, x - k * dx) for y, x in self.points for k in range(5)}:
                line = [(y + k * dy, x + k * dx) for k in range(5)]
                free = [cell for cell in line if cell not in self.points]
                if len(free) == 1 and not any((number, cell) in self.used for cell in line):
                    found.add((number, (y, x)))
        return found

    def play(self, number: int, begin: Cell) -> None:
        dy, dx = DIRECTIONS[number]
        line = [(begin[0] + k * dy, begin[1] + k * dx) for k in range(5)]
        self.points |= set(line)
        self.used |= {(number, cell) for cell in line}


class TestMorpion:
    def test_the_cross_has_28_first_moves(self) -> None:
        game = Morpion()
        first = game.first()[None]
        assert int(np.bitwise_count(first[0, 0]).sum()) == 36
        assert game.legal(first).sum() == 28
        assert len(Engine(game=game).legal_moves) == 28

    def test_rules_against_slow_ones(self) -> None:
        game, random, lengths = Morpion(), Random(2), []
        for _ in range(4):
            state = game.first()[None]
            cells = np.argwhere(np.unpackbits(state, axis=3)[0, 0])
            slow = SlowMorpion({(int(y), int(x)) for y, x in cells})
            while lines := slow.lines():
                places = {n * SIZE * SIZE + y * SIZE + x: (n, (y, x)) for n, (y, x) in lines}
                assert set(np.flatnonzero(game.legal(state)[0])) == set(places)
                place = random.choice(sorted(places))
                slow.play(*places[place])
                state = game.play(state, np.array([place]))
            lengths.append(int(game.lines(state)[0]))
            assert len(slow.points) == 36 + lengths[-1]
            assert game.outcome(state)[0] == pytest.approx(2 * lengths[-1] / 121 - 1)
        assert 20 < min(lengths) <= max(lengths) < 80

    def test_a_search(self) -> None:
        result = Engine(game=Morpion()).search(simulations=60)
        assert result.solved is None
        assert -0.8 < result.value < 0.2
