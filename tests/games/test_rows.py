"""Games of rows: the contract, engines, evaluators, errors, `check_game`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from threading import Timer
from typing import Any, Literal

import numpy as np
import pytest

from anabranch import Engine, check_game
from anabranch.errors import (
    EvaluatorError,
    GameError,
    GraphFileError,
    MoveError,
    PositionError,
    VariantError,
)
from anabranch.evaluators import Leaf
from anabranch.examples import ConnectFour, LeftRight
from anabranch.rows import RowsAdapter, States


class Counting(ConnectFour):
    """Connect Four that counts the calls of its rules and their rows."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def play(self, states: States, actions: States) -> States:
        self.sizes.append(len(states))
        return super().play(states, actions)


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert sum("class ConnectFour" in block for block in blocks) == 1
    for block in blocks:
        exec(block, names)
    printed = capsys.readouterr().out
    assert printed.count("[]") == 2, "nothing is wrong with the games"


class TestPlay:
    def test_rules_are_those_of_the_core(self) -> None:
        ours, core = Engine(game=ConnectFour()), Engine("connect-four")
        assert ours.variant == "rows:ConnectFour"
        assert ours.perft(4) == core.perft(4)
        rng = np.random.default_rng(1)
        for _ in range(20):
            ours.reset()
            core.reset()
            while core.ending is None:
                assert ours.position == core.position
                assert ours.legal_moves == core.legal_moves
                move = str(rng.choice(core.legal_moves))
                ours.play(move)
                core.play(move)
            assert ours.ending == core.ending
        assert ours.plane_shape == core.plane_shape
        assert ours.shape == core.shape

    def test_python_is_called_for_many_rows_at_once(self) -> None:
        game = Counting()
        result = Engine(game=game, evaluator="uniform").search(simulations=20_000)
        assert result.statistics.simulations == 20_000
        assert result.statistics.nodes > 8000
        assert len(game.sizes) < 1000
        assert np.mean(game.sizes) > 20

    @pytest.mark.parametrize(
        "settings", [{"skip_draws": True}, {"width_visits": 0}, {"preset": "mcgs"}, {"preset": "alphazero"}]
    )
    def test_every_way_of_collection_calls_for_many_rows(self, settings: dict[str, Any]) -> None:
        game = Counting()
        engine = Engine(game=game, evaluator="uniform", **settings)
        result = engine.search(simulations=2000, root_moves=["4", "3"])
        assert result.statistics.simulations == 2000
        assert result.best_move in ("3", "4")
        assert len(game.sizes) < 600

    @pytest.mark.parametrize("evaluator", ["uniform", "rollout", "hash"])
    def test_proofs_agree_with_the_core(self, evaluator: str) -> None:
        for position in ("4 3 4 3 4 3", "4 3 4 3 4 3 1", "1 2 1 2 1 3 4 1 2"):
            engines = (
                Engine(game=ConnectFour(), evaluator=evaluator),
                Engine("connect-four", evaluator=evaluator),
            )
            ours, core = (engine.search(position, simulations=4000) for engine in engines)
            states = [None if found.solved is None else found.solved.state for found in (ours, core)]
            assert states[0] == states[1]
            if states[0] == "win":
                assert ours.solved is not None
                assert ours.solved.plies is not None

    def test_equal_seeds_make_equal_searches(self) -> None:
        found = [
            Engine(game=ConnectFour(), seed=3, threads=threads).search("4 4", simulations=1500)
            for threads in (1, 3)
        ]
        rows = [[(row.move, row.visits, row.q) for row in result.moves] for result in found]
        assert rows[0] == rows[1]

    def test_all_of_the_door(self, tmp_path: Path) -> None:
        engine = Engine(game=ConnectFour())
        reports: list[Any] = []
        result = engine.search("4 4 3", simulations=2000, progress=reports.append, progress_interval=0.01)
        assert reports
        assert result.white_value == -result.value
        text = "......./......./......./......./...o.../..xx... o"
        assert engine.position == text
        assert engine.graph(nodes=5).nodes[0].position == text
        before = engine.result().statistics.nodes
        file = tmp_path / "search"
        engine.save(file)
        with pytest.raises(VariantError, match="one of ConnectFour"):
            Engine.load(file)
        with pytest.raises(GraphFileError, match="another variant"):
            Engine.load(file, game=LeftRight())
        game = Counting()
        game.__class__.__name__ = "ConnectFour"
        try:
            loaded = Engine.load(file, game=game)
        finally:
            Counting.__name__ = "Counting"
        assert loaded.graph().to_json() == engine.graph().to_json()
        batches = [size for size in game.sizes if size > 1]
        assert len(batches) < 60, "a graph is checked in large batches"
        assert len(game.sizes) - len(batches) <= 2 * 42, "two games tell the rules from others"
        game.sizes.clear()
        ours, theirs = (each.search(simulations=1000) for each in (loaded, engine))
        assert [(row.move, row.visits) for row in ours.moves] == [
            (row.move, row.visits) for row in theirs.moves
        ]
        engine.play(theirs.best_move)
        assert 0 < engine.result().statistics.nodes < before + 1000
        engine.position = text
        engine.position = (text, ["4", "5"])
        assert len(engine.legal_moves) == 7
        assert engine.picture.startswith(".......")
        assert Engine(game=ConnectFour()).solve("4 3 4 3 4 3", positions=100).result == "win"

    def test_a_graph_of_another_size_is_refused(self, tmp_path: Path) -> None:
        engine = Engine(game=LeftRight(20), evaluator="uniform")
        engine.search(simulations=30)  # no game has ended: every row is one of the longer game too
        engine.save(tmp_path / "short.search")
        with pytest.raises(GraphFileError, match="with other rules, perhaps of another size"):
            Engine.load(tmp_path / "short.search", game=LeftRight(30))
        assert Engine.load(tmp_path / "short.search", game=LeftRight(20)).result().moves

    def test_the_moves_of_the_root_are_known_after_its_evaluation(self) -> None:
        for engine in (Engine(game=ConnectFour(), evaluator="uniform"), Engine("connect-four")):
            assert len(engine.search(simulations=1).moves) == 7

    def test_many_positions(self) -> None:
        positions = ["", "4", "4 4", "4 3 4 3 4 3"]
        alone = [Engine(game=ConnectFour()).search(position, simulations=300) for position in positions]
        for evaluator in (None, _middle):
            many = list(
                Engine(game=ConnectFour(), evaluator=evaluator, threads=2).search_many(
                    positions, simulations=300
                )
            )
            assert [result.position for result in many] == [result.position for result in alone]
            assert many[3].best_move == "4"
            if evaluator is None:
                assert [r.value for r in many] == [r.value for r in alone]

    def test_stop_ends_a_search(self) -> None:
        engine = Engine(game=ConnectFour())
        Timer(0.2, engine.stop).start()
        assert engine.search(time=60).elapsed < 30


