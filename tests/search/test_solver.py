"""What the solver claims, against searches that know nothing but the rules of python-chess."""

from collections import defaultdict
from typing import Any

import chess
import chess.variant
import pytest
from tests.support.judge import Judge
from tests.support.proofs import proof_of

from anabranch import Engine, reference
from anabranch.graph import GraphEdge, SearchGraph
from anabranch.result import Result, board_of

pytestmark = pytest.mark.usefixtures("material_by_default")

# Variant, position with White to move, moves to mate.
MATES = [
    ("chess", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1),
    ("chess", "1k6/6B1/1K6/2R5/8/8/8/8 w - - 0 1", 2),
    ("chess", "8/k7/3K1p2/3N4/6Q1/8/8/8 w - - 0 1", 2),
    ("chess", "8/k2P4/8/K7/8/8/1b1R4/8 w - - 0 1", 3),
    ("chess", "7k/5B1n/1Q2K3/8/8/8/8/8 w - - 0 1", 3),
    ("chess", "8/k4p2/2K5/8/4n3/8/1B6/1R6 w - - 0 1", 4),
    ("chess", "7k/r7/5K2/8/P7/6Q1/8/8 w - - 0 1", 4),
    ("crazyhouse", "6k1/5ppp/8/8/8/8/5PPP/6K1[R] w - - 0 1", 1),
    ("crazyhouse", "1k6/8/1K6/8/1R5p/8/8/8[BN] w - - 0 1", 2),
    ("crazyhouse", "1k6/3R4/3K4/8/8/8/8/3B4[NP] w - - 0 1", 2),
    ("crazyhouse", "7k/B3K3/8/8/8/8/8/6N1[B] w - - 0 1", 3),
    ("crazyhouse", "k7/8/8/5B1R/1K6/8/8/8[NP] w - - 0 1", 3),
    ("crazyhouse", "1k4n1/3R4/1n1N4/8/7K/8/8/8[B] w - - 0 1", 4),
    ("crazyhouse", "6k1/8/K7/8/3B4/4R3/1p3p2/8[RP] w - - 0 1", 4),
]
IDS = [f"{variant}-{moves}-{position.split()[0]}" for variant, position, moves in MATES]


def searched(
    variant: str, position: str, simulations: int = 60_000, **settings: Any
) -> tuple[Engine, Result]:
    engine = Engine(variant, preset="mcgs-combined", **{"urgency": "reduction", **settings})
    return engine, engine.search(position, simulations=simulations)


def assert_played_out(result: Result, variant: str, state: str) -> None:
    """The first line has the claimed length and ends the game as claimed."""
    line = result.lines[0]
    assert len(line.moves) == proof_of(result).plies
    board = board_of(variant, result.position, False)
    for move in line.moves:
        assert reference.ending(board, list(board.legal_moves)) is None
        board.push(board.parse_uci(move))
    value = reference.ending(board, list(board.legal_moves))
    if state == "draw":
        assert value == 0.0
    else:
        assert value == -1.0
        assert (len(line.moves) % 2 == 1) == (state == "win")


@pytest.mark.parametrize(("variant", "position", "moves"), MATES, ids=IDS)
def test_mates_are_proven_and_improved_to_the_true_distance(variant: str, position: str, moves: int) -> None:
    _, result = searched(variant, position)
    assert proof_of(result).state == "win"
    assert (proof_of(result).mate or 0) >= moves
    assert result.value == 1.0
    assert_played_out(result, variant, "win")
    _, best = searched(variant, position, improve=True)
    assert (proof_of(best).state, proof_of(best).mate, proof_of(best).exact) == ("win", moves, True)
    assert proof_of(best).plies == 2 * moves - 1
    assert_played_out(best, variant, "win")
    board, judge = board_of(variant, position, False), Judge()
    if moves <= 3:
        assert judge.wins(board, 2 * moves - 1)
    assert not judge.wins(board, 2 * min(moves - 1, 2) - 1)
    # The first move keeps the distance.
    board.push(board.parse_uci(best.best_move))
    if moves <= 3:
        assert judge.loses(board, 2 * moves - 2)


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
def test_every_backup_mode_proves(backup: str) -> None:
    for variant, position, moves in MATES[:3] + MATES[7:9]:
        _, result = searched(variant, position, backup=backup)
        assert proof_of(result).state == "win"
        assert (proof_of(result).mate or 0) >= moves


