"""The comparators of the literature in the reference, on hand-made numbers and nodes."""

import math

import chess
import pytest

from anabranch.reference import (
    Below,
    Edge,
    End,
    HalvingPlan,
    Node,
    Prospect,
    Random,
    ReferenceSettings,
    State,
    Trajectory,
    exploration,
    halvings,
    improved_logits,
    improved_policy,
    inform_trajectory,
    largest,
    least_served,
    mixed_value,
    secure_policy,
    select_ucb,
    sigma,
    visits_of_phase,
)
from anabranch.reference.backup import back_up
from anabranch.reference.improved import select_improved
from anabranch.reference.solver import forced_edge

MOVE = chess.Move.from_uci("a2a3")
ROWS = [Prospect(0.5, 3, 0.2), Prospect(0.25, 1, -0.4), Prospect(0.25, 0, None)]
SETTINGS = ReferenceSettings(c_visit=7.0, c_scale=0.1, virtual_mode="visit")


def leaf(value: float, state: State = State.UNKNOWN) -> Node:
    node = Node(("leaf", 0, None), "leaf", [MOVE], raw=value, value=value, visits=1, state=state)
    node.end_in_ply = 0 if state is not State.UNKNOWN else None
    return node


def family(raw: float, *children: tuple[Node | None, int, float, float]) -> Node:
    """A node with a child, visits, Q and prior for each of its edges; without a child it is not open."""
    node = Node(("node", 0, None), "node", [MOVE] * len(children), raw=raw, value=raw)
    for code, (child, visits, q, prior) in enumerate(children):
        edge = Edge(MOVE, code, prior, visits=visits, q=q, child=child)
        node.edges.append(edge)
        if child is not None:
            child.parents.append((node, edge))
            node.opened += 1
    node.visits = 1 + sum(edge.visits for edge in node.edges)
    return node


def test_the_mixed_value_is_that_of_the_visited_moves_and_the_evaluation() -> None:
    """G1: four visits at (0.5 * 0.2 - 0.25 * 0.4) / 0.75 = 0, one of 0.5."""
    assert mixed_value(0.5, ROWS) == pytest.approx(0.1)
    assert mixed_value(0.5, ROWS[2:]) == 0.5


def test_the_improved_policy() -> None:
    """G2, G3."""
    assert sigma(0.2, 3, 7.0, 0.1) == pytest.approx(0.6)
    logits = improved_logits(SETTINGS, 0.5, ROWS)
    expected = [math.log(0.5) + 0.6, math.log(0.25) + 0.3, math.log(0.25) + 0.55]
    assert logits == pytest.approx(expected)
    weights = [0.5 * math.exp(0.6), 0.25 * math.exp(0.3), 0.25 * math.exp(0.55)]
    assert improved_policy(logits) == pytest.approx([weight / sum(weights) for weight in weights])


def test_the_move_furthest_below_its_share_is_next() -> None:
    """G4: shares of visits 3/5, 1/5, 0 against 0.55, 0.20, 0.25."""
    assert least_served(improved_policy(improved_logits(SETTINGS, 0.5, ROWS)), [3, 1, 0]) == 2
    assert least_served([0.7, 0.3], [0, 0]) == 0
    assert least_served([0.5, 0.5], [0, 0]) == 0
    node = family(0.0, (leaf(-0.9), 2, 0.9, 0.4), (None, 0, 0.0, 0.6))
    assert select_improved(ReferenceSettings(c_scale=100.0), node).code == 0
    node.edges[0].pruned = True
    assert select_improved(ReferenceSettings(c_scale=100.0), node).code == 1


def test_phases_of_sequential_halving() -> None:
    assert [halvings(count) for count in (1, 2, 3, 4, 5, 16, 17)] == [1, 1, 2, 2, 3, 4, 5]
    assert [visits_of_phase(64, 4, count) for count in (16, 8, 4, 2)] == [1, 2, 4, 8]
    assert visits_of_phase(3, 4, 16) == 1
    assert largest([1.0, 3.0, 3.0, 2.0], 3) == [1, 2, 3]