def _middle(planes: States) -> tuple[States, States]:
    assert planes.shape[1:] == (3, 6, 7)
    return np.zeros(len(planes)), np.tile([0.0, 1, 2, 3, 2, 1, 0], (len(planes), 1))


class TestEvaluators:
    def test_a_function_over_features(self) -> None:
        core, ours = (
            Engine(**game, evaluator=_middle) for game in ({"game": ConnectFour()}, {"game": "connect-four"})
        )
        found, known = (engine.search("4 4", simulations=1) for engine in (core, ours))
        priors = [{row.move: row.prior for row in result.moves} for result in (found, known)]
        assert priors[0] == priors[1]
        sizes: list[int] = []

        def judge(planes: States) -> tuple[States, States]:
            sizes.append(len(planes))
            return _middle(planes)

        game = Counting()
        assert Engine(game=game, evaluator=judge).search(simulations=3000).statistics.simulations == 3000
        assert len(game.sizes) < 300
        assert len(sizes) < 300

    def test_without_features_the_bytes_are_planes(self) -> None:
        assert Engine(game=LeftRight()).plane_shape == (4, 1, 1)

    def test_positions_as_text(self) -> None:
        class Reader:
            inputs: Literal["positions"] = "positions"

            def evaluate(self, leaves: Sequence[Leaf], /) -> tuple[list[float], list[list[float]]]:
                assert all("/" in leaf.fen for leaf in leaves)
                return [0.0] * len(leaves), [[0.0] * len(leaf.moves) for leaf in leaves]

        assert Engine(game=ConnectFour(), evaluator=Reader()).search(simulations=50).best_move

    def test_what_does_not_fit(self) -> None:
        with pytest.raises(EvaluatorError, match=r"logits \[1, 7\]"):
            Engine(game=ConnectFour(), evaluator=lambda planes: (np.zeros(len(planes)), planes)).search(
                simulations=5
            )
        with pytest.raises(VariantError, match="plays ConnectFour"):
            Engine(game=ConnectFour(), evaluator="chess")


