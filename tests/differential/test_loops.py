"""The Rust loop against the Python loop: the same evaluator makes the same graph, edge by edge."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import chess
import chess.variant
import numpy as np
import pytest

from anabranch import Engine, presets
from anabranch.evaluators import Leaf, Planes
from anabranch.reference.evaluators import hash_evaluator, material

POSITIONS = {
    "chess": "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
    "crazyhouse": "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14",
    "atomic": "startpos moves g1f3 g8f6",
}
MATES = {"mate_leaf": 20, "mate_growth": 0.3, "mate_start": 16, "mate_root": 1.0}
Judge = Callable[[chess.Board, Sequence[chess.Move]], tuple[float, list[float]]]


def compare(variant: str, position: str, name: str, evaluator: Any, **settings: Any) -> None:
    if settings.get("preset", "default") == "default":  # each takes what goes best with its kind of evaluator
        settings = {"width_visits": 64, "width_linear": 4, "batch_size": 16, **settings}
    rust = Engine(variant, evaluator=name, **settings)
    python = Engine(variant, evaluator=evaluator, **settings)
    for _ in range(2):  # from nothing, then with a graph that is there
        one, other = (engine.search(position, simulations=250) for engine in (rust, python))
        assert one.finish == other.finish
        assert one.moves == other.moves
        assert one.statistics.simulations == other.statistics.simulations
        assert one.statistics.evaluations == other.statistics.evaluations
        assert one.statistics.batches == other.statistics.batches
        graphs = [engine.graph(nodes=100_000) for engine in (rust, python)]
        assert graphs[0] == graphs[1]
        assert len(graphs[0].nodes) > 100


def reading(variant: str, judge: Judge) -> Any:
    """A judge of boards as an evaluator of positions."""

    def evaluate(leaves: list[Leaf]) -> tuple[Any, Any]:
        values, logits = zip(*(opinion(variant, judge, leaf) for leaf in leaves), strict=True)
        return values, logits

    evaluate.inputs = "positions"  # type: ignore[attr-defined]
    return evaluate


@cache
def opinion(variant: str, judge: Judge, leaf: Leaf) -> tuple[float, list[float]]:
    """Searches from one position with other settings meet mostly the same leaves."""
    board = chess.variant.find_variant(variant)(leaf.fen)
    return judge(board, [board.parse_uci(move) for move in leaf.moves])


@pytest.mark.parametrize("preset", presets())
@pytest.mark.parametrize("variant", POSITIONS)
def test_uniform(variant: str, preset: str) -> None:
    width = Engine(variant).shape[1]

    def evaluate(planes: Planes) -> tuple[Any, Any]:
        return np.zeros(len(planes), np.float32), np.zeros((len(planes), width), np.float32)

    compare(variant, POSITIONS[variant], "uniform", evaluate, preset=preset)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"preset": "alphazero"},
        {"batch_size": 1},
        {"batch_size": 7, "batches_in_flight": 1},
        {"width_visits": 0},
        {"width_visits": 3},
        {"width_visits": 2, "batch_size": 64, "wave_least": 2, "threads": 3},
        {"seed": 5, "epsilon_greedy": 0.3},
        MATES,
    ],
    ids=str,
)
@pytest.mark.parametrize("variant", POSITIONS)
@pytest.mark.parametrize(("name", "judge"), [("material", material), ("hash", hash_evaluator)])
def test_evaluators_of_positions(variant: str, name: str, judge: Judge, settings: dict[str, Any]) -> None:
    compare(variant, POSITIONS[variant], name, reading(variant, judge), **settings)
