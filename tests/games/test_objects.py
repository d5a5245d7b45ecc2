"""Games written in Python: the contract, `check_game`, engines, errors; and OpenSpiel's games behind it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from anabranch import Engine, check_game
from anabranch.errors import EvaluatorError, GameError, MoveError, PositionError, VariantError
from anabranch.evaluators import Leaf
from anabranch.objects import ObjectAdapter
from anabranch.openspiel import load_game

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@dataclass(frozen=True)
class TicTacToe:
    """The cells from the top left, written out."""

    cells: str = "........."
    can_recur = False

    @property
    def player(self) -> int:
        return (9 - self.cells.count(".")) % 2

    def legal_moves(self) -> list[int]:
        return [place for place, cell in enumerate(self.cells) if cell == "."]

    def move_text(self, move: int) -> str:
        return f"{'abc'[move % 3]}{move // 3 + 1}"

    def play(self, move: int) -> TicTacToe:
        return replace(self, cells=self.cells[:move] + "xo"[self.player] + self.cells[move + 1 :])

    def outcome(self) -> float | None:
        for line in LINES:
            owners = {self.cells[place] for place in line}
            if len(owners) == 1 and "." not in owners:
                return 1.0 if owners == {"x"} else -1.0
        return None if "." in self.cells else 0.0

    def key(self) -> str:
        return self.cells

    def text(self) -> str:
        return "\n".join(self.cells[start : start + 3] for start in (0, 3, 6))


@dataclass(frozen=True)
class LeftRight:
    """A game of one player: so many steps to the left or to the right, and a score for the place."""

    path: str = ""
    players = 1
    can_recur = False
    player = 0

    def legal_moves(self) -> list[str]:
        return ["left", "right"]

    def play(self, move: str) -> LeftRight:
        return LeftRight(self.path + move[0])

    def outcome(self) -> float | None:
        return None if len(self.path) < 8 else self.path.count("r") / 10 - 0.2

    def key(self) -> tuple[int, int]:
        return len(self.path), self.path.count("r")


class TestPlay:
    def test_a_class_makes_the_same_search_as_the_core(self) -> None:
        assert check_game(TicTacToe()) == []
        ours = Engine(game=TicTacToe(), evaluator="uniform", seed=5)
        core = Engine("tic-tac-toe", evaluator="uniform", seed=5)
        assert ours.variant == "object:TicTacToe"
        for position in ("", "b2 a1", "a1 b2 c3"):
            found, known = (engine.search(position, simulations=3000) for engine in (ours, core))
            assert found.solved == known.solved
            visits = {row.move: (row.visits, row.q, row.state) for row in known.moves}
            assert {row.move: (row.visits, row.q, row.state) for row in found.moves} == visits
            assert found.statistics.nodes == known.statistics.nodes
        assert ours.position == "x../.o./..x o"
        assert ours.picture == "x..\n.o.\n..x"

    def test_all_of_the_door(self, tmp_path: Path) -> None:
        engine = Engine(game=TicTacToe())
        reports: list[Any] = []
        result = engine.search("a1", simulations=500, progress=reports.append, progress_interval=0.01)
        assert result.white_value == -result.value
        assert engine.graph(nodes=5).nodes[0].position == "x../.../... o"
        file = tmp_path / "search"
        engine.save(file)
        with pytest.raises(VariantError, match="one of TicTacToe"):
            Engine.load(file)
        loaded = Engine.load(file, game=TicTacToe())
        assert loaded.graph().to_json() == engine.graph().to_json()
        for move in ("b2", "a2", "b3", "a3"):
            engine.play(move)
        assert engine.is_over
        assert engine.ending == -1.0
        assert Engine(game=TicTacToe()).solve("a1 b1 a2 b2", positions=1000).result == "win"
        with pytest.raises(MoveError, match="no legal move"):
            engine.position = "a1 a1"
        with pytest.raises(PositionError, match="by its moves alone"):
            engine.position = "x../.../... o"

    def test_one_player_finds_the_best_score(self) -> None:
        assert check_game(LeftRight()) == []
        engine = Engine(game=LeftRight())
        result = engine.search(simulations=2000)
        assert result.best_move == "right"
        assert result.solved is None
        assert 0.3 < result.value <= 0.6 + 1e-6
        for _ in range(8):
            engine.play(engine.search(simulations=300).best_move)
        assert engine.ending == pytest.approx(0.6)

    def test_an_evaluator_of_positions(self) -> None:
        class Middle:
            inputs: Literal["positions"] = "positions"

            def evaluate(self, leaves: Sequence[Leaf], /) -> tuple[list[float], list[list[float]]]:
                return [0.0] * len(leaves), [[3.0 * (move == "b2") for move in leaf.moves] for leaf in leaves]

        result = Engine(game=TicTacToe(), evaluator=Middle()).search(simulations=20)
        assert max(result.moves, key=lambda row: row.prior).move == "b2"
        with pytest.raises(EvaluatorError, match="no planes"):
            Engine(game=TicTacToe(), evaluator=lambda planes: planes)
        with pytest.raises(VariantError, match="plays TicTacToe"):
            Engine(game=TicTacToe(), evaluator="chess")

    def test_stop_ends_a_search_and_threads_do_not_matter(self) -> None:
        engine = Engine(game=TicTacToe())
        begun = time.monotonic()
        engine.search(time=0.2)
        assert time.monotonic() - begun < 5
        found = [
            Engine(game=TicTacToe(), threads=threads, width_visits=0).search(simulations=300).value
            for threads in (1, 3)
        ]
        assert found[0] == found[1]


def broken(**changes: Any) -> Any:
    """Tic-tac-toe with a fault."""
    return type("Broken", (TicTacToe,), changes)()


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"legal_moves": None}, "has legal_moves, and Broken has not"),
            ({"players": 3}, "one or two players"),
            ({"player": 2}, "0 or 1"),
            ({"outcome": lambda self: 7}, "from -1 to 1"),
            ({"outcome": lambda self: "won"}, "from -1 to 1"),
            ({"legal_moves": lambda self: []}, "no legal move"),
            ({"legal_moves": lambda self: range(5000)}, "1024 are the most"),
            ({"move_text": lambda self, move: "same"}, "each once"),
            ({"key": lambda self: [1]}, "key.. of Broken"),
            ({"key": lambda self: 1}, "one key and differ"),
            ({"play": lambda self, move: None}, "not NoneType"),
            ({"play": lambda self, move: 1 / 0}, "ZeroDivisionError"),
            ({"player": property(lambda self: 1 / 0)}, "player.. of Broken raised ZeroDivisionError"),
            ({"move_text": lambda self, move: 1 / 0}, "move_text.. of Broken raised ZeroDivisionError"),
            ({"legal_moves": lambda self: None}, "legal_moves.. of Broken raised TypeError"),
        ],
    )
    def test_check_game_says_what_is_wrong(self, changes: dict[str, Any], words: str) -> None:
        (sentence,) = check_game(broken(**changes))
        assert re.search(words, sentence), sentence

    def test_games_that_change_or_never_end(self) -> None:
        class Mutable:
            player = 0

            def __init__(self) -> None:
                self.steps = 0

            def legal_moves(self) -> list[str]:
                return ["on"]

            def play(self, move: str) -> Mutable:
                self.steps += 1
                return self

            def outcome(self) -> None:
                return None

            def key(self) -> int:
                return self.steps

        assert "changes the position" in check_game(Mutable())[0]

        class Endless(Mutable):
            def play(self, move: str) -> Endless:
                after = Endless()
                after.steps = self.steps + 1
                return after

        assert "not ended after 30 moves" in check_game(Endless(), most_moves=30)[0]

        class Circle(Endless):
            can_recur = False

            def play(self, move: str) -> Circle:
                after = Circle()
                after.steps = (self.steps + 1) % 3
                return after

        assert "occurs twice" in check_game(Circle())[0]

    def test_an_error_in_a_search_leaves_the_engine_usable(self) -> None:
        faults = [0]

        class Fragile(TicTacToe):
            def play(self, move: int) -> Fragile:
                if self.cells.count(".") == 6 and faults[0]:
                    raise RuntimeError("three are too many")
                return Fragile(super().play(move).cells)

        engine = Engine(game=Fragile())
        engine.play("a1")
        faults[0] = 1
        for _ in range(2):
            with pytest.raises(
                GameError, match=r"play\(\) of Fragile raised RuntimeError: three are too many"
            ):
                engine.search(simulations=500)
        with pytest.raises(GameError, match="three are too many"):
            engine.position = "a1 b1 c1 a2"
        faults[0] = 0
        engine.position = "a1"
        assert engine.search(simulations=500).statistics.simulations == 500

    @pytest.mark.parametrize("limit", [{"simulations": 500}, {"time": 5.0}])
    def test_an_error_in_one_of_many_searches(self, limit: dict[str, Any]) -> None:
        class Fragile(TicTacToe):
            def play(self, move: int) -> Fragile:
                if self.cells.count(".") == 6:
                    raise RuntimeError("three are too many")
                return Fragile(super().play(move).cells)

        engine = Engine(game=Fragile())
        with pytest.raises(GameError, match="three are too many"):
            list(engine.search_many(["a1", "b2"], **limit))

    @pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
    def test_a_game_without_end(self, evaluator: str) -> None:
        class Endless:
            player = 0
            players = 1
            most_moves = 300

            def __init__(self, steps: int = 0) -> None:
                self.steps = steps

            def legal_moves(self) -> list[str]:
                return ["on"]

            def play(self, move: str) -> Endless:
                return Endless(self.steps + 1)

            def outcome(self) -> None:
                return None

            def key(self) -> int:
                return self.steps

        engine = Engine(game=Endless(), evaluator=evaluator)
        for _ in range(2):
            with pytest.raises(
                GameError, match="not ended after 300 moves; if that is right, its most_moves"
            ):
                engine.search(simulations=2000)
        assert (
            "most_moves of Endless is a number"
            in check_game(type("Endless", (Endless,), {"most_moves": "many"})())[0]
        )

    def test_a_million_moves(self) -> None:
        class Wide(TicTacToe):
            def legal_moves(self) -> list[int]:
                return list(range(1_000_000)) if self.cells[0] == "x" else super().legal_moves()

            def play(self, move: int) -> Wide:
                return Wide(super().play(move).cells)

        engine = Engine(game=Wide(), evaluator="uniform")
        with pytest.raises(GameError, match="has 1000000 legal moves in a position, and 1024 are the most"):
            engine.search(simulations=100)
        assert len(engine.legal_moves) == 9

    def test_texts_of_moves_keep_their_case(self) -> None:
        class Loud(TicTacToe):
            def move_text(self, move: int) -> str:
                return super().move_text(move).upper()

            def play(self, move: int) -> Loud:
                return Loud(super().play(move).cells)

        engine = Engine(game=Loud())
        engine.play("B2")
        engine.play("a1")
        assert engine.position == "o../.x./... x"

    def test_what_is_no_game(self) -> None:
        with pytest.raises(GameError, match="not its class"):
            Engine(game=TicTacToe)
        with pytest.raises(GameError, match="one game: either 'hex' or game=TicTacToe"):
            Engine("hex", game=TicTacToe())
        assert "not its class" in check_game(TicTacToe)[0]
        with pytest.raises(GameError, match="a game has legal_moves"):
            Engine(game=3)
        with pytest.raises(GameError, match="player, and object has not"):
            ObjectAdapter(object())


class TestOpenSpiel:
    @pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four(rows=4,columns=4)", "nim", "pig"])
    def test_games_of_openspiel(self, name: str) -> None:
        if name == "pig":
            with pytest.raises(GameError, match="chance"):
                load_game(name)
            return
        game = load_game(name, merge=True)
        assert check_game(game, games=5) == []
        engine = Engine(game=game)
        assert engine.search(simulations=200).best_move in engine.legal_moves

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("kuhn_poker", "chance|hides"),
            ("phantom_ttt", "hides"),
            ("matrix_pd", "hides"),
            ("no_such_game", "has no game"),
        ],
    )
    def test_other_games_are_refused(self, name: str, words: str) -> None:
        with pytest.raises(GameError, match=words):
            load_game(name)

    def test_a_small_game_is_solved_alike(self) -> None:
        result = Engine(game=load_game("tic_tac_toe", merge=True), evaluator="uniform").search(
            simulations=100_000
        )
        assert result.solved is not None
        assert result.solved.state == "draw"
