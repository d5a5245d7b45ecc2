"""The comparators of the literature: core against reference, edge by edge, and the move to play."""

import dataclasses
import random
from typing import Any

import chess
import pytest
from tests.differential.test_core_against_reference import (
    EVALUATORS,
    TOLERANCE,
    attacks,
    check,
    core_graph,
    preset,
    random_board,
)

from anabranch import reference as ref

ENDINGS = (
    "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
    "8/8/8/8/5k2/5p2/8/5K2 w - - 97 90",
    "8/8/3k4/3p4/8/3PK3/8/8 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/8/8/2k5/8/2p5/2K5 w - - 0 1",
)
GRAPHS = ["naive", "paper", "delta", "recompute"]


@pytest.mark.parametrize("backup", ["tree", "paper", "recompute"])
def test_gumbel(backup: str) -> None:
    for seed, more in enumerate(
        (
            {},
            {"selection": "puct", "virtual_mode": "loss", "batches_in_flight": 2},
            {"solver": True, "gumbel_considered": 5, "epsilon_greedy": 0.1},
            {"gumbel_scale": 0.0, "batch_size": 1, "c_visit": 5.0, "c_scale": 0.3},
            {"gumbel": False, "virtual_mode": "loss", "solver": True},
        )
    ):
        settings = preset("gumbel", backup=backup, seed=seed, **more)
        check(random_board("chess", 40 + seed, 50), "hash", settings, [17 + 24 * seed])
        check(random_board("crazyhouse", 50 + seed, 30), "material", settings, [40, 24], advance=True)
        check(chess.Board(ENDINGS[seed % len(ENDINGS)]), "hash", settings, [80])


def test_the_improved_policy_is_that_of_the_reference() -> None:
    for seed, name in enumerate(("gumbel", "mcgs-combined", "uct")):
        board, settings = random_board("chess", 60 + seed, 20), preset(name, seed=seed)
        search = ref.Search(board, ref.ReferenceSettings(**settings), EVALUATORS["hash"])
        search.run(simulations=60)
        expected = ref.improved_root(search.settings, search.root)
        report, _, _ = core_graph(board, {**settings, "evaluator": "hash"}, [60], [])
        assert {row["move"] for row in report["moves"]} == set(expected)
        for row in report["moves"]:
            assert abs(row["improved"] - expected[row["move"]]) < TOLERANCE


@pytest.mark.parametrize("changes", [{}, {"solver": True}, {"batch_size": 8, "virtual_mode": "loss"}])
@pytest.mark.parametrize("backup", ["tree", "tree+cache", "paper"])
def test_uct(backup: str, changes: dict[str, Any]) -> None:
    settings = preset("uct", backup=backup, c_ucb=0.7, **changes)
    check(random_board("chess", 3, 30), "hash", settings, [120, 60], advance=True)
    for fen in ENDINGS[1:3]:
        check(chess.Board(fen), "material", settings | {"epsilon_greedy": 0.05}, [150])


@pytest.mark.parametrize("depths", [(1, 0, 0), (0, 1, 2), (2, 2, 2), (255, 0, 0), (255, 255, 255), (0, 0, 0)])
def test_ucd(depths: tuple[int, int, int]) -> None:
    value, parent, visits = depths
    more = {"ucd_value": value, "ucd_parent": parent, "ucd_visits": visits}
    for seed, changes in enumerate(
        ({}, {"solver": True, "backup": "paper"}, {"batch_size": 4, "contempt": 0.2})
    ):
        settings = preset("ucd", **more, **changes)
        check(chess.Board(ENDINGS[1 + seed]), "hash", settings, [250])
        check(chess.Board(ENDINGS[2]), "hash", settings | {"virtual_mode": "loss"}, [120, 80], advance=True)


def test_update_all() -> None:
    for seed, fen in enumerate(ENDINGS[1:]):
        settings = preset("update-all", seed=seed, batch_size=1 + 3 * (seed % 2), solver=seed % 2 == 1)
        check(chess.Board(fen), "hash", settings, [200, 100], advance=True)
    check(random_board("crazyhouse", 4, 20), "material", preset("update-all", selection="puct"), [120])


@pytest.mark.parametrize("rule", ["exact-win", "mcts-solver"])
@pytest.mark.parametrize("backup", ["tree", "paper"])
def test_solvers(rule: str, backup: str) -> None:
    base = preset("mcgs-combined", backup=backup, solver_rule=rule, epsilon_greedy=0.05, chooser="secure")
    for seed, fen in enumerate((*ENDINGS, "8/7k/5KQ1/8/8/8/8/8 b - - 0 1", "1k6/7Q/1K6/8/8/8/8/8 b - - 0 1")):
        check(chess.Board(fen), "material", base | {"seed": seed}, [250])
        check(chess.Board(fen), "hash", preset("uct+solver", backup=backup, solver_rule=rule), [150])
    for variant in ("chess", "crazyhouse"):
        for board in attacks(variant)[:2]:
            check(board, "hash", base, [60, 40], advance=True)


@pytest.mark.parametrize("seed", range(7))
def test_random_settings(seed: int) -> None:
    rng = random.Random(3000 + seed)
    settings = dataclasses.asdict(ref.PRESETS["mcgs-combined"]) | {
        "selection": rng.choice(["puct", "ucb1", "improved"]),
        "gumbel": rng.random() < 0.5,
        "gumbel_considered": rng.choice([1, 2, 3, 8, 64]),
        "backup": rng.choice(["tree", "tree+cache", *GRAPHS]),
        "stop": rng.choice(["gap", "visits", "none"]),
        "merge": rng.choice(["ply", "clock"]),
        "solver": rng.random() < 0.7,
        "solver_rule": rng.choice(["exact-win-2", "exact-win", "mcts-solver"]),
        "chooser": rng.choice(["visits", "secure"]),
        "secure_weight": rng.choice([0.1, 2.0]),
        "virtual_mode": rng.choice(["loss", "visit"]),
        "urgency": rng.choice(["fixed", "reduction"]),
        "batch_size": rng.choice([1, 7, 16]),
        "batches_in_flight": rng.choice([1, 2]),
        "epsilon_greedy": rng.choice([0.0, 0.2]),
        "contempt": rng.choice([0.0, 0.3]),
        "seed": rng.randrange(2**63),
    }  # fmt: skip
    board = random_board(rng.choice(["chess", "crazyhouse"]), seed, rng.choice([20, 40, 60]))
    check(board, rng.choice(["material", "hash"]), settings, [120, 60], advance=True)
