"""The core against the reference: the same visits and values, edge by edge, over presets, modes and seeds."""

import dataclasses
import random
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any

import chess
import chess.variant
import pytest

from anabranch import _core
from anabranch import reference as ref
from anabranch.reference import evaluators, forced

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


@pytest.fixture(autouse=True, scope="module")
def _remembered_mates() -> Iterator[None]:
    """Such searches meet the same positions with the same budgets too: a mate is searched for once."""
    known: dict[Hashable, tuple[ref.MateAnswer, int]] = {}
    search = forced.find_mate

    def look_up(board: chess.Board, drawn: Collection[str], budget: int) -> tuple[ref.MateAnswer, int]:
        key = type(board), board.chess960, board.fen(), frozenset(drawn), budget
        if key not in known:
            known[key] = search(board, drawn, budget)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forced, "find_mate", look_up)
        patch.setattr("anabranch.reference.search.find_mate", look_up)
        yield


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
            # A move that only a proof has opened may have lost its prior: the core keeps the best ones.
            assert abs(other["prior"] - edge.prior) < TOLERANCE or edge.visits == 0, text
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
    # After a move the core frees nodes before its next simulation, and a solved root has none.
    is_tidy = not (advance and search.root.state.is_exact)
    if settings["backup"] not in ("tree", "tree+cache") and is_tidy:
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
        "skip_draws": rng.random() < 0.3,
        "batch_size": rng.choice([1, 2, 7, 16, 64]),
        "batches_in_flight": rng.choice([1, 2]),
        "width_visits": rng.choice([0, 1, 5, 40]),
        "width_linear": rng.choice([0, 1, 4]),
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
        "pn_weight": rng.choice([0.0, 0.2, 1.5]),
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
        for shape in ({}, {"batch_size": 5}, {"batches_in_flight": 1}, {"width_linear": 2}):
            board = random_board(variant, 11, 16)
            check(board, "hash", settings | shape, [120, 70], advance=True)


WAVES: dict[str, Any] = {"wave_least": 1, "virtual_mode": "visit", "urgency": "reduction"}


@pytest.mark.parametrize("batch_size", [1, 2, 3, 8, 64])
@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
def test_waves(backup: str, batch_size: int) -> None:
    rules = [("gap", "ply"), ("visits", "clock"), ("none", "ply")]
    first = batch_size % len(rules)  # the rules take turns in the two variants
    for seed, variant, evaluator in ((first, "chess", "hash"), ((first + 1) % 3, "crazyhouse", "material")):
        stop, merge = rules[seed]
        settings = preset("mcgs-combined", backup=backup, stop=stop, merge=merge, seed=seed, **WAVES)
        settings |= {"batch_size": batch_size, "epsilon_greedy": 0.05, "epsilon_checks": 0.05}
        check(random_board(variant, 70 + seed, 40), evaluator, settings, [150])


@pytest.mark.parametrize("name", list(ref.PRESETS))
@pytest.mark.parametrize("wave_least", [2, 5])
def test_waves_of_presets(name: str, wave_least: int) -> None:
    for seed, (evaluator, plies) in enumerate([("material", 12), ("hash", 60)]):
        variant = ("chess", "crazyhouse")[(seed + wave_least) % 2]
        board = random_board(variant, 100 * seed + 9, plies)
        settings = preset(name, seed=seed, wave_least=wave_least)
        check(board, evaluator, settings, [120, 80], advance=True)


@pytest.mark.parametrize("batch_size", [8, 64])
def test_waves_meet_proofs_and_draws(batch_size: int) -> None:
    for fen in (
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
        "8/7k/5KQ1/8/8/8/8/8 b - - 0 1",
        "8/8/8/8/5k2/5p2/8/5K2 w - - 97 90",
        "8/8/4k3/8/8/3QK3/8/8 w - - 90 90",
        "8/8/8/3k4/8/8/4R3/4K2R w - - 70 80",
        "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1",
    ):
        for backup in ("paper", "recompute", "tree"):
            more = WAVES | {"batch_size": batch_size, "backup": backup, "contempt": 0.2}
            check(chess.Board(fen), "material", preset("mcgs-combined", epsilon_greedy=0.05, **more), [250])


