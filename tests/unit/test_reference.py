"""The executable specification against the paper: equations on hand-made numbers, laws of a search."""

import dataclasses
import itertools
import math
from collections import Counter
from typing import Any

import chess
import chess.variant
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.judge import Judge

from anabranch import reference
from anabranch.reference import (
    PRESETS,
    Edge,
    End,
    Node,
    Random,
    ReferenceEvaluator,
    ReferenceSettings,
    Search,
    State,
    Trajectory,
    branch_depth,
    branch_edge,
    c_puct,
    canonical_text,
    clip,
    edge_leak,
    edge_value,
    ending,
    is_threat,
    legal_moves,
    move_code,
    q_delta,
    q_phi,
    running_mean,
    select_edge,
    softmax_priors,
    solve,
    to_f16,
    u_value,
    unvisited_value,
    v_star,
)
from anabranch.reference.evaluators import fnv1a, hash_evaluator, material, uniform

EDGE_MODES = ["tree", "tree+cache", "naive", "paper", "delta"]
# Few pieces and many ways to shuffle them: transpositions, repetitions and captures within a few visits.
ENDGAME = "8/8/3k4/3p4/8/3PK3/8/8 w - - 0 1"
BLOCKED = "8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 w - - 0 1"


def settings(**changes: Any) -> ReferenceSettings:
    return dataclasses.replace(ReferenceSettings(), **changes)


def searched(board: chess.Board, evaluator: ReferenceEvaluator, simulations: int, **changes: Any) -> Search:
    search = Search(board, settings(**changes), evaluator)
    search.run(simulations=simulations)
    return search


def child_of(edge: Edge) -> Node:
    assert edge.child is not None
    return edge.child


def visit(search: Search, line: list[str]) -> Node:
    """Open the line by hand, evaluating on the way, and return the node at its end."""
    node, board = search.root, search.board.copy(stack=False)
    for san in line:
        if not node.is_evaluated:
            search.graph.expand(node, *search.evaluate(node, board), board)
        move = board.parse_san(san)
        edge = next(e for e in node.edges if e.move == move)
        board.push(move)
        if edge.child is None:
            search.open(node, edge, board)
        node = child_of(edge)
    return node


def identity_error(node: Node) -> float:
    assert node.raw is not None
    mass = node.raw + sum(edge.visits * edge.q for edge in node.edges)
    return abs(node.visits * node.value - mass)


def graph(search: Search) -> list[object]:
    return [
        (
            node.key,
            node.visits,
            node.value,
            node.state,
            node.end_in_ply,
            *tuple((edge.code, edge.visits, edge.q, edge.pruned) for edge in node.open_edges),
        )
        for node in search.graph.nodes()
    ]


# The equations


def test_puct_on_numbers() -> None:
    assert c_puct(99, 19652, 2.5) == pytest.approx(math.log(19752 / 19652) + 2.5)
    assert u_value(2.5, 0.2, 100, 4) == pytest.approx(2.5 * 0.2 * 10 / 5)


def test_selection_prefers_the_larger_sum_and_the_first_of_equals() -> None:
    search = Search(chess.Board(), settings(), uniform)
    visit(search, ["e4"])
    visit(search, ["d4"])
    root = search.root
    root.visits = 4
    first, second = root.open_edges
    first.visits, first.q = 1, 0.0
    second.visits, second.q = 2, 0.0
    assert select_edge(search.settings, search.graph, root, search.board) is first
    second.q = 0.5
    assert select_edge(search.settings, search.graph, root, search.board) is second
    second.visits, second.q = 1, 0.0
    assert select_edge(search.settings, search.graph, root, search.board) is first


def test_virtual_loss_and_virtual_visit() -> None:
    edge = Edge(chess.Move.null(), 0, 0.1, visits=3, q=0.5, in_flight=1)
    assert edge_value(settings(), edge, -1.0) == pytest.approx((1.5 - 1.0) / 4)
    assert edge_value(settings(virtual_mode="visit"), edge, -1.0) == 0.5
    edge.visits = 0
    assert edge_value(settings(), edge, 0.3) == -1.0
    assert edge_value(settings(virtual_mode="visit"), edge, 0.3) == 0.3


def test_urgency_reduction() -> None:
    search = Search(chess.Board(), settings(urgency="reduction", urgency_reduction=0.5), uniform)
    visit(search, ["e4"])
    search.root.value = 0.2
    expected = 0.2 - 0.5 * math.sqrt(to_f16(1 / 20))
    assert unvisited_value(search.settings, search.root) == expected
    search.root.value = -1.0
    assert unvisited_value(search.settings, search.root) == -1.0