def planned(simulations: int, q: list[float], **changes: object) -> tuple[list[int], int]:
    """The moves that a plan visits at a root where each move keeps its value, and the one it plays."""
    root = family(0.0, *((leaf(-x), 0, 0.0, 1 / len(q)) for x in q))
    settings = ReferenceSettings(gumbel=True, virtual_mode="visit", **changes)  # type: ignore[arg-type]
    plan = HalvingPlan(settings, root, Random(1), simulations)
    taken = []
    for _ in range(simulations):
        edge, waits = plan.select()
        assert edge is not None
        assert not waits
        taken.append(edge.code)
        edge.visits, edge.q = edge.visits + 1, q[edge.code]
    choice = plan.choice()
    assert choice is not None
    return taken, choice.code


def test_halving_keeps_the_moves_of_the_best_score() -> None:
    """G5, G6, without noise: 8 moves with 24 simulations have phases of 1, 2 and 4 visits."""
    q = [0.1, 0.8, -0.3, 0.4, 0.9, 0.0, -0.9, 0.3]
    taken, choice = planned(24, q, gumbel_scale=0.0)
    assert sorted(taken[:8]) == list(range(8))
    assert sorted(taken[8:16]) == sorted([4, 1, 3, 7] * 2)
    assert sorted(taken[16:]) == sorted([4, 1] * 4)
    assert choice == 4


def test_noise_draws_the_considered_moves_without_replacement() -> None:
    taken, _ = planned(12, [0.0] * 30, gumbel_considered=4)
    assert len(set(taken)) == 4
    assert set(taken) != {0, 1, 2, 3}
    assert max(taken.count(code) for code in taken) == 1 + 4 // 2 + 2


def test_a_plan_waits_for_what_is_in_flight_and_passes_over_pruned_moves() -> None:
    root = family(0.0, *((leaf(0.0), 0, 0.0, 0.25) for _ in range(4)))
    plan = HalvingPlan(ReferenceSettings(gumbel=True, virtual_mode="visit"), root, Random(1), 8)
    for _ in range(4):
        edge, waits = plan.select()
        assert edge is not None
        assert not waits
        edge.in_flight += 1
        root.in_flight += 1
    assert plan.select() == (None, True)
    for edge in root.edges:
        edge.in_flight, edge.visits, edge.pruned = 0, 1, edge.code != 2
    root.in_flight = 0
    found, _ = plan.select()
    assert found is root.edges[2]
    root.edges[2].pruned = True
    assert plan.select() == (None, False)


def test_ucb1_tries_every_move_once() -> None:
    node = family(0.0, (leaf(0.0), 5, 0.9, 0.9), (None, 0, 0.0, 0.1))
    settings = ReferenceSettings(selection="ucb1", virtual_mode="visit")
    assert select_ucb(settings, node, -1.0).code == 1
    assert exploration(1.4, math.log(10), 5.0) == pytest.approx(1.4 * math.sqrt(math.log(10) / 5))


@pytest.mark.parametrize(("c_ucb", "code"), [(0.1, 0), (2.0, 1)])
def test_ucb1_weighs_values_and_visits(c_ucb: float, code: int) -> None:
    """0.5 + c sqrt(ln 10 / 9) against 0.2 + c sqrt(ln 10 / 1)."""
    node = family(0.0, (leaf(0.0), 9, 0.5, 0.1), (leaf(0.0), 1, 0.2, 0.9))
    assert select_ucb(ReferenceSettings(c_ucb=c_ucb, virtual_mode="visit"), node, -1.0).code == code


