"""Searches confined to some of the root's moves, and what is left of that afterwards: nothing."""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.proofs import proof_of

from anabranch import Engine, errors
from anabranch.result import Progress, Result

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"
HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
TWO_MATES = "7k/R7/1R6/8/8/8/8/K7 w - - 0 1"
"""Rb8 mates at once; Ka2 does not."""


def names(result: Progress) -> set[str]:
    return {row.move for row in result.moves}


@pytest.mark.parametrize("preset", ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined", "default"])
@pytest.mark.parametrize(("variant", "position"), [("chess", CHESS), ("crazyhouse", HOUSE)])
def test_only_these_are_visited(preset: str, variant: str, position: str) -> None:
    engine = Engine(variant, preset=preset, evaluator="material", epsilon_greedy=0.2, epsilon_checks=0.2)
    engine.position = position
    some = engine.legal_moves[3:20:5]
    seen: list[Progress] = []
    result = engine.search(
        position, simulations=3000, root_moves=some, progress=seen.append, progress_interval=0.001
    )
    assert result.best_move in some
    assert names(result) == set(some)
    assert {line.moves[0] for line in result.lines} <= set(some)
    assert all(names(news) <= set(some) and news.best_move in some for news in seen)
    assert abs(sum(row.policy for row in result.moves) - 1.0) < 1e-9
    whole = engine.result()
    assert names(whole) == set(some), "until the next search"
    later = engine.search(position, simulations=3000)
    assert names(later) == set(engine.legal_moves)
    visits = {row.move: row.visits for row in later.moves}
    assert sum(visits.values()) == later.statistics.root_visits - 1, "every visit is on an edge"
    assert sum(visits[move] > 0 for move in visits) > len(some)


def test_the_graph_stays_what_it_is() -> None:
    """Values are means of what is below them, whatever the root was confined to: the leak identity."""
    engine = Engine("chess", preset="mcgs", evaluator="material", backup="recompute", stop="none")
    for some in (["h2h3"], [], ["h2h3", "a2a3", "d3d4"], ["c3d5"]):
        result = engine.search(CHESS, simulations=1500, root_moves=some)
        graph = engine.graph(visits=0, nodes=10**9)
        node = graph.nodes[0]
        edges = [edge for edge in graph.edges if edge.source == 0]
        mean = (node.raw + sum(edge.visits * edge.q for edge in edges)) / node.visits
        assert abs(mean - node.value) < 1e-6
        assert sum(edge.visits for edge in edges) == node.visits - 1
        assert engine._session.in_flight_marks() == 0
        assert result.finish == "limit"


def test_a_win_outside_the_list_does_not_solve_the_search() -> None:
    engine = Engine("chess", evaluator="material")
    whole = engine.search(TWO_MATES, simulations=2000)
    assert whole.finish == "solved"
    assert proof_of(whole).mate == 1
    slow = engine.search(TWO_MATES, simulations=500, root_moves=["a1a2"])
    assert slow.best_move == "a1a2"
    assert slow.solved is None or (slow.solved.mate or 0) > 1
    again = engine.search(TWO_MATES, simulations=500)
    assert again.finish == "solved"
    assert again.solved == whole.solved


def test_an_allowed_win_solves_it() -> None:
    for improve in (False, True):
        engine = Engine("chess", evaluator="material", improve=improve)
        result = engine.search(TWO_MATES, simulations=2000, root_moves=["a1a2", "b6b8"])
        assert (result.best_move, result.finish) == ("b6b8", "solved")
        assert (proof_of(result).state, proof_of(result).plies) == ("win", 1)
        assert result.lines[0].moves == ("b6b8",)


def test_all_allowed_moves_lost() -> None:
    """White may play two moves that lose at once or later: the search ends, and takes the longer one."""
    position = "7k/8/8/8/8/r7/2r5/6KN w - - 0 1"
    engine = Engine("chess", evaluator="material")
    legal = Engine("chess", evaluator="material")
    legal.position = position
    lost = {}
    for move in legal.legal_moves:
        result = engine.search(position, simulations=20_000, root_moves=[move])
        if result.finish == "solved" and result.solved is not None and result.solved.state == "loss":
            lost[move] = proof_of(result).plies or 0
            assert result.lines[0].state == "loss"
            assert len(result.lines[0].moves) == proof_of(result).plies
    assert len(set(lost.values())) > 1
    result = Engine("chess", evaluator="material").search(position, simulations=50_000, root_moves=list(lost))
    assert result.finish == "solved"
    assert proof_of(result).state == "loss"
    assert names(result) == set(lost)
    assert result.lines[0].plies == proof_of(result).plies == max(line.plies or 0 for line in result.lines)


def test_the_python_loop_does_the_same() -> None:
    engine = Engine("chess", evaluator="material")
    width = engine.shape[1]

    def evaluate(planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.zeros(len(planes), np.float32), np.zeros((len(planes), width), np.float32)

    outside = Engine("chess", evaluator=evaluate, batch_size=16, width_visits=8, width_linear=0)
    inside = Engine("chess", evaluator="uniform", batch_size=16, width_visits=8, width_linear=0)
    results: list[Result] = [
        one.search(CHESS, simulations=600, root_moves=["h2h3", "Nd5"]) for one in (outside, inside)
    ]
    assert names(results[0]) == {"h2h3", "c3d5"}
    assert results[0].moves == results[1].moves


@pytest.mark.parametrize("move", ["e2e5", "xyz", "", "Qh9"])
def test_moves_that_are_none(move: str) -> None:
    engine = Engine("chess", evaluator="material")
    with pytest.raises(errors.MoveError, match="move"):
        engine.search(CHESS, simulations=10, root_moves=["h2h3", move])
    assert engine.search(CHESS, simulations=10).finish == "limit"


def test_a_text_is_not_a_list_of_moves() -> None:
    with pytest.raises(errors.MoveError, match="list of moves"):
        Engine("chess").search(CHESS, simulations=10, root_moves="h2h3")


def test_a_legal_move_before_anything_is_known() -> None:
    engine = Engine("chess", evaluator="material")
    seen: list[str] = []

    def stop(news: Progress) -> None:
        seen.append(news.best_move)
        engine.stop()

    result = engine.search(CHESS, time=5, root_moves=["h2h3"], progress=stop, progress_interval=0)
    assert result.best_move == "h2h3"
    assert set(seen) == {"h2h3"}