def test_running_mean() -> None:
    q = 0.0
    for n, x in enumerate([1.0, 0.0, -1.0, 1.0], start=1):
        q = running_mean(q, n, x)
    assert q == pytest.approx(0.25)


def test_target_and_gap() -> None:
    assert v_star(0.25) == -0.25
    assert q_delta(0.5, v_star(0.25)) == 0.75


@given(st.integers(0, 1000), st.floats(-1, 1), st.floats(-1, 1))
def test_correction_lands_on_the_target(n: int, q: float, target: float) -> None:
    assert running_mean(q, n + 1, q_phi(n, q, target)) == pytest.approx(target, abs=1e-9)


def test_clip() -> None:
    assert clip(3.0, -1.0, 1.0) == 1.0
    assert clip(-3.0, -1.0, 1.0) == -1.0
    assert clip(0.3, -1.0, 1.0) == 0.3


def test_printed_sign_diverges_where_the_corrected_one_closes_the_gap() -> None:
    def gap_after(sign: int, visits: int) -> float:
        n, q, target = 10, 0.2, 0.4
        for _ in range(visits):
            printed = n * q_delta(q, target) + target
            x = clip(q_phi(n, q, target) if sign < 0 else printed, -1.0, 1.0)
            q = running_mean(q, n + 1, x)
            n += 1
        return abs(q_delta(q, target))

    assert gap_after(-1, 20) < 1e-12
    assert gap_after(+1, 20) > 0.8
    assert gap_after(+1, 200) > gap_after(+1, 20) > gap_after(+1, 2)


def test_depth_distribution() -> None:
    assert [branch_depth(bits) for bits in (1, 2, 4, 12, 0)] == [0, 1, 2, 2, 64]
    random = Random(1)
    counts = Counter(branch_depth(random.next()) for _ in range(16_000))
    for depth, share in enumerate((1 / 2, 1 / 4, 1 / 8)):
        assert counts[depth] / 16_000 == pytest.approx(share, abs=0.015)


def test_priors() -> None:
    priors = softmax_priors([0.0, 1.7 * math.log(3.0)], 1.7)
    assert priors == pytest.approx([0.25, 0.75], abs=1e-3)
    assert all(p == to_f16(p) for p in priors)