@pytest.mark.parametrize("seed", range(12))
def test_waves_with_random_settings(seed: int) -> None:
    rng = random.Random(2000 + seed)
    settings = preset("mcgs-combined") | {
        "backup": rng.choice(["tree", "tree+cache", "naive", "paper", "delta", "recompute"]),
        "stop": rng.choice(["gap", "visits", "none"]),
        "merge": rng.choice(["ply", "clock"]),
        "solver": rng.random() < 0.7,
        "batch_size": rng.choice([2, 5, 16, 64]),
        "batches_in_flight": rng.choice([1, 2]),
        "width_visits": rng.choice([0, 1, 5]),
        "width_linear": rng.choice([0, 1, 4]),
        "wave_least": rng.choice([1, 2, 8]),
        "batch_collisions": rng.choice([1, 4, 16]),
        "virtual_mode": rng.choice(["loss", "visit"]),
        "virtual_loss": rng.choice([0.5, 1.0, 3.0]),
        "urgency": rng.choice(["fixed", "reduction"]),
        "node_temperature": rng.choice([0.7, 1.7]),
        "c_init": rng.choice([0.8, 2.5]),
        "epsilon_greedy": rng.choice([0.0, 0.01, 0.3]),
        "epsilon_checks": rng.choice([0.0, 0.1]),
        "dirichlet_epsilon": rng.choice([0.0, 0.25]),
        "mate_leaf": rng.choice([0, 40]),
        "mate_root": rng.choice([0.0, 3.0]),
        "q_epsilon": rng.choice([0.0, 0.01, 0.1]),
        "contempt": rng.choice([0.0, 0.3, -0.5]),
        "seed": rng.randrange(2**63),
    }  # fmt: skip
    variant = rng.choice(["chess", "crazyhouse", "chess960"])
    board = random_board(variant, seed, rng.choice([4, 20, 60, 120]))
    rounds = rng.choice([[200], [120, 80]])
    check(board, rng.choice(["material", "hash", "uniform"]), settings, rounds, advance=True)


@pytest.mark.parametrize("seed", range(8))
def test_waves_by_other_rules(seed: int) -> None:
    """Drawn moves left out, proof numbers in the scores, nodes searched for mates as they grow."""
    rng = random.Random(3000 + seed)
    settings = preset("mcgs-combined") | WAVES | {
        "backup": rng.choice(["tree", "naive", "paper", "delta", "recompute"]),
        "stop": rng.choice(["gap", "visits"]),
        "batch_size": rng.choice([3, 16, 64]),
        "batches_in_flight": rng.choice([1, 2]),
        "virtual_mode": rng.choice(["loss", "visit"]),
        "epsilon_greedy": rng.choice([0.0, 0.1]),
        "contempt": rng.choice([0.0, 0.3]),
        "skip_draws": seed % 4 == 0,
        "pn_weight": rng.choice([0.1, 2.0]) if seed % 4 in (1, 3) else 0.0,
        "mate_growth": rng.choice([0.5, 4.0]) if seed % 4 in (2, 3) else 0.0,
        "mate_start": rng.choice([2, 8]),
        "seed": seed,
    }  # fmt: skip
    drawish = [
        chess.Board(fen) for fen in ("8/8/8/8/5k2/5p2/8/5K2 w - - 91 90", "7k/5Q2/8/6K1/8/8/8/8 w - - 0 1")
    ]
    boards = [*attacks("chess")[:2], *attacks("crazyhouse")[:2], *drawish, random_board("chess", seed, 60)]
    for number, board in enumerate(boards):
        rounds = [140] if number % 3 else [90, 50]
        check(board, ("hash", "material")[number % 2], settings, rounds, advance=len(rounds) > 1)