def test_a_limit_by_mate_ends_with_the_mate_asked_for() -> None:
    engine = Engine()
    result = engine.search("8/k2P4/8/K7/8/8/1b1R4/8 w - - 0 1", mate=3)
    assert proof_of(result).mate == 3


LOST = [
    ("chess", "k7/8/1K6/8/8/8/8/7R b - - 0 1", 2),
    ("chess", "8/k1K5/5p2/3N4/6Q1/8/8/8 b - - 0 1", 2),
    ("chess", "7k/5B1n/4K3/8/8/8/1Q6/8 b - - 0 1", 4),
    ("chess", "8/8/4R3/Q7/2k5/8/1K6/8 b - - 0 1", 4),  # the first move in the list loses faster
    ("crazyhouse", "k7/7R/8/5B2/1K6/8/8/8[NP] b - - 0 1", 4),
]


@pytest.mark.parametrize(("variant", "position", "plies"), LOST, ids=[row[1].split()[0] for row in LOST])
def test_lost_roots(variant: str, position: str, plies: int) -> None:
    _, result = searched(variant, position)
    assert proof_of(result).state == "loss"
    assert (proof_of(result).plies or 0) >= plies
    assert result.value == -1.0
    assert all(row.state == "loss" for row in result.moves)
    lengths = {row.move: row.plies or 0 for row in result.moves}
    assert lengths[result.best_move] == max(lengths.values()) == proof_of(result).plies
    assert_played_out(result, variant, "loss")
    _, best = searched(variant, position, improve=True)
    assert (proof_of(best).state, proof_of(best).plies, proof_of(best).exact) == ("loss", plies, True)
    assert_played_out(best, variant, "loss")
    board, judge = board_of(variant, position, False), Judge()
    assert judge.loses(board, plies)
    assert not judge.loses(board, plies - 2)


DRAWN = [
    ("chess", "k7/2Q5/8/8/8/8/6q1/7K w - - 0 1", "the only move stalemates"),
    ("chess", "7k/8/8/8/8/8/1q6/K7 w - - 0 1", "the only move leaves bare kings"),
]


@pytest.mark.parametrize(("variant", "position", "why"), DRAWN, ids=[row[2] for row in DRAWN])
def test_drawn_roots(variant: str, position: str, why: str) -> None:
    _, result = searched(variant, position)
    assert result.solved is not None, why
    assert (proof_of(result).state, proof_of(result).plies, result.value) == ("draw", 1, 0.0)
    assert_played_out(result, variant, "draw")


# Every solved node

ANTICHESS = ["8/1p6/8/8/8/8/P7/8 w - - 0 1", "8/2p5/8/8/8/8/P7/8 w - - 0 1", "8/5p2/8/8/8/2P5/8/8 w - - 0 1"]


def outgoing(graph: SearchGraph) -> dict[int, list[GraphEdge]]:
    edges: dict[int, list[GraphEdge]] = defaultdict(list)
    for edge in graph.edges:
        edges[edge.source].append(edge)
    return edges


def assert_proven(graph: SearchGraph, variant: str) -> dict[str, int]:
    """Every verdict follows from its children, and every end of a game from the rules: so all are true."""
    edges = outgoing(graph)
    counts: dict[str, int] = defaultdict(int)
    for node in graph.nodes:
        if node.state == "unknown":
            continue
        counts[node.state] += 1
        board = board_of(variant, node.position, False)
        moves = list(board.legal_moves)
        ending = reference.ending(board, moves)
        if ending is not None:
            assert {"win": 1.0, "draw": 0.0, "loss": -1.0}[node.state] == ending
            assert node.plies == 0
            continue
        children = {edge.move: graph.nodes[edge.target] for edge in edges[node.id]}
        lengths: dict[str, list[int]] = {"win": [], "draw": [], "loss": [], "unknown": []}
        for child in children.values():
            lengths[child.state].append(child.plies or 0)
        if node.state == "win":
            assert node.plies == 1 + min(lengths["loss"])
            continue
        assert len(children) == len(moves)
        assert not lengths["loss"]
        assert not lengths["unknown"]
        assert node.plies == 1 + (min(lengths["draw"]) if node.state == "draw" else max(lengths["win"]))
        assert bool(lengths["draw"]) == (node.state == "draw")
    return counts


