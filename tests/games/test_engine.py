"""Games on a grid through the door of chess: positions, results, graphs, files, evaluators, errors."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import anabranch
from anabranch import Engine, Limits
from anabranch.errors import (
    AnabranchError,
    EvaluatorError,
    GameOverError,
    GraphFileError,
    MoveError,
    PositionError,
    ProofError,
    SettingError,
    VariantError,
)

NAMES = [
    "connect-four",
    "tic-tac-toe",
    "othello:size=6",
    "hex:size=4",
    "breakthrough:width=4,height=5",
    "go:size=3,komi=0.5",
    "go:size=4,ko=simple",
]

# Positions of Connect Four (columns) and the exact score for the side to move.
CONNECT_FOUR = """
2252576253462244111563365343671351441 -1
7422341735647741166133573473242566 1
23163416124767223154467471272416755633 0
71255763773133525731261364622167124446454 0
65214673556155731566316327373221417 -1
52677675164321472411331752454 0
5554224333234511764415115 4
52753311433677442422121 8
1233722555341451114725221333 -1
271713432331713132 -11
6672375354252731116762237724 -2
763452543756455357732314 -8
"""


class TestDoor:
    def test_a_game_is_named_in_four_ways(self) -> None:
        for engine in (
            Engine("hex:size=7"),
            Engine("hex", size=7),
            Engine(game="hex", size=7),
            Engine("Hex: size=7"),
        ):
            assert engine.variant == "hex:size=7"
            assert engine.shape == (3, 49)
            assert engine.plane_shape == (3, 7, 7)
            assert len(engine.legal_moves) == 49
        assert Engine("hex").variant == "hex"
        assert {game.name for game in anabranch.games()} == {name.partition(":")[0] for name in NAMES}

    @pytest.mark.parametrize("position", ["4 4 3", [4, 4, 3], ("4", "4", "3"), "startpos moves 4 4 3"])
    def test_a_position_is_moves_in_any_form(self, position: object) -> None:
        engine = Engine("connect-four")
        engine.position = position  # type: ignore[assignment]
        assert engine.position == "......./......./......./......./...o.../..xx... o"
        text = engine.position
        engine.position = (text, ["2"])
        assert engine.position.endswith("/.xxx... x") or engine.position.endswith("/.oxx... x")
        engine.position = f"{text} moves 2"
        assert engine.position == "......./......./......./......./...o.../.oxx... x"
        assert engine.picture.splitlines()[-3:] == [" . o x x . . .", " 1 2 3 4 5 6 7", "x to move"]

    @pytest.mark.parametrize("name", NAMES)
    def test_a_search_has_all_that_chess_has(self, name: str, tmp_path: Path) -> None:
        engine = Engine(name, seed=3)
        assert engine.evaluator == "rollout"
        reports: list[anabranch.Progress] = []
        result = engine.search(simulations=2000, progress=reports.append, progress_interval=0.001)
        assert result.best_move in engine.legal_moves
        assert {row.move for row in result.moves} == set(engine.legal_moves)
        assert sum(result.wdl) == 1000
        assert result.centipawns is None
        assert result.white_value == result.value
        assert result.lines[0].san == " ".join(result.lines[0].moves)
        assert result.best_move in str(result)
        assert result.to_dict()["variant"] == engine.variant
        assert all(report.best_move in engine.legal_moves for report in reports)
        graph = engine.graph(nodes=20)
        assert graph.nodes[0].position == engine.position
        assert graph.to_dot().startswith("digraph")
        file = tmp_path / "search.anabranch"
        engine.save(file)
        loaded = Engine.load(file)
        assert (loaded.variant, loaded.position) == (engine.variant, engine.position)
        assert loaded.graph().to_json() == engine.graph().to_json()
        for each in (engine, loaded):
            each.play(result.best_move)
        if not engine.is_over:
            ours, theirs = (each.search(simulations=500) for each in (engine, loaded))
            assert [row.visits for row in ours.moves] == [row.visits for row in theirs.moves]

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("evaluator", ["uniform", "hash", "rollout"])
    def test_the_graph_does_not_depend_on_threads(self, name: str, evaluator: str) -> None:
        graphs = {
            Engine(name, evaluator=evaluator, threads=threads, width_visits=0, rollouts=2)
            .search(simulations=1500)
            .to_dict()["moves"]
            .__repr__()
            for threads in (1, 3)
        }
        assert len(graphs) == 1

    def test_stop_and_time_end_a_search(self) -> None:
        engine = Engine("hex", evaluator="uniform")
        threading.Timer(0.2, engine.stop).start()
        assert engine.search(time=60).finish == "stopped"
        begun = time.monotonic()
        assert engine.search(time=0.2).finish == "time"
        assert time.monotonic() - begun < 10

    def test_the_parameters_of_a_game_make_another(self) -> None:
        file_of = {name: Engine(name).position for name in ("go:size=3", "go:size=5", "othello:size=4")}
        assert len(set(file_of.values())) == 3

    def test_root_moves_and_forced_wins(self) -> None:
        engine = Engine("tic-tac-toe", evaluator="uniform")
        result = engine.search("a1 a2 b2 b3", simulations=5000)
        assert result.best_move == "c3"
        assert result.solved is not None
        assert (result.solved.state, result.solved.plies) == ("win", 1)
        limited = engine.search(limits=Limits(simulations=500, root_moves=["c1"]))
        assert limited.best_move == "c1"

    def test_a_game_that_is_over(self) -> None:
        engine = Engine("connect-four")
        engine.position = "1 2 1 2 1 2 1"
        assert engine.is_over
        assert engine.ending == -1.0
        assert engine.legal_moves == ()
        with pytest.raises(GameOverError, match="over"):
            engine.search(simulations=10)
        with pytest.raises(AnabranchError, match="over"):
            engine.play("3")
        with pytest.raises(MoveError, match="over before the move"):
            engine.position = "1 2 1 2 1 2 1 3"

    def test_a_file_of_one_game_is_none_of_another(self, tmp_path: Path) -> None:
        file = tmp_path / "search"
        engine = Engine("hex:size=3")
        engine.search(simulations=100)
        engine.save(file)
        other = Engine("hex:size=4")
        with pytest.raises(GraphFileError, match="another variant"):
            other._session.load(file)


class TestEvaluators:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_function_of_planes_makes_the_same_graph_as_the_core(self, name: str) -> None:
        def uniform(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            assert planes.shape[1:] == shape
            assert set(np.unique(planes)) <= {0.0, 1.0}
            assert (planes[:, 0] * planes[:, 1]).sum() == 0
            return np.zeros(len(planes), np.float32), np.zeros((len(planes), size), np.float32)

        outside = Engine(name, evaluator=uniform)
        shape, size = outside.plane_shape, outside.shape[1]
        inside = Engine(name, evaluator="uniform")
        differing = ("width_visits", "width_linear", "batch_size", "skip_draws", "mate_leaf")
        same = {name: getattr(outside.settings, name) for name in differing}
        inside.configure(**same)
        for engine in (inside, outside):
            engine.search(simulations=600)
        assert inside.graph().to_json() == outside.graph().to_json()

    def test_a_function_of_positions(self) -> None:
        class Left:
            inputs: Literal["positions"] = "positions"

            def evaluate(
                self, leaves: Sequence[anabranch.evaluators.Leaf], /
            ) -> tuple[list[float], list[list[float]]]:
                return [0.0] * len(leaves), [[-float(move) for move in leaf.moves] for leaf in leaves]

        result = Engine("connect-four", evaluator=Left()).search(simulations=1)
        assert max(result.moves, key=lambda row: row.prior).move == "1"

    def test_more_playouts_judge_better(self) -> None:
        def errors(rollouts: int) -> float:
            engine = Engine("tic-tac-toe", evaluator="rollout", rollouts=rollouts)
            return abs(engine.search("b2 a2", simulations=1).value - 0.5)

        assert errors(5000) < 0.1
        values = {Engine("othello", seed=seed).search(simulations=1).value for seed in range(10)}
        assert values <= {-1.0, 0.0, 1.0}
        assert len(values) > 1

    def test_what_is_for_chess_alone_is_refused(self) -> None:
        with pytest.raises(SettingError, match="for chess"):
            Engine("hex", evaluator="material")
        with pytest.raises(AnabranchError):
            Engine("hex", evaluator="network")
        with pytest.raises(VariantError, match="plays chess"):
            Engine("hex", evaluator="chess")

        class Versioned:
            planes = "v3"

            def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                raise AssertionError

        with pytest.raises(EvaluatorError, match="one version"):
            Engine("hex", evaluator=Versioned())

    def test_playouts_in_chess(self) -> None:
        result = Engine("chess", evaluator="rollout", rollouts=3).search(
            "k7/8/1K6/8/8/8/8/7R w - - 0 1", simulations=300
        )
        assert result.best_move == "h1h8"


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("shogi", "no variant named.*connect-four"),
            ("hex:size=1", "from 2 to 19"),
            ("hex:komi=3", "no parameter 'komi'|no parameter \"komi\""),
            ("othello:size=7", "one of 4, 6, 8"),
            ("connect-four:size=7", "no parameters"),
            ("go:komi=0.25", "multiple of 0.5"),
        ],
    )
    def test_games(self, name: str, words: str) -> None:
        with pytest.raises(VariantError, match=words):
            Engine(name)

    def test_parameters_and_settings(self) -> None:
        with pytest.raises(VariantError, match="not both"):
            Engine("hex:size=5", size=7)
        with pytest.raises(SettingError, match="no setting 'size'"):
            Engine("chess", size=7)
        with pytest.raises(VariantError, match="castling"):
            Engine("hex", chess960=True)

    @pytest.mark.parametrize(
        ("position", "error", "words"),
        [
            ("4 8", MoveError, "no legal move here; a move is the column"),
            ("4 x", MoveError, "no legal move"),
            ("1 1 1 1 1 1 1", MoveError, "no legal move"),
            ("../.. x", PositionError, "6 rows of 7 cells"),
            ("......./......./......./......./......./.....q. x", PositionError, "cell"),
            (3, PositionError, "not int"),
            ([1.5], MoveError, "not float"),
        ],
    )
    def test_positions(self, position: object, error: type[Exception], words: str) -> None:
        engine = Engine("connect-four")
        engine.position = "4"
        with pytest.raises(error, match=words):
            engine.position = position  # type: ignore[assignment]
        assert engine.position.endswith("/...x... o"), "the engine is where it was"

    def test_boards_of_chess(self) -> None:
        engine = Engine("hex")
        with pytest.raises(VariantError, match="not played on a board of chess"):
            engine.board()
        result = engine.search(simulations=10)
        with pytest.raises(VariantError, match="no move of chess"):
            _ = result.move


class TestAnswers:
    @pytest.mark.parametrize("line", CONNECT_FOUR.split("\n")[1:-1])
    def test_connect_four(self, line: str) -> None:
        moves, score = line.split()
        engine = Engine("connect-four", evaluator="uniform")
        result = engine.search(list(moves), simulations=100_000)
        expected = "win" if int(score) > 0 else "draw" if score == "0" else "loss"
        assert result.solved is not None
        assert result.solved.state == expected

    @pytest.mark.parametrize(
        ("name", "state"),
        [
            ("tic-tac-toe", "draw"),
            ("hex:size=3", "win"),
            ("othello:size=4", "loss"),
            ("breakthrough:width=2,height=4", "loss"),
            ("breakthrough:width=3,height=4", "win"),
        ],
    )
    def test_small_boards(self, name: str, state: str) -> None:
        result = Engine(name, evaluator="uniform").search(simulations=400_000)
        assert result.solved is not None
        assert result.solved.state == state

    def test_solve_finds_the_same(self) -> None:
        solution = Engine("hex:size=4").solve(positions=1_000_000)
        assert solution.result == "win"
        assert Engine("tic-tac-toe").solve(positions=1_000_000).result is None


def test_a_certificate_is_for_what_can_be_verified(tmp_path: Path) -> None:
    solution = Engine("tic-tac-toe").solve("a1 b1 a2 b2", positions=1000)
    assert solution.result == "win"
    with pytest.raises(ProofError, match="chess and its variants"):
        solution.save_certificate(tmp_path / "win.jsonl")
    assert not list(tmp_path.iterdir())
