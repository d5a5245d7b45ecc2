"""The core against the reference: the same visits and values, edge by edge, over presets, modes and seeds."""

import dataclasses
import random
from collections.abc import Hashable, Sequence
from typing import Any

import chess
import chess.variant
import pytest

from anabranch import _core
from anabranch import reference as ref
from anabranch.reference import evaluators

TOLERANCE = 1e-6


def remembering(evaluate: ref.ReferenceEvaluator) -> ref.ReferenceEvaluator:
    """Searches with other settings meet the same positions; what is thought of them is worked out once."""
    known: dict[Hashable, tuple[float, Sequence[float]]] = {}

    def look_up(board: chess.Board, moves: Sequence[chess.Move]) -> tuple[float, Sequence[float]]:
        key = type(board), board.chess960, board._transposition_key()
        if key not in known:
            known[key] = evaluate(board, moves)
        return known[key]

    return look_up


EVALUATORS = {
    "uniform": remembering(evaluators.uniform),
    "material": remembering(evaluators.material),
    "hash": remembering(evaluators.hash_evaluator),
}


def random_board(variant: str, seed: int, plies: int) -> chess.Board:
    """A position some random moves into a game, its history included."""
    rng = random.Random(seed)
    board: chess.Board = chess.variant.CrazyhouseBoard() if variant == "crazyhouse" else chess.Board()
    if variant == "chess960":
        board = chess.Board.from_chess960_pos(rng.randrange(960))
    for _ in range(plies):
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        if not moves:
            break
        board.push(rng.choice(moves))
    if board.is_game_over():
        board.pop()
        board.pop()
    return board