@pytest.mark.parametrize(
    ("variant", "position"),
    [
        *(("antichess", position) for position in ANTICHESS),
        ("chess", "8/k2P4/8/K7/8/8/1b1R4/8 w - - 0 1"),
        ("chess", "8/8/8/8/8/p1k5/8/K7 b - - 0 1"),
        ("chess", "8/8/8/3k4/8/8/4R3/4K2R w - - 0 1"),
        ("crazyhouse", "1k1K4/3p4/8/8/8/1P6/8/3N4[RP] w - - 0 1"),
        ("atomic", "4k3/3p4/8/8/8/8/8/R3K2Q w - - 0 1"),
        ("3check", "4k3/8/8/8/8/8/4P3/R2QK2R w KQ - 2+2 0 1"),
        ("kingofthehill", "8/8/8/7k/8/3p4/2K5/8 w - - 0 1"),
        ("racingkings", "8/1K5k/8/8/8/8/8/4R3 w - - 0 1"),
    ],
)
@pytest.mark.parametrize("backup", ["tree", "paper"])
def test_every_verdict_follows_from_the_rules(variant: str, position: str, backup: str) -> None:
    engine, _ = searched(variant, position, 4000, backup=backup, epsilon_greedy=0.05)
    counts = assert_proven(engine.graph(visits=0, nodes=10**9), variant)
    assert sum(counts.values()) > 0, counts


@pytest.mark.parametrize("position", ANTICHESS)
def test_minimax_of_whole_games_agrees(position: str) -> None:
    """Pawn endings of antichess, played to every end."""
    known: dict[str, float | None] = {}

    def minimax(board: chess.Board, depth: int) -> float | None:
        """The value, or None where games go on beyond the depth."""
        moves = list(board.legal_moves)
        ending = reference.ending(board, moves)
        if ending is not None:
            return ending
        if depth == 0:
            return None
        key = f"{reference.canonical_text(board)} {depth}"
        if key not in known:
            values = []
            for move in moves:
                board.push(move)
                values.append(minimax(board, depth - 1))
                board.pop()
            sure = [-value for value in values if value is not None]
            known[key] = 1.0 if 1.0 in sure else max(sure) if len(sure) == len(values) else None
        return known[key]

    engine, _ = searched("antichess", position, 4000)
    compared = 0
    for node in engine.graph(visits=0, nodes=10**9).nodes:
        if node.plies is None or node.plies > 4:
            continue
        value = minimax(chess.variant.AntichessBoard(node.position), node.plies)
        if value is not None:
            assert {"win": 1.0, "draw": 0.0, "loss": -1.0}[node.state] == value, node
            compared += 1
    assert compared > 3


@pytest.mark.parametrize(
    ("variant", "position"),
    [
        ("chess", "8/k2P4/8/K7/8/8/1b1R4/8 w - - 0 1"),
        ("chess", "7k/8/5K2/8/8/8/8/R6R b - - 0 1"),
        ("crazyhouse", "1k4n1/3R4/1n1N4/8/7K/8/8/8[B] w - - 0 1"),
    ],
)
def test_exhaustive_search_agrees_on_wins_and_losses(variant: str, position: str) -> None:
    engine, _ = searched(variant, position, 3000)
    judge = Judge()
    compared = {"win": 0, "loss": 0}
    for node in engine.graph(visits=0, nodes=10**9).nodes:
        if node.plies is None or node.plies > (3 if variant == "chess" else 2):
            continue
        if node.state not in compared or compared[node.state] >= 40:
            continue
        board = board_of(variant, node.position, False)
        claim = judge.wins if node.state == "win" else judge.loses
        assert claim(board, node.plies), node
        compared[node.state] += 1
    assert all(compared.values()), compared


def test_a_proof_reaches_every_parent() -> None:
    engine, _ = searched(
        "chess", "8/8/8/3k4/8/8/4R3/4K2R w - - 0 1", 20_000, urgency="reduction", merge="ply"
    )
    graph = engine.graph(visits=0, nodes=10**9)
    arrivals: dict[int, list[GraphEdge]] = defaultdict(list)
    for edge in graph.edges:
        arrivals[edge.target].append(edge)
    shared = 0
    for node in graph.nodes:
        if node.state == "unknown" or len({edge.source for edge in arrivals[node.id]}) < 2:
            continue
        shared += 1
        exact = {"win": -1.0, "draw": 0.0, "loss": 1.0}[node.state]
        for edge in arrivals[node.id]:
            assert edge.child_value == exact
            assert edge.pruned == (node.state == "win")
            parent = graph.nodes[edge.source]
            if node.state == "loss":
                assert parent.state == "win"
                assert parent.plies is not None
                assert node.plies is not None
                assert parent.plies <= node.plies + 1
    assert shared > 5


