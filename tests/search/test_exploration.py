"""Exploration on disconnected trajectories: where it branches, what it leaves alone, what it finds."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import chess
import pytest

from anabranch import Engine, reference
from anabranch.evaluators import Leaf
from anabranch.reference.evaluators import hash_evaluator

pytestmark = pytest.mark.usefixtures("material_by_default")

CHESS = "r1bq1rk1/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQ1RK1 w - - 0 7"


class Watched(reference.Search):
    """Remembers at which depth below the root every exploration branched."""

    def __init__(self, board: chess.Board, settings: reference.ReferenceSettings) -> None:
        self.depths: Counter[int] = Counter()
        super().__init__(board, settings, hash_evaluator)

    def simulate(self) -> reference.Trajectory | None:
        trajectory = super().simulate()
        if trajectory is not None and trajectory.is_exploration:
            self.depths[trajectory.board.ply() - len(trajectory.path) - self.board.ply()] += 1
        return trajectory


def test_branches_halve_with_depth_in_a_search() -> None:
    # First a line deep enough to follow, then explorations alone.
    search = Watched(chess.Board(CHESS), reference.ReferenceSettings(batch_size=1))
    search.run(simulations=200)
    search.settings = dataclasses.replace(search.settings, epsilon_greedy=1.0)
    search.run(simulations=1200)
    total = sum(search.depths.values())
    assert total >= 1200
    for depth, share in enumerate((1 / 2, 1 / 4, 1 / 8)):
        assert search.depths[depth] / total == pytest.approx(share, abs=0.05)


def test_half_of_the_core_s_explorations_branch_at_the_root() -> None:
    engine = Engine(preset="alphazero", evaluator="hash", batch_size=1)
    engine.search(CHESS, simulations=300)
    before = {edge.move: edge.visits for edge in engine.graph(depth=1).edges if edge.source == 0}
    engine.configure(epsilon_greedy=1.0)
    result = engine.search(simulations=2000)
    numbers = result.statistics
    assert numbers.explorations == 2000
    # Ancestors are untouched: the root gains the explorations that branched there, and no other.
    gained = numbers.root_visits - 300
    assert gained / 2000 == pytest.approx(1 / 2, abs=0.05)
    assert gained == sum(row.visits for row in result.moves) - sum(before.values())
    assert sum(row.explored for row in result.moves) == gained


def test_the_core_s_branches_halve_with_depth() -> None:
    """In a tree a node has the visits of its edge, and one more for every exploration that starts there."""
    engine = Engine(preset="alphazero", evaluator="hash", batch_size=1)
    engine.search(CHESS, simulations=300)
    engine.configure(epsilon_greedy=1.0)
    engine.search(simulations=2000)
    graph = engine.graph(visits=0, nodes=10**9)
    arrived = {edge.target: edge.visits for edge in graph.edges}
    started: Counter[int] = Counter()
    for node in graph.nodes[1:]:
        if node.legal:
            started[node.depth] += node.visits - arrived[node.id]
    assert started[1] / 2000 == pytest.approx(1 / 4, abs=0.04)
    assert started[2] / 2000 == pytest.approx(1 / 8, abs=0.03)
    assert started[3] / 2000 == pytest.approx(1 / 16, abs=0.03)


def test_ancestors_keep_value_and_visits() -> None:
    """The line above the branch: every node on it has just the visits of its own edges."""
    engine = Engine(preset="mcgs", evaluator="hash", batch_size=1, epsilon_greedy=0.5, seed=3)
    engine.search(CHESS, simulations=3000)
    graph = engine.graph(visits=0, nodes=10**9)
    below: Counter[int] = Counter()
    arrived: Counter[int] = Counter()
    for edge in graph.edges:
        below[edge.source] += edge.visits
        arrived[edge.target] += edge.visits
    inside = [node for node in graph.nodes if below[node.id]]
    # A node gains a visit with one of its edges and no other way (edges that only drew are not exported).
    assert all(node.visits >= 1 + below[node.id] for node in inside)
    assert sum(node.visits == 1 + below[node.id] for node in inside) > 0.98 * len(inside)
    # A connected trajectory enters a node by an edge; only disconnected ones start below the root.
    inner = [node for node in graph.nodes if node.depth > 0 and node.legal and not node.transposition]
    assert any(node.visits > arrived[node.id] for node in inner)
    plain = Engine(preset="mcgs", evaluator="hash", batch_size=1)
    plain.search(CHESS, simulations=3000)
    graph = plain.graph(visits=0, nodes=10**9)
    arrived = Counter()
    for edge in graph.edges:
        arrived[edge.target] += edge.visits
    inner = [node for node in graph.nodes if node.depth > 0 and node.legal and not node.transposition]
    assert all(node.visits == arrived[node.id] for node in inner)


class Against:
    """Values nothing, and gives the moves of a kind the least prior."""

    inputs: Literal["positions"] = "positions"

    def __init__(self, kind: reference.Constraint) -> None:
        self.kind: reference.Constraint = kind

    def evaluate(self, leaves: Sequence[Leaf], /) -> tuple[list[float], list[list[float]]]:
        logits = []
        for fen, moves in leaves:
            board = chess.Board(fen)
            logits.append(
                [-8.0 * reference.satisfies(board, self.kind, board.parse_uci(move)) for move in moves]
            )
        return [0.0] * len(leaves), logits


RICH = "r2qk2r/pp3ppp/2n1bn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 12"
SHARP = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def simulations_until_all_seen(kind: reference.Constraint, position: str, share: float) -> int:
    """Simulations until every move of the kind at the root has a visit; the kind has the worst priors."""
    board = chess.Board(position)
    wanted = {move.uci() for move in board.legal_moves if reference.satisfies(board, kind, move)}
    assert len(wanted) >= 2, wanted
    settings: dict[str, Any] = {f"epsilon_{kind}": share}
    engine = Engine(preset="alphazero", evaluator=Against(kind), seed=1)
    engine.configure(**settings)
    engine.position = position
    done = 0
    while done < 400:
        result = engine.search(simulations=20)
        done += 20
        if all(row.visits > 0 for row in result.moves if row.move in wanted):
            break
    return done


@pytest.mark.parametrize("kind", ["checks", "captures", "threats"])
def test_the_root_s_moves_of_a_kind_are_visited_early(kind: reference.Constraint) -> None:
    position = {"checks": "4k3/8/8/8/8/2B5/1Q6/R3K2R w KQ - 0 1", "captures": SHARP, "threats": RICH}[kind]
    assert simulations_until_all_seen(kind, position, 0.3) <= 120
    assert simulations_until_all_seen(kind, position, 0.0) >= 400


def test_explorations_are_counted_by_their_share() -> None:
    for share in (0.0, 0.1, 0.4):
        engine = Engine(preset="alphazero", epsilon_greedy=share / 2, epsilon_checks=share / 2, seed=2)
        numbers = engine.search(CHESS, simulations=4000).statistics
        assert numbers.explorations / 4000 == pytest.approx(share, abs=0.04)