def test_random_source_is_splitmix64() -> None:
    random = Random(0)
    assert [random.next() for _ in range(2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    draws = [random.gamma(0.3) for _ in range(4000)]
    assert sum(draws) / len(draws) == pytest.approx(0.3, abs=0.04)
    assert {random.index(3) for _ in range(100)} == {0, 1, 2}


# Rules


def test_transposition_shares_a_node() -> None:
    search = Search(chess.Board(), settings(backup="paper"), uniform)
    one, other = visit(search, ["d4", "d5", "Nf3"]), visit(search, ["Nf3", "d5", "d4"])
    assert one is other
    assert one.is_transposition
    assert len(one.parents) == 2
    clocked = Search(chess.Board(), settings(backup="paper", merge="clock"), uniform)
    assert visit(clocked, ["d4", "d5", "Nf3"]) is not visit(clocked, ["Nf3", "d5", "d4"])
    # Five plies or seven, the same clock and position: only the clock key merges them.
    short, long = ["Nf3", "Nf6", "e4"], ["Nf3", "Nc6", "Ng1", "Nb8", "Nf3", "Nf6", "e4"]
    assert visit(clocked, short) is visit(clocked, long)
    assert visit(search, short) is not visit(search, long)
    tree = Search(chess.Board(), settings(backup="tree"), uniform)
    assert visit(tree, ["d4", "d5", "Nf3"]) is not visit(tree, ["Nf3", "d5", "d4"])


def test_a_clock_near_its_limit_enters_the_key() -> None:
    def key(board: chess.Board) -> reference.MergeKey:
        return Search(board, settings(backup="paper"), uniform).root.key

    fen = "4k3/8/8/8/8/8/8/4K2R w - - {} 60"
    assert key(chess.Board(fen.format(59))) == key(chess.Board(fen.format(3)))
    assert key(chess.Board(fen.format(60))) != key(chess.Board(fen.format(61)))
    house = "4k3/8/8/8/8/8/8/4K2R[] w - - {} 60"
    assert key(chess.variant.CrazyhouseBoard(house.format(90))) == key(
        chess.variant.CrazyhouseBoard(house.format(0))
    )


@pytest.mark.parametrize(
    ("board", "text"),
    [
        (chess.Board(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"),
        (
            chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
        ),
        (
            chess.Board("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3",
        ),
        (
            chess.variant.CrazyhouseBoard("r3k3/8/8/3Q~4/8/8/8/4K3[QPnpN] b - - 0 1"),
            "r3k3/8/8/3Q~4/8/8/8/4K3[PNQpn] b - -",
        ),
        (chess.variant.AtomicBoard("4k3/8/8/2KPp3/8/8/8/8 w - e6 0 1"), "4k3/8/8/2KPp3/8/8/8/8 w - e6"),
        (chess.variant.AtomicBoard("4k3/8/5K2/3Pp3/8/8/8/8 w - e6 0 1"), "4k3/8/5K2/3Pp3/8/8/8/8 w - -"),
        (chess.variant.CrazyhouseBoard(), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -"),
        (
            chess.Board("1r2k1r1/8/8/8/8/8/8/RR2K2R w BHg - 0 1", chess960=True),
            "1r2k1r1/8/8/8/8/8/8/RR2K2R w KBk -",
        ),
        (
            chess.variant.ThreeCheckBoard("4k3/8/8/8/8/8/8/4K2R w - - 1+3 0 1"),
            "4k3/8/8/8/8/8/8/4K2R w - - 1+3",
        ),
    ],
)
def test_canonical_text(board: chess.Board, text: str) -> None:
    assert canonical_text(board) == text


def test_move_codes() -> None:
    board = chess.Board("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1")
    codes = {move.uci(): move_code(board, move) for move in legal_moves(board)}
    assert codes["e1g1"] == chess.E1 | chess.H1 << 6
    assert codes["e1c1"] == chess.E1 | chess.A1 << 6
    assert codes["b7b8q"] == chess.B7 | chess.B8 << 6 | 4 << 12
    chess960 = chess.Board("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1", chess960=True)
    assert sorted(codes.values()) == [move_code(chess960, move) for move in legal_moves(chess960)]
    house = chess.variant.CrazyhouseBoard("4k3/8/8/8/8/8/8/4K3[PQ] w - - 0 1")
    assert move_code(house, chess.Move.from_uci("P@e4")) == chess.E4 << 6 | 8 << 12
    assert move_code(house, chess.Move.from_uci("Q@a1")) == 12 << 12


@pytest.mark.parametrize(
    ("board", "value"),
    [
        (chess.Board(), None),
        (chess.Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), -1.0),
        (chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), 0.0),
        (chess.Board("8/3k4/8/8/2N5/8/3K4/8 b - - 0 1"), 0.0),
        (chess.Board("8/3k4/8/8/2R5/8/3K4/8 b - - 99 90"), None),
        (chess.variant.CrazyhouseBoard("8/3k4/8/8/2N5/8/3K4/8[] b - - 0 1"), None),
        (chess.variant.CrazyhouseBoard("R5k1/5ppp/8/8/8/8/8/6K1[] b - - 0 1"), -1.0),
        (chess.variant.CrazyhouseBoard("R5k1/5ppp/8/8/8/8/8/6K1[n] b - - 0 1"), None),
        (chess.variant.AntichessBoard("8/8/8/8/8/8/8/4R3 b - - 0 1"), 1.0),
        (chess.variant.AntichessBoard("8/8/8/p7/P7/8/8/8 w - - 0 1"), 1.0),
        (chess.variant.KingOfTheHillBoard("4k3/8/8/8/4K3/8/8/8 b - - 0 1"), -1.0),
        (chess.variant.ThreeCheckBoard("4k3/8/8/8/8/8/8/4K2R b - - 0+3 0 1"), -1.0),
        (chess.variant.AtomicBoard("8/8/8/8/8/8/8/4K2R b - - 0 1"), -1.0),
        (chess.variant.RacingKingsBoard("6K1/8/8/8/8/8/k7/8 b - - 0 1"), -1.0),
        (chess.variant.HordeBoard("4k3/8/8/8/8/8/8/8 w - - 0 1"), -1.0),
    ],
)
def test_endings(board: chess.Board, value: float | None) -> None:
    assert ending(board, legal_moves(board)) == value
    root = Search(board, settings(), uniform).root
    assert (root.raw, root.is_terminal) == (value, value is not None)
    assert root.state is ({1.0: State.WIN, 0.0: State.DRAW, -1.0: State.LOSS, None: State.UNKNOWN}[value])


def test_threats() -> None:
    board = chess.Board("4k3/8/3q4/8/8/8/4P3/R3K2R w KQ - 0 1")
    threats = {board.san(m) for m in legal_moves(board) if is_threat(board, m)}
    assert {"Ra6", "Rd1", "Rh6"} == threats
    board = chess.Board("4k3/8/2pn4/8/8/8/5N2/4K3 w - - 0 1")
    assert not is_threat(board, board.parse_san("Nd3"))
    assert is_threat(board, board.parse_san("Ne4"))  # nothing guards the knight on d6


# Evaluators


def test_uniform_and_material_values() -> None:
    board = chess.Board()
    moves = legal_moves(board)
    assert uniform(board, moves) == (0.0, [0.0] * 20)
    value, logits = material(board, moves)
    assert value == reference.to_f32(10 / 410)
    assert logits == [0.0] * 20
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    moves = legal_moves(board)
    value, logits = material(board, moves)
    s = 100 + 10 - 900 - 10 + 10
    assert value == reference.to_f32(s / (abs(s) + 400))
    scores = {board.san(move): logit * 64 for move, logit in zip(moves, logits, strict=True)}
    assert scores["exd5"] == 64 + 144 - 4
    house = chess.variant.CrazyhouseBoard("4k3/8/8/8/8/5p2/8/K7[NP] w - - 0 1")
    moves = legal_moves(house)
    value, logits = material(house, moves)
    assert value == reference.to_f32((330 - 104 + 10) / 636)
    scores = {move.uci(): logit * 64 for move, logit in zip(moves, logits, strict=True)}
    assert (scores["N@e7"], scores["N@f6"], scores["N@g2"], scores["P@d7"]) == (24, 96, -64, 24 + 96)


def test_hash_values_come_from_the_text_alone() -> None:
    assert fnv1a(b"a") == 0xAF63DC4C8601EC8C
    board = chess.Board()
    value, logits = hash_evaluator(board, legal_moves(board))
    assert -1.0 <= value < 1.0
    assert len(set(logits)) == 20
    assert all(-2.0 <= x < 2.0 and x == reference.to_f32(x) for x in [value, *logits])
    board.halfmove_clock = 7
    assert hash_evaluator(board, legal_moves(board)) == (value, logits)


# Laws of a search


class Checked(Search):
    """A search that looks at its own laws after every batch."""

    def apply(self, batch: reference.MiniBatch) -> None:
        super().apply(batch)
        for node in self.graph.nodes():
            if node.is_evaluated and not node.is_terminal:
                assert identity_error(node) < 1e-9 * node.visits
                assert node.visits == 1 + sum(edge.visits for edge in node.edges)
                assert node.in_flight == sum(edge.in_flight for edge in node.edges)


@pytest.mark.parametrize("backup", EDGE_MODES)
@pytest.mark.parametrize("merge", ["ply", "clock"])
def test_edges_carry_the_whole_mass(backup: str, merge: str) -> None:
    board = chess.Board(ENDGAME)
    for stop in ("gap", "visits", "none") if backup in ("paper", "delta") else ("gap",):
        chosen = settings(
            backup=backup, merge=merge, stop=stop, urgency="reduction", solver=True, epsilon_greedy=0.1
        )
        search = Checked(board, chosen, hash_evaluator)
        search.run(simulations=400)
        assert search.statistics.simulations == 400
        assert all(-1.0 <= edge.q <= 1.0 for node in search.graph.nodes() for edge in node.edges)


@pytest.mark.parametrize("backup", ["naive", "paper", "delta", "recompute"])
@pytest.mark.parametrize("merge", ["ply", "clock"])
def test_no_cycle_and_nothing_left_in_flight(backup: str, merge: str) -> None:
    search = searched(
        chess.Board(ENDGAME), material, 500, backup=backup, merge=merge, urgency="reduction", stop="none"
    )
    assert search.statistics.transposition_links > 0
    order: dict[int, int] = {}
    stack: list[tuple[Node, bool]] = [(search.root, False)]
    on_path: set[int] = set()
    while stack:
        node, done = stack.pop()
        if done:
            on_path.discard(id(node))
            order[id(node)] = len(order)
            continue
        if id(node) in order:
            continue
        assert node.in_flight == 0
        assert not node.is_waiting
        on_path.add(id(node))
        stack.append((node, True))
        for edge in node.open_edges:
            assert edge.in_flight == 0
            assert id(edge.child) not in on_path
            stack.append((child_of(edge), False))


def test_recomputed_values_are_those_of_the_children() -> None:
    search = searched(
        chess.Board(ENDGAME), hash_evaluator, 300, backup="recompute", urgency="reduction", batch_size=1
    )
    for node in search.graph.nodes():
        assert (
            node.is_terminal or not node.is_evaluated or node.visits == 1 + sum(e.visits for e in node.edges)
        )
    root = search.root
    assert root.raw is not None
    mass = root.raw + sum(e.visits * e.q for e in root.edges)
    assert root.value == pytest.approx(mass / root.visits)
    # Only what changed off the path is stale; the naive control leaks much more.
    naive = searched(
        chess.Board(ENDGAME), hash_evaluator, 300, backup="naive", urgency="reduction", batch_size=1
    )
    assert edge_leak(search.graph) < edge_leak(naive.graph)


def test_trees_do_not_leak_and_cached_trees_evaluate_less() -> None:
    board = chess.Board(ENDGAME)
    tree = searched(board, material, 600, backup="tree", urgency="reduction")
    cached = searched(board, material, 600, backup="tree+cache", urgency="reduction")
    for search in (tree, cached):
        assert edge_leak(search.graph) < 1e-2  # path draws only
        assert not any(node.is_transposition for node in search.graph.nodes())
    assert cached.statistics.evaluations < tree.statistics.evaluations
    assert cached.statistics.stops > 0


def test_equal_leaves_of_a_batch_are_evaluated_once() -> None:
    calls: Counter[str] = Counter()

    def counting(board: chess.Board, moves: Any) -> tuple[float, list[float]]:
        calls[canonical_text(board) + str(board.ply())] += 1
        return uniform(board, moves)

    search = searched(chess.Board(ENDGAME), counting, 400, backup="paper", urgency="reduction")
    assert max(calls.values()) == 1
    assert sum(calls.values()) == search.statistics.evaluations
    tree = searched(chess.Board(ENDGAME), uniform, 400, backup="tree", urgency="reduction")
    assert tree.statistics.evaluations < tree.statistics.simulations


def test_limits() -> None:
    search = Search(chess.Board(), settings(), uniform)
    with pytest.raises(ValueError, match="limit"):
        search.run()
    search.run(evaluations=50)
    assert search.statistics.evaluations == 50
    search.run(simulations=37)
    assert search.statistics.simulations == search.root.visits
    one = searched(chess.Board(), uniform, 1)
    assert (one.root.visits, one.statistics.evaluations) == (1, 1)


def test_a_failing_evaluator_leaves_no_marks() -> None:
    calls = itertools.count()

    def failing(board: chess.Board, moves: Any) -> tuple[float, list[float]]:
        if next(calls) > 60:
            raise RuntimeError("no network")
        return uniform(board, moves)

    search = Search(chess.Board(), settings(backup="paper"), failing)
    with pytest.raises(RuntimeError, match="no network"):
        search.run(simulations=200)
    assert all(node.in_flight == 0 and not node.is_waiting for node in search.graph.nodes())
    search.evaluator = uniform
    search.run(simulations=100)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_seeds_reproduce(preset: str) -> None:
    def run(seed: int) -> list[object]:
        chosen = dataclasses.replace(PRESETS[preset], seed=seed, dirichlet_epsilon=0.25)
        search = Search(chess.variant.CrazyhouseBoard(), chosen, hash_evaluator)
        search.run(simulations=120)
        return graph(search)

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_noise_touches_the_root_once() -> None:
    search = searched(chess.Board(), uniform, 40, dirichlet_epsilon=0.5)
    priors = [edge.prior for edge in search.root.edges]
    assert len(set(priors)) > 1
    assert sum(priors) == pytest.approx(1.0, abs=0.01)
    assert search.root.priors == [to_f16(1 / 20)] * 20
    search.run(simulations=40)
    assert sorted(priors) == sorted(edge.prior for edge in search.root.edges)


def test_table_values_stand_in_for_unvisited_moves() -> None:
    search = Search(chess.Board(), settings(backup="paper", table_values=True), uniform)
    known = visit(search, ["d4", "d5", "Nf3"])
    board = chess.Board()
    for san in ("d4", "d5", "Nf3"):
        board.push_san(san)
    search.graph.expand(known, -0.5, [0.0] * len(known.moves), board)
    node = visit(search, ["Nf3", "d5"])
    board = chess.Board()
    board.push_san("Nf3")
    board.push_san("d5")
    search.graph.expand(node, *search.evaluate(node, board), board)
    assert select_edge(search.settings, search.graph, node, board).move == board.parse_san("d4")


@pytest.mark.parametrize("merge", ["ply", "clock"])
@pytest.mark.parametrize("preset", ["mcgs-combined", "alphazero+solver"])
def test_crazyhouse_and_all_variants_keep_the_laws(preset: str, merge: str) -> None:
    house = chess.variant.CrazyhouseBoard("r2k4/8/8/8/8/8/8/R2K4[Rr] w - - 0 1")
    boards = [house, chess.Board.from_chess960_pos(518), chess.Board.from_chess960_pos(0)]
    boards += [variant() for variant in chess.variant.VARIANTS]
    for board in boards:
        changes: dict[str, Any] = {"merge": merge, "urgency": "reduction", "epsilon_threats": 0.05}
        chosen = dataclasses.replace(PRESETS[preset], **changes)
        search = Checked(board, chosen, material)
        search.run(simulations=80)
        assert search.statistics.simulations == 80


# Solver


@pytest.mark.parametrize(
    ("board", "moves"),
    [
        (chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), 1),
        (chess.Board("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), 2),
        (chess.variant.CrazyhouseBoard("6k1/5ppp/8/8/8/8/8/6K1[R] w - - 0 1"), 1),
        (chess.variant.CrazyhouseBoard("r5k1/6pp/8/6N1/8/8/8/6K1[Q] w - - 0 1"), 2),
    ],
)
@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_solver_proves_mates(board: chess.Board, moves: int, backup: str) -> None:
    assert Judge().wins(board.copy(), 2 * moves - 1)
    assert not Judge().wins(board.copy(), 2 * moves - 3)
    search = searched(board, material, 20_000, backup=backup, solver=True, urgency="reduction")
    assert search.root.state is State.WIN
    assert search.root.end_in_ply is not None
    assert search.root.end_in_ply >= 2 * moves - 1
    best = search.best_move()
    after = board.copy()
    assert best is not None
    after.push(best)
    assert after.is_checkmate() if moves == 1 else not after.is_game_over()
    assert next(child_of(e).state for e in search.root.edges if e.move == best) is State.LOSS


def test_solver_rules() -> None:
    win, draw, loss, tb_win, tb_draw, tb_loss = (
        (State.WIN, 4),
        (State.DRAW, 2),
        (State.LOSS, 3),
        (State.TB_WIN, None),
        (State.TB_DRAW, None),
        (State.TB_LOSS, None),
    )
    assert solve([loss, (State.LOSS, 1), win], unknown=5) == (State.WIN, 2)
    assert solve([tb_loss, draw], unknown=5) == (State.TB_WIN, None)
    assert solve([win, draw], unknown=1) == (State.UNKNOWN, None)
    assert solve([win, (State.WIN, 6)], unknown=0) == (State.LOSS, 7)
    assert solve([win, draw, (State.DRAW, 8)], unknown=0) == (State.DRAW, 3)
    assert solve([win, tb_win], unknown=0) == (State.TB_LOSS, None)
    assert solve([draw, tb_win], unknown=0) == (State.TB_DRAW, None)
    assert solve([win, tb_draw], unknown=0) == (State.TB_DRAW, None)


def test_every_parent_learns_of_a_proof() -> None:
    board = chess.Board("6k1/1pp2ppp/8/8/8/8/8/R5K1 w - - 0 1")
    search = Search(board, settings(backup="paper", solver=True), uniform)
    shared = visit(search, ["Kg2", "b6", "Kg3", "c6"])
    assert visit(search, ["Kg2", "c6", "Kg3", "b6"]) is shared
    (one, edge), (other, other_edge) = shared.parents
    assert one is not other
    assert (edge.pruned, other_edge.pruned) == (False, False)
    mated = visit(search, ["Kg2", "b6", "Kg3", "c6", "Ra8#"])
    assert (mated.state, mated.end_in_ply) == (State.LOSS, 0)
    assert (shared.state, shared.end_in_ply) == (State.WIN, 1)
    assert (edge.pruned, other_edge.pruned) == (True, True)
    assert (one.state, other.state) == (State.UNKNOWN, State.UNKNOWN)


def test_a_lost_position_takes_the_longest_way() -> None:
    # Black to move is mated whatever it does; the proof reaches the root.
    board = chess.Board("k7/8/1K6/8/8/8/8/7R b - - 0 1")
    search = searched(board, material, 2000, backup="paper", solver=True)
    assert (search.root.state, search.root.end_in_ply) == (State.LOSS, 2)
    assert search.best_move() == chess.Move.from_uci("a8b8")
    assert all(edge.pruned for edge in search.root.edges)


def test_solver_off_proves_and_prunes_nothing() -> None:
    search = searched(chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), material, 200, solver=False)
    assert search.root.state is State.UNKNOWN
    assert not any(edge.pruned for node in search.graph.nodes() for edge in node.edges)
    assert search.statistics.terminals > 0
    assert search.best_move() == chess.Move.from_uci("a1a8")


def test_tablebase_states_spread_and_are_searched_on() -> None:
    def probe(board: chess.Board) -> int | None:
        if chess.popcount(board.occupied) > 3:
            return None
        return 1 if board.turn == chess.WHITE else -1

    # Kxe4 leaves rook and king against king, with clock 0.
    board = chess.Board("8/8/8/1k6/4n3/4K3/8/7R w - - 5 60")
    search = Search(board, settings(backup="paper", solver=True), material, tablebase=probe)
    search.run(simulations=200)
    assert search.root.state is State.TB_WIN
    taken = next(child_of(e) for e in search.root.open_edges if e.move == chess.Move.from_uci("e3e4"))
    assert taken.state is State.TB_LOSS
    assert taken.is_evaluated
    assert taken.visits > 1


# Exploration


class Watched(Search):
    """A search that remembers the trajectories it backed up, and guards the nodes above an exploration."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self.seen: list[Trajectory] = []
        super().__init__(*args, **more)

    def back_up(self, trajectory: Trajectory, v: float) -> None:
        self.seen.append(trajectory)
        touched = {id(node) for node, _ in trajectory.path}
        before = {id(n): (n.visits, n.value, n.in_flight) for n in self.graph.nodes() if id(n) not in touched}
        super().back_up(trajectory, v)
        after = {id(n): (n.visits, n.value, n.in_flight) for n in self.graph.nodes() if id(n) not in touched}
        assert before == after


@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_exploration_leaves_ancestors_untouched(backup: str) -> None:
    search = Watched(chess.Board(), settings(backup=backup, epsilon_greedy=0.5, seed=4), material)
    search.run(simulations=200)
    explorations = [t for t in search.seen if t.is_exploration]
    assert len(explorations) == search.statistics.explorations > 50
    deep = [t for t in explorations if t.path[0][0] is not search.root]
    assert deep
    assert search.root.visits == 200 - len(deep)


def test_exploration_takes_checks_captures_and_threats_first() -> None:
    board = chess.Board("4k3/r7/8/8/8/8/1P6/R3K2R w - - 0 1")
    for constraint, wanted in (("checks", "h1h8"), ("captures", "a1a7")):
        search = Search(board, settings(), uniform)
        search.run(simulations=1)
        edge = branch_edge(search.root, search.board, constraint, search.random)  # type: ignore[arg-type]
        assert edge is not None
        assert edge.move.uci() == wanted
    search = Search(board, settings(), uniform)
    search.run(simulations=1)
    visit(search, ["Rxa7"])
    edge = branch_edge(search.root, search.board, "captures", search.random)
    assert edge is search.root.unopened_edges[0]
    assert "captures" in search.root.exhausted


def test_fully_opened_branch_draws_an_unsolved_edge() -> None:
    board = chess.Board("k7/8/1K6/8/8/8/8/7R b - - 0 1")
    search = searched(board, uniform, 30)
    assert not search.root.unopened_edges
    state = search.random.state
    assert branch_edge(search.root, search.board, "greedy", search.random) is search.root.edges[0]
    assert search.random.state != state


# Draws of the path


@pytest.mark.parametrize("backup", ["tree", "paper", "delta", "recompute"])
@pytest.mark.parametrize("fen", [BLOCKED, BLOCKED.replace(" 0 1", " 95 80")])
def test_path_draws_stay_on_the_path(backup: str, fen: str) -> None:
    search = Watched(
        chess.Board(fen),
        settings(backup=backup, solver=True, q_init=0.0, merge="clock"),
        lambda board, moves: (0.5 if board.turn else -0.5, [0.0] * len(moves)),
    )
    search.run(simulations=600)
    assert search.statistics.path_draws > 0
    for trajectory in search.seen:
        if trajectory.end is End.PATH_DRAW:
            drawn = trajectory.last
            assert drawn.state is State.UNKNOWN
            assert not drawn.is_evaluated or drawn.raw in (0.5, -0.5)
    assert all(node.state is State.UNKNOWN for node in search.graph.nodes())
    assert all(node.visits == 0 or node.raw in (0.5, -0.5) for node in search.graph.nodes())


def test_game_history_counts_twice_before_the_root() -> None:
    board = chess.Board()
    for _ in range(2):
        for san in ("Nf3", "Nf6", "Ng1", "Ng8"):
            board.push_san(san)
    search = Search(board, settings(backup="paper"), uniform)
    assert search.history[canonical_text(chess.Board())] == 2
    board.pop()
    # Black to move: Ng8 reaches a position seen twice before; the third time is a draw.
    search = Search(board, settings(backup="paper"), uniform)
    child = visit(search, ["Ng8"])
    after = board.copy(stack=False)
    after.push_san("Ng8")
    walk = reference.Walk(search.root, after, {search.root.position}, search.history, 100)
    assert walk.is_path_draw(child)
    bare = Search(board.copy(stack=False), settings(backup="paper"), uniform)
    assert not dataclasses.replace(walk, history=bare.history).is_path_draw(child)


# Reuse and choice


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "paper"])
def test_advance_keeps_what_is_below(backup: str) -> None:
    search = searched(chess.Board(), material, 300, backup=backup, urgency="reduction")
    edge = max(search.root.edges, key=lambda e: e.visits)
    child, before = child_of(edge), len(list(search.graph.nodes()))
    old_root = search.root
    search.advance(edge.move)
    assert search.root is child
    assert search.history[old_root.position] == 1
    kept = {id(node) for node in search.graph.nodes()}
    assert len(kept) < before
    assert all(id(parent) in kept for node in search.graph.nodes() for parent, _ in node.parents)
    assert all(id(node) in kept for node in search.graph.table.values())
    visits = child.visits
    search.run(simulations=50)
    assert search.root.visits == visits + 50
    with pytest.raises(ValueError, match="not legal"):
        search.advance(edge.move)


def test_a_search_goes_on_where_the_history_breaks_a_proof() -> None:
    """Mate in two, but the position after its key has been there twice."""
    board = chess.Board("8/k1K5/5p2/3N4/6Q1/8/8/8 b - - 0 90")
    for move in ("a7a6", "c7d6", "a6a7", "d6c7", "a7a6", "c7d6", "a6a7"):
        board.push_uci(move)
    settings = dataclasses.replace(PRESETS["mcgs-combined"], urgency="reduction")
    other = Search(board.copy(stack=False), settings, material)
    other.run(simulations=20_000)
    assert (other.root.state, other.root.end_in_ply) == (State.WIN, 3)
    assert other.stands()
    search = Search(board, settings, material)
    search.graph = other.graph  # a graph from before the repetitions
    assert not search.stands()
    search.run(simulations=300)
    assert search.doubts == 1
    assert search.root is not other.root
    assert search.statistics.simulations == 300 or (search.root.state is State.WIN and search.stands())
    assert search.best_move() != chess.Move.from_uci("d6c7")


def test_advance_to_an_unknown_move_starts_anew() -> None:
    search = searched(chess.Board(), uniform, 1, seed=9)
    search.advance(chess.Move.from_uci("a2a3"))
    assert search.root.visits == 0
    assert search.random.state == 9
    assert not search.board.move_stack
    search.run(simulations=10)
    best = search.best_move()
    assert best is not None
    assert best in search.board.legal_moves


def test_best_move_by_chooser_and_temperature() -> None:
    search = searched(chess.Board(), uniform, 30, chooser="q")
    first, second = search.root.edges[:2]
    for edge in search.root.edges:
        edge.visits = 0
    first.visits, first.q, second.visits, second.q = 60, 0.0, 40, 0.2
    assert search.best_move() == second.move
    search.settings = settings(chooser="visits")
    assert search.best_move() == first.move
    search.settings = settings(chooser="lcb")
    assert search.best_move() == second.move
    search.settings = settings(chooser="linear")
    assert search.best_move() == second.move
    picks: Counter[chess.Move | None] = Counter()
    for seed in range(400):
        search.settings = settings(temperature=1.0, seed=seed)
        picks[search.best_move()] += 1
    assert picks[first.move] / 400 == pytest.approx(0.6, abs=0.08)


def test_best_move_without_a_search() -> None:
    assert Search(chess.Board(), settings(), uniform).best_move() == legal_moves(chess.Board())[0]
    assert Search(chess.Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), settings(), uniform).best_move() is None


def test_presets() -> None:
    assert PRESETS["alphazero"] == ReferenceSettings()
    combined = PRESETS["mcgs-combined"]
    assert (combined.backup, combined.stop, combined.q_epsilon, combined.solver) == (
        "paper",
        "gap",
        0.01,
        True,
    )
    assert (combined.epsilon_greedy, combined.epsilon_checks, combined.chooser) == (0.01, 0.01, "q")