def broken(**changes: Any) -> Any:
    """Connect Four with a fault."""
    return type("Broken", (ConnectFour,), changes)()


def _of_neighbours(self: ConnectFour, states: States) -> States:
    outcome = ConnectFour.outcome(self, states)
    return np.where(np.isnan(outcome) & (len(states) > 3), 0.0, outcome)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"legal": None}, "a game has legal_moves"),
    ({"play": None}, "a game of rows has play, and Broken has not"),
    ({"players": 3}, "one or two players"),
    ({"actions": 1_000_000}, "has 1000000 actions, and 1 to 65535 are possible"),
    ({"actions": 0}, "has 0 actions"),
    ({"actions": "1234567"}, "their number or their texts"),
    ({"actions": ["a"] * 7}, "each once"),
    ({"most_moves": 0}, "a number of moves"),
    ({"first": lambda self: [0, 0]}, "returns an array, not list"),
    ({"first": lambda self: np.zeros(2)}, "not of float64"),
    ({"first": lambda self: np.array([None, 1])}, "not of object"),
    ({"first": lambda self: np.zeros(0, np.uint8)}, "has 0 bytes"),
    ({"first": lambda self: 1 / 0}, r"first\(\) of Broken raised ZeroDivisionError"),
    (
        {"play": lambda self, states, actions: states[:, :1]},
        r"play\(\) of Broken returns an array \[\d+, 2\]",
    ),
    ({"play": lambda self, states, actions: states.astype(int)}, "of uint64, not an array .* of int64"),
    ({"play": lambda self, states, actions: 1 / 0}, r"play\(\) of Broken raised ZeroDivisionError"),
    ({"legal": lambda self, states: np.ones((len(states), 6), bool)}, r"array \[\d+, 7\] of bool, not"),
    ({"legal": lambda self, states: np.ones((len(states), 7))}, "of bool, not an array .* of float64"),
    ({"legal": lambda self, states: np.zeros((len(states), 7), bool)}, "no legal action in a state"),
    ({"outcome": lambda self, states: np.full(len(states), 7.0)}, "nan or from -1 to 1, not 7"),
    ({"outcome": lambda self, states: [None]}, "of float, not list"),
    ({"player": lambda self, states: np.full(len(states), 2)}, "0 or 1, not 2"),
    ({"player": lambda self, states: np.zeros(1)}, r"array \[\d+\] of integers"),
    ({"features": lambda self, states: np.zeros(3)}, r"\[B, C, H, W\] or \[B, F\]"),
    ({"text": lambda self, state: 5}, "returns a text, not int"),
    ({"text": lambda self, state: "none"}, "with a / in it"),
]