def test_ucd_takes_its_numbers_from_below() -> None:
    """An edge with 2 visits into a node with 6 more from elsewhere, and that into another such node."""
    bottom = family(0.1, (leaf(0.0), 4, 0.6, 0.5))
    middle = family(-0.2, (bottom, 3, 0.5, 0.5), (leaf(0.0), 5, -0.1, 0.5))
    top = family(0.0, (middle, 2, 0.4, 1.0))
    edge, below = top.edges[0], Below()
    assert below.adapted(top, edge, 0) == (0.4, 2.0)
    mean, visits = below.adapted(top, edge, 1)
    assert mean == pytest.approx(-(-0.2 + 3 * 0.5 - 5 * 0.1) / 9)
    assert visits == 9
    mean, visits = below.adapted(top, edge, 2)
    under = -(0.1 + 4 * 0.6) / 5
    assert mean == pytest.approx(-(-0.2 + 3 * under - 5 * 0.0) / 9)
    assert visits == 1 + 5 + 1
    assert below.adapted(top, edge, 255)[1] == 1 + (1 + 1) + 1
    edge.path_draws = 1
    assert below.adapted(top, edge, 1)[1] == 10
    middle.state = State.LOSS
    assert below.adapted(top, edge, 1) == (0.5, 2.0)


def test_update_all_reaches_every_ancestor_once_for_each_edge() -> None:
    last = leaf(0.8)
    left, right = family(0.0, (last, 1, -0.8, 0.5)), family(0.0, (last, 3, 0.0, 0.5))
    root = family(0.0, (left, 2, 0.5, 0.5), (right, 4, 0.25, 0.5))
    path = [(root, root.edges[0]), (left, left.edges[0])]
    settings = ReferenceSettings(backup="all", stop="none")
    back_up(settings, Trajectory(path, last, End.EXACT, chess.Board()), 0.8)
    assert [edge.visits for edge in root.edges] == [3, 5]
    assert [edge.q for edge in root.edges] == pytest.approx([0.6, (4 * 0.25 + 0.8) / 5])
    assert (left.edges[0].visits, right.edges[0].visits) == (2, 4)
    assert right.edges[0].q == pytest.approx(-0.8 / 4)
    assert root.visits == 1 + 3 + 5
    back_up(settings, Trajectory(path, last, End.PATH_DRAW, chess.Board()), 0.0)
    assert [edge.visits for edge in root.edges] == [4, 5]


def test_older_solvers_send_proofs_up_the_trajectory() -> None:
    def proven(rule: str, *states: State) -> State:
        node = family(0.0, *((leaf(0.0, state), 1, 0.0, 0.5) for state in states))
        parent = family(0.0, (node, 1, 0.0, 1.0))
        other = family(0.0, (node, 1, 0.0, 1.0))
        settings = ReferenceSettings(solver=True, solver_rule=rule)  # type: ignore[arg-type]
        inform_trajectory(settings, [node, parent])
        assert other.state is State.UNKNOWN
        expected = {State.WIN: State.LOSS, State.LOSS: State.WIN}.get(node.state, node.state)
        assert parent.state is expected
        return node.state

    for rule in ("exact-win", "mcts-solver"):
        assert proven(rule, State.LOSS, State.UNKNOWN) is State.WIN
        assert proven(rule, State.WIN, State.WIN) is State.LOSS
        assert proven(rule, State.WIN, State.UNKNOWN) is State.UNKNOWN
    assert proven("exact-win", State.WIN, State.DRAW) is State.DRAW
    assert proven("mcts-solver", State.WIN, State.DRAW) is State.UNKNOWN


def test_only_the_papers_solver_prefers_the_shortest_win() -> None:
    root = family(0.0, (leaf(0.0, State.LOSS), 1, 0.0, 0.5), (leaf(0.0, State.LOSS), 1, 0.0, 0.5))
    slow = root.edges[0].child
    assert slow is not None
    slow.end_in_ply = 6
    for rule, code in (("exact-win-2", 1), ("exact-win", 0), ("mcts-solver", 0)):
        edge = forced_edge(ReferenceSettings(solver_rule=rule), root)  # type: ignore[arg-type]
        assert edge is not None
        assert edge.code == code


def test_the_secure_child() -> None:
    """W1: 0.3 - 1/10 against 0.5 - 1/2."""
    assert secure_policy([100, 4], [0.3, 0.5], 1.0) == [1.0, 0.0]
    assert secure_policy([100, 4], [0.3, 0.5], 0.1) == [0.0, 1.0]