def test_solver_off_proves_nothing_but_ends_of_games() -> None:
    engine = Engine(preset="mcgs")
    result = engine.search(MATES[1][1], simulations=3000)
    assert result.solved is None
    assert all(
        node.state == "unknown" or node.legal == 0 for node in engine.graph(visits=0, nodes=10**9).nodes
    )


# History

KEY = "8/k7/3K1p2/3N4/6Q1/8/8/8 w - - 0 1"
THERE_AND_BACK = "d6c7 a7a8 c7d6 a8a7"


def test_there_is_one_key() -> None:
    judge, board = Judge(), chess.Board(KEY)
    keys = []
    for move in list(board.legal_moves):
        board.push(move)
        if judge.loses(board, 2):
            keys.append(move.uci())
        board.pop()
    assert keys == ["d6c7"]


@pytest.mark.parametrize("merge", ["ply", "clock"])
@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_a_mate_that_a_repetition_spoils_is_not_claimed(merge: str, backup: str) -> None:
    """After the key the position would stand on the board for the third time."""
    settings: dict[str, Any] = {"merge": merge, "backup": backup, "improve": True}
    for rounds, claims in ((0, True), (1, True), (2, False)):
        history = " ".join([THERE_AND_BACK] * rounds)
        engine, result = searched("chess", f"{KEY} moves {history}", 20_000, **settings)
        short = result.solved is not None and result.solved.plies == 3
        assert short == claims, rounds
        if claims:
            assert result.best_move == "d6c7"
            continue
        key = next(row for row in result.moves if row.move == "d6c7")
        assert (key.state, key.draws + key.explored) == ("unknown", key.visits)
        assert key.q in (None, 0.0)
        assert result.best_move != "d6c7"
        if result.solved is not None:  # a longer way that repeats nothing
            assert proof_of(result).state == "win"
            board = engine.board()
            for move in result.lines[0].moves:
                board.push_uci(move)
                assert not board.is_repetition(3)
            assert board.is_checkmate()


@pytest.mark.parametrize(("clock", "claims"), [(0, True), (90, True), (97, True), (98, False), (99, False)])
def test_a_mate_that_comes_too_late_is_not_claimed(clock: int, claims: bool) -> None:
    """Mate in two takes three plies; a mate on the last one counts."""
    position = f"1k6/6B1/1K6/2R5/8/8/8/8 w - - {clock} 90"
    for improve in (False, True):
        _, result = searched("chess", position, 3000, improve=improve)
        assert (result.solved is not None and result.solved.state == "win") == claims
        if not claims:
            assert result.solved is None or result.solved.state == "draw"
            assert abs(result.value) < 0.8


@pytest.mark.parametrize(("clock", "claims"), [(0, True), (98, True), (99, False)])
def test_a_loss_that_comes_too_late_is_not_claimed(clock: int, claims: bool) -> None:
    _, result = searched("chess", f"k7/8/1K6/8/8/8/8/7R b - - {clock} 90", 2000)
    assert (result.solved is not None and result.solved.state == "loss") == claims
    if not claims:
        assert result.value > -0.5


def test_a_zeroing_move_saves_the_mate() -> None:
    _, result = searched("chess", "8/k2P4/8/K7/8/8/1b1R4/8 w - - 99 90", improve=True)
    assert proof_of(result).mate == 3


def test_draws_of_a_path_prove_nothing() -> None:
    """Blocked pawns and two walking kings: every end is a draw of its path, and nothing is proven."""
    engine, result = searched(
        "chess", "8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 w - - 0 1", 20_000, urgency="reduction"
    )
    assert result.statistics.path_draws > 1000
    assert result.solved is None
    graph = engine.graph(visits=0, nodes=10**9)
    assert all(node.state == "unknown" for node in graph.nodes)
    assert result.statistics.solved_nodes == 0
    # Near the limit as well, where every line soon ends by the count.
    engine, result = searched("chess", "8/8/4k3/p1p1p1p1/P1P1P1P1/8/4K3/8 w - - 96 90", 20_000)
    assert result.statistics.path_draws > 100
    assert result.solved is None
    assert all(node.state == "unknown" for node in engine.graph(visits=0, nodes=10**9).nodes)
