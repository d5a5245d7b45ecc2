"""What is told on the way: every change of the move that would be played, and shorter proofs."""

import itertools
import time

import numpy as np
from numpy.typing import NDArray

from anabranch import Engine
from anabranch.result import Progress

HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"


def test_every_change_of_the_move_is_told_and_nothing_else() -> None:
    engine = Engine("crazyhouse", evaluator="material")
    seen: list[Progress] = []
    engine.search(HOUSE, simulations=40_000, progress=seen.append, progress_interval=1000)
    told = [news.best_move for news in seen]
    assert told, "the first move is news"
    assert all(one != other for one, other in itertools.pairwise(told))


def test_a_slow_listener_misses_no_change_for_good() -> None:
    """The first report keeps it busy while the move changes: the last thing it hears is not the first."""
    engine = Engine("crazyhouse", evaluator="material")
    quick: list[str] = []
    engine.search(HOUSE, simulations=40_000, progress=lambda news: quick.append(news.best_move))
    assert len(set(quick)) > 1, "the move changes on the way"
    engine.forget()
    told: list[str] = []

    def listen(news: Progress) -> None:
        told.append(news.best_move)
        time.sleep(0.4)

    final = engine.search(HOUSE, time=2.5, progress=listen, progress_interval=1000)
    assert all(one != other for one, other in itertools.pairwise(told))
    assert told[-1] != told[0] or final.best_move == told[0]


def test_the_python_loop_tells_changes_too() -> None:
    width = Engine("crazyhouse", evaluator="material").shape[1]

    def evaluate(planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        time.sleep(0.002)
        logits = np.zeros((len(planes), width), np.float32)
        return planes[:, :, 0, 0].sum(1).clip(-1, 1).astype(np.float32), logits

    engine = Engine("crazyhouse", evaluator=evaluate)
    seen: list[Progress] = []
    engine.search(HOUSE, simulations=2000, lines=20, progress=seen.append, progress_interval=1000)
    told = [news.best_move for news in seen]
    assert told, "the first move is news"
    assert all(one != other for one, other in itertools.pairwise(told))
    assert max(len(news.lines) for news in seen) <= 20