class TestErrors:
    @pytest.mark.parametrize(("changes", "words"), FAULTS)
    def test_a_fault_is_named_by_the_check_and_by_the_engine(
        self, changes: dict[str, Any], words: str
    ) -> None:
        (sentence,) = check_game(broken(**changes), games=8)
        assert re.search(words, sentence), sentence
        with pytest.raises(GameError, match=words):
            Engine(game=broken(**changes)).search(simulations=200)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            (
                {"outcome": _of_neighbours},
                "outcome.. of Broken answers otherwise when other rows stand beside",
            ),
            ({"play": lambda self, states, actions: states}, "occurs twice"),
            ({"parse": lambda self, text: np.ones(2, np.uint64)}, "does not lead back"),
            ({"symmetries": lambda self, states: [(states, np.arange(6, -1, -1))]}, "symmetry 0 of Broken"),
            ({"symmetries": lambda self, states: [(states, np.zeros(7, int))]}, "no permutation"),
            ({"player": lambda self, states: np.zeros(len(states), int)}, "players = 1"),
            ({"legal": lambda self, states: np.random.random((len(states), 7)) < 0.9}, "asked twice"),
        ],
    )
    def test_what_only_the_check_finds(self, changes: dict[str, Any], words: str) -> None:
        (sentence,) = check_game(broken(**changes), games=8)
        assert re.search(words, sentence), sentence

    def test_a_state_cannot_be_changed(self) -> None:
        def play(self: ConnectFour, states: States, actions: States) -> States:
            states[:] = 0
            return states

        assert "read-only" in check_game(broken(play=play))[0]

    @pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
    def test_a_game_without_end(self, evaluator: str) -> None:
        class Endless:
            actions = 2
            most_moves = 60

            def first(self) -> States:
                return np.zeros(1, np.uint32)

            def play(self, states: States, actions: States) -> States:
                return states + np.uint32(1)

            def legal(self, states: States) -> States:
                return np.ones((len(states), 2), np.bool_)

            def outcome(self, states: States) -> States:
                return np.full(len(states), np.nan)

            def player(self, states: States) -> States:
                return states[:, 0] & 1

        assert "has not ended after 100 moves" in check_game(Endless(), most_moves=100)[0]
        engine = Engine(game=Endless(), evaluator=evaluator)
        for _ in range(2):
            with pytest.raises(GameError, match="has not ended after 60 moves; if that is right"):
                engine.search(simulations=20_000)

    def test_a_game_that_raises_leaves_the_engine_usable(self) -> None:
        class Fragile(ConnectFour):
            fault = False

            def play(self, states: States, actions: States) -> States:
                if self.fault and (np.bitwise_count(states[:, 1]) >= 4).any():
                    raise RuntimeError("four are too many")
                return super().play(states, actions)

        for evaluator in ("uniform", "rollout", _middle):
            game = Fragile()
            engine = Engine(game=game, evaluator=evaluator)
            engine.search("4", simulations=100)
            game.fault = True
            for _ in range(2):
                with pytest.raises(
                    GameError, match=r"play\(\) of Fragile raised RuntimeError: four are too many"
                ):
                    engine.search(simulations=2000)
            with pytest.raises(GameError, match="four are too many"):
                list(engine.search_many(["4", "3"], simulations=2000))
            game.fault = False
            assert engine.search("4", simulations=500).statistics.simulations == 500

    def test_misuse(self) -> None:
        with pytest.raises(GameError, match="not its class: game=ConnectFour"):
            Engine(game=ConnectFour)
        with pytest.raises(GameError, match="one game"):
            Engine("hex", game=ConnectFour())
        with pytest.raises(GameError, match="Chess960"):
            Engine(game=ConnectFour(), chess960=True)
        engine = Engine(game=ConnectFour())
        with pytest.raises(MoveError, match="no legal move"):
            engine.play("8")
        with pytest.raises(PositionError, match="parse"):
            engine.position = "nonsense/and more"
        with pytest.raises(PositionError, match="row/ and 4 bytes"):
            Engine(game=LeftRight()).position = "row/00"
        with pytest.raises(MoveError, match="no legal move"):
            engine.position = "1 1 1 1 1 1 1"
        bare = Engine(game=LeftRight(3))
        bare.play("left")
        assert bare.position == "row/01000100"
        bare.position = "row/02000100"
        assert bare.search(simulations=50).best_move == "left"

    def test_texts_of_moves_keep_their_case(self) -> None:
        class Named(ConnectFour):
            actions = ("A", "B", "C", "D", "E", "F", "G")

        engine = Engine(game=Named())
        engine.play("D")
        engine.play("d")
        assert engine.search(simulations=20).best_move in "ABCDEFG"

    def test_adapters_know_states_of_any_plain_kind(self) -> None:
        assert RowsAdapter(ConnectFour()).bytes == 16

        class Padded(ConnectFour):
            def first(self) -> States:
                return np.zeros((), np.dtype([("small", "u1"), ("large", "u8")], align=True))

        assert "gaps" in check_game(Padded())[0]


def test_values_of_the_first_player_have_the_right_sign() -> None:
    engine = Engine(game=ConnectFour(), evaluator="uniform")
    first = engine.search("4 1 4 1 4 2", simulations=200)
    assert (first.value, first.white_value, first.to_dict()["white_value"]) == (1.0, 1.0, 1.0)
    second = engine.search("1 4 1 4 2 4 7", simulations=200)
    assert (second.value, second.white_value) == (1.0, -1.0)