@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
def test_a_wave_of_one_visit_is_a_simulation(backup: str) -> None:
    """To the last bit: the same graph with and without waves where one leaf is in flight."""
    for seed, variant in enumerate(("chess", "crazyhouse")):
        board = random_board(variant, 3 + seed, 40)
        settings = preset("mcgs-combined", backup=backup, seed=seed, batch_size=1, batches_in_flight=1)
        settings |= {"evaluator": "hash", "epsilon_greedy": 0.05}
        settings |= {"pn_weight": 0.2} if backup in ("tree", "paper") else {"skip_draws": backup == "delta"}
        graphs = [core_graph(board, {**settings, "wave_least": least}, [3000], [])[1:] for least in (0, 1)]
        assert len(graphs[0][0]) > 1000
        assert graphs[0] == graphs[1]


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


MATES: dict[str, Any] = {
    "solver": True,
    "mate_leaf": 40,
    "mate_leaf_value": -1.0,
    "mate_growth": 2.0,
    "mate_start": 4,
    "mate_root": 3.0,
}
ATTACKS = {
    "chess": (
        "r1b2rk1/ppp2ppp/2n5/3qN3/3P4/2PB4/P4PPP/R2Q1RK1 w - - 0 14",
        "2r3k1/5ppp/p3q3/1p6/8/1P2Q3/P4PPP/3R2K1 w - - 0 1",
        "8/8/2k5/7R/6R1/8/8/K7 w - - 0 1",
        "6k1/5pp1/7p/8/8/2q5/5PPP/4Q1K1 w - - 52 60",
        "8/4k3/R7/1R6/8/8/8/6K1 w - - 94 90",
    ),
    "crazyhouse": (
        "r1bq1rk1/ppp2ppp/2n5/3pp3/8/2N2N2/PPPPBPPP/R1BQ1RK1[QRPpn] w - - 0 1",
        "r2q1rk1/ppp2p1p/2n3p1/8/3p4/5N2/PPP2PPP/R2Q1RK1[NBPnbp] w - - 0 1",
        "6k1/5ppp/8/8/1B6/8/5PPP/R5K1[nr] w - - 0 1",
        "r3k2r/ppp2ppp/2n1b3/4N3/3q4/8/PPP2PPP/R2QK2R[BPPNrb] b KQkq - 0 1",
    ),
}  # fmt: skip


def attacks(variant: str) -> list[chess.Board]:
    board = chess.variant.CrazyhouseBoard if variant == "crazyhouse" else chess.Board
    return [board(fen) for fen in ATTACKS[variant]]