def core_graph(
    board: chess.Board, settings: dict[str, Any], rounds: list[int], moves: list[str]
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    variant = "crazyhouse" if isinstance(board, chess.variant.CrazyhouseBoard) else "chess"
    session = _core.Session(variant, board.chess960, settings, False)
    root = board.root()
    played = [move.uci() for move in board.move_stack]
    session.set_position(root.fen(), played)
    for index, simulations in enumerate(rounds):
        session.run(simulations=simulations)
        if index < len(moves):
            session.play(moves[index])
    nodes, edges = session.export(None, 0, 10**9)
    assert session.in_flight_marks() == 0
    return session.report(1), nodes, edges


def compare(
    node: ref.Node,
    number: int,
    nodes: list[dict[str, Any]],
    children: dict[int, dict[str, dict[str, Any]]],
    seen: dict[int, int],
) -> int:
    """Walks both graphs at once; returns the number of edges compared."""
    pending = [(node, number)]
    edges = 0
    while pending:
        expected, number = pending.pop()
        if id(expected) in seen:
            assert seen[id(expected)] == number
            continue
        seen[id(expected)] = number
        actual = nodes[number]
        assert actual["visits"] == expected.visits
        assert actual["state"] == expected.state.name.lower()
        if expected.is_evaluated:
            assert abs(actual["value"] - expected.value) < TOLERANCE
            assert abs(actual["raw"] - expected.raw) < TOLERANCE
        assert actual["transposition"] == expected.is_transposition
        if expected.state.name in ("WIN", "DRAW", "LOSS"):
            assert actual["plies"] == expected.end_in_ply
        outgoing = children.get(number, {})
        opened = [
            edge
            for edge in expected.edges[: expected.opened]
            if edge.child is not None and edge.child.visits > 0
        ]
        for edge in opened:
            text = edge.move.uci()
            other = outgoing[text]
            assert other["visits"] == edge.visits, text
            assert abs(other["q"] - edge.q) < TOLERANCE or edge.visits == 0, text
            assert abs(other["prior"] - edge.prior) < TOLERANCE, text
            assert other["pruned"] == edge.pruned, text
            edges += 1
            assert edge.child is not None
            pending.append((edge.child, other["target"]))
    return edges


def check(
    board: chess.Board, evaluator: str, settings: dict[str, Any], rounds: list[int], advance: bool = False
) -> int:
    search = ref.Search(
        board, dataclasses.replace(ref.ReferenceSettings(), **settings), EVALUATORS[evaluator]
    )
    moves = []
    for index, simulations in enumerate(rounds):
        search.run(simulations=simulations)
        if advance and index + 1 < len(rounds):
            move = search.best_move()
            assert move is not None
            moves.append(move.uci())
            search.advance(move)
    report, nodes, edges = core_graph(board, {**settings, "evaluator": evaluator}, rounds, moves)
    children: dict[int, dict[str, dict[str, Any]]] = {}
    for edge in edges:
        children.setdefault(edge["source"], {})[edge["move"]] = edge
    seen: dict[int, int] = {}
    compared = compare(search.root, 0, nodes, children, seen)
    best = search.best_move()
    assert report["best_move"] == (best.uci() if best else None)
    statistics = report["statistics"]
    if not advance:
        counts = "simulations evaluations transposition_links corrections stops collisions explorations"
        for name in [*counts.split(), "path_draws", "terminals"]:
            assert statistics[name] == getattr(search.statistics, name), name
    if settings["backup"] not in ("tree", "tree+cache"):
        assert abs(statistics["leak"] - ref.edge_leak(search.graph)) < TOLERANCE
        assert abs(statistics["node_leak"] - ref.node_leak(search.graph)) < TOLERANCE
    return compared


def preset(name: str, **changes: Any) -> dict[str, Any]:
    return dataclasses.asdict(ref.PRESETS[name]) | changes


@pytest.mark.parametrize("name", list(ref.PRESETS))
@pytest.mark.parametrize("variant", ["chess", "crazyhouse", "chess960"])
def test_presets(name: str, variant: str) -> None:
    compared = 0
    for seed, (evaluator, plies) in enumerate([("material", 12), ("hash", 30), ("uniform", 6), ("hash", 61)]):
        board = random_board(variant, 100 * seed + 7, plies)
        compared += check(board, evaluator, preset(name, seed=seed), [200])
    assert compared > 350


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
@pytest.mark.parametrize("stop", ["gap", "visits", "none"])
def test_backup_modes_and_stop_rules(backup: str, stop: str) -> None:
    for seed, merge in enumerate(["ply", "clock"]):
        more = {"stop": stop, "merge": merge, "seed": seed, "epsilon_greedy": 0.1, "epsilon_checks": 0.1}
        settings = preset("mcgs-combined", backup=backup, **more)
        check(random_board("chess", 40 + seed, 50), "hash", settings, [250])
        check(random_board("crazyhouse", 50 + seed, 30), "material", settings, [160])


@pytest.mark.parametrize("seed", range(12))
def test_random_settings(seed: int) -> None:
    rng = random.Random(seed)
    settings = preset("mcgs-combined") | {
        "backup": rng.choice(["tree", "tree+cache", "naive", "paper", "delta", "recompute"]),
        "stop": rng.choice(["gap", "visits", "none"]),
        "merge": rng.choice(["ply", "clock"]),
        "solver": rng.random() < 0.7,
        "batch_size": rng.choice([1, 2, 7, 16, 64]),
        "batches_in_flight": rng.choice([1, 2]),
        "width_visits": rng.choice([0, 1, 5, 40]),
        "batch_collisions": rng.choice([1, 4, 16]),
        "virtual_mode": rng.choice(["loss", "visit"]),
        "virtual_loss": rng.choice([0.5, 1.0, 3.0]),
        "urgency": rng.choice(["fixed", "reduction"]),
        "urgency_reduction": rng.choice([0.0, 0.25]),
        "table_values": rng.random() < 0.2,
        "node_temperature": rng.choice([0.7, 1.0, 1.7, 3.0]),
        "c_init": rng.choice([0.8, 2.5]),
        "epsilon_greedy": rng.choice([0.0, 0.01, 0.3]),
        "epsilon_checks": rng.choice([0.0, 0.01, 0.3]),
        "epsilon_captures": rng.choice([0.0, 0.1]),
        "epsilon_threats": rng.choice([0.0, 0.1]),
        "dirichlet_epsilon": rng.choice([0.0, 0.25]),
        "chooser": rng.choice(["visits", "q", "linear", "lcb"]),
        "temperature": rng.choice([0.0, 0.0, 1.0]),
        "q_epsilon": rng.choice([0.0, 0.01, 0.1]),
        "contempt": rng.choice([0.0, 0.0, 0.3, -0.5]),
        "seed": rng.randrange(2**63),
    }  # fmt: skip
    variant = rng.choice(["chess", "crazyhouse", "chess960"])
    board = random_board(variant, seed, rng.choice([4, 20, 60, 120]))
    check(board, rng.choice(["material", "hash", "uniform"]), settings, [rng.choice([150, 300])])


@pytest.mark.parametrize("width_visits", [1, 3, 16, 64, 1000])
@pytest.mark.parametrize("backup", ["tree+cache", "paper", "recompute"])
def test_width(backup: str, width_visits: int) -> None:
    more = {"width_visits": width_visits, "virtual_mode": "visit", "epsilon_greedy": 0.05}
    settings = preset("mcgs-combined", backup=backup, **more)
    for variant in ("chess", "crazyhouse"):
        for shape in ({}, {"batch_size": 5}, {"batches_in_flight": 1}):
            board = random_board(variant, 11, 16)
            check(board, "hash", settings | shape, [120, 70], advance=True)


@pytest.mark.parametrize("name", ["alphazero", "alphazero+cache", "mcgs", "mcgs-combined"])
def test_reuse_after_moves(name: str) -> None:
    for variant in ("chess", "crazyhouse"):
        board = random_board(variant, 5, 10)
        check(board, "material", preset(name), [200, 150, 150], advance=True)


def test_near_mates_and_endings() -> None:
    for fen in (
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
        "8/7k/5KQ1/8/8/8/8/8 b - - 0 1",
        "1k6/7Q/1K6/8/8/8/8/8 b - - 0 1",
        "8/8/8/8/5k2/5p2/8/5K2 w - - 97 90",
        "8/8/4k3/8/8/3QK3/8/8 w - - 90 90",
        "8/8/8/3k4/8/8/4R3/4K2R w - - 70 80",
    ):
        for name in ("mcgs-combined", "alphazero+solver"):
            check(chess.Board(fen), "material", preset(name, epsilon_greedy=0.05), [400])


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
@pytest.mark.parametrize("contempt", [0.25, -0.7])
def test_contempt(backup: str, contempt: float) -> None:
    settings = preset("mcgs-combined", backup=backup, contempt=contempt, epsilon_greedy=0.05)
    for fen in (
        "8/8/8/8/5k2/5p2/8/5K2 w - - 97 90",
        "8/8/8/8/5k2/5p2/8/5K2 b - - 90 90",
        "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1",
        "8/8/4k3/8/8/3QK3/8/8 w - - 94 90",
    ):
        check(chess.Board(fen), "material", settings, [250])
    # Each move changes the side to move, and the graph is begun anew.
    check(chess.Board("8/8/8/3k4/8/8/4R3/4K2R w - - 92 80"), "hash", settings, [150, 100, 100], advance=True)


def test_repetition_with_the_game_before_the_root() -> None:
    board = chess.Board("6k1/5pp1/7p/8/8/2q5/5PPP/4Q1K1 w - - 0 1")
    for text in ("e1e8 g8h7 e8e1 h7g8 " * 2).split()[:7]:
        board.push_uci(text)
    for name in ("mcgs-combined", "mcgs", "alphazero"):
        check(board, "material", preset(name), [300])


def test_a_dropped_pawn_resets_the_clock() -> None:
    """With the clock in the key it decides what merges, and python-chess does not reset it."""
    settings = preset("mcgs-combined", merge="clock", urgency="reduction")
    for fen, evaluator in (
        ("kbK5/pp6/1P6/p1p1p1p1/P1P1P1P1/8/8/8[Pp] w - - 0 1", "material"),
        ("8/8/8/8/8/pk6/p7/K7[P] w - - 3 9", "hash"),
    ):
        check(chess.variant.CrazyhouseBoard(fen), evaluator, settings, [700])