@pytest.mark.parametrize("batch_size", [1, 16])
@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_mates(variant: str, backup: str, batch_size: int) -> None:
    settings = dataclasses.asdict(ref.PRESETS["mcgs-combined"]) | MATES
    settings |= {"backup": backup, "batch_size": batch_size}
    for seed, board in enumerate(attacks(variant)):
        changes = {"seed": seed, "mate_leaf_value": (-1.0, 0.0)[seed // 2 % 2]}
        check(board, ("hash", "material")[seed % 2], settings | changes, [80])


@pytest.mark.parametrize("use", ["mate_leaf", "mate_growth", "mate_root"])
@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_mates_one_use_at_a_time(backup: str, use: str) -> None:
    off = {"mate_leaf": 0, "mate_growth": 0.0, "mate_root": 0.0}
    settings = (
        dataclasses.asdict(ref.PRESETS["mcgs-combined"])
        | MATES
        | off
        | {use: MATES[use] * 3, "backup": backup}
    )
    for variant in ("chess", "crazyhouse"):
        for board in attacks(variant):
            check(board, "hash", settings, [70])


@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
@pytest.mark.parametrize("batch_size", [1, 16])
def test_mates_after_moves(backup: str, batch_size: int) -> None:
    settings = (
        dataclasses.asdict(ref.PRESETS["mcgs-combined"])
        | MATES
        | {"backup": backup, "batch_size": batch_size}
    )
    for variant in ("chess", "crazyhouse"):
        for board in attacks(variant)[:2]:
            check(board, "material", settings, [60, 40, 40], advance=True)


@pytest.mark.parametrize("seed", range(6))
def test_mates_with_random_settings(seed: int) -> None:
    rng = random.Random(1000 + seed)
    settings = dataclasses.asdict(ref.PRESETS["mcgs-combined"]) | MATES | {
        "backup": rng.choice(["tree", "tree+cache", "naive", "paper", "delta", "recompute"]),
        "stop": rng.choice(["gap", "visits", "none"]),
        "merge": rng.choice(["ply", "clock"]),
        "batch_size": rng.choice([1, 7, 16]),
        "batches_in_flight": rng.choice([1, 2]),
        "epsilon_greedy": rng.choice([0.0, 0.1]),
        "epsilon_checks": rng.choice([0.0, 0.3]),
        "contempt": rng.choice([0.0, 0.3]),
        "temperature": rng.choice([0.0, 1.0]),
        "mate_leaf": rng.choice([0, 1, 10, 100]),
        "mate_growth": rng.choice([0.0, 0.1, 8.0]),
        "mate_start": rng.choice([1, 3, 32]),
        "mate_root": rng.choice([0.0, 0.01, 20.0]),
        "seed": rng.randrange(2**63),
        "pn_weight": rng.choice([0.0, 0.3]),
    }  # fmt: skip
    for variant in ("chess", "crazyhouse"):
        board = random_board(variant, seed, rng.choice([30, 60, 90]))
        check(board, rng.choice(["material", "hash"]), settings, [100])


def test_mates_with_the_game_before_the_root() -> None:
    board = chess.Board("6k1/5pp1/7p/8/8/2q5/5PPP/4Q1K1 w - - 0 1")
    for text in ("e1e8 g8h7 e8e1 h7g8 " * 2).split()[:7]:
        board.push_uci(text)
    boards = [board]
    for plies in (4, 7):  # the root stands on the board for the second time; to return to it is a draw
        boards.append(chess.Board("8/4k3/R7/1R6/8/8/8/6K1 w - - 0 1"))
        for text in ("b5b1 e7f7 b1b5 f7e7 " * 2).split()[:plies]:
            boards[-1].push_uci(text)
    for backup in ("tree", "paper"):
        settings = dataclasses.asdict(ref.PRESETS["mcgs-combined"]) | MATES | {"backup": backup}
        for board in boards:
            check(board, "material", settings, [120])


@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_a_proof_that_meets_nodes_of_the_graph_is_whole(backup: str) -> None:
    """Two open moves lead to one position of the proof by nodes of their own: both get the proof."""
    settings = dataclasses.asdict(ref.PRESETS["mcgs-combined"]) | MATES | {"backup": backup, "q_init": 0.0}
    settings |= {"mate_leaf": 0, "mate_growth": 0.0, "mate_root": 1.0, "mate_start": 1024}
    for fen in ("8/6k1/1b4pR/1Q6/4N3/7p/Kr6/8 w - - 0 1", "8/3r2N1/5Rp1/Q6p/8/2b3k1/2K5/8 w - - 0 1"):
        board = chess.Board(fen)
        check(board, "uniform", settings, [1224])
        _, nodes, _ = core_graph(board, {**settings, "evaluator": "uniform"}, [1224], [])
        assert nodes[0]["state"] == "win"


@pytest.mark.parametrize("solver", [True, False])
@pytest.mark.parametrize("backup", ["tree", "tree+cache", "naive", "paper", "delta", "recompute"])
def test_proof_numbers(backup: str, solver: bool) -> None:
    settings = preset("mcgs-combined", backup=backup, solver=solver, epsilon_greedy=0.05)
    for variant in ("chess", "crazyhouse"):
        for seed, board in enumerate(attacks(variant)):
            changes = {"seed": seed, "pn_weight": (0.1, 2.0)[seed // 2 % 2]}
            check(board, ("hash", "material")[seed % 2], settings | changes, [80])


@pytest.mark.parametrize(
    "changes", [{"table_values": True}, {"urgency": "reduction", "batch_size": 1}, MATES]
)
def test_proof_numbers_with_other_settings(changes: dict[str, Any]) -> None:
    settings = preset("mcgs-combined", pn_weight=0.3) | changes
    for variant in ("chess", "crazyhouse"):
        check(random_board(variant, 5, 10), "material", settings, [80, 40, 40], advance=True)
        for board in attacks(variant)[:2]:
            check(board, "hash", settings, [80])
