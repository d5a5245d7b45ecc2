"""The benchmark: it runs, its document is JSON, and its signature is that of this search."""

import json
from functools import cache
from typing import Any

import chess
import chess.variant
import pytest
from tests.support.commands import Commands

from anabranch import bench
from anabranch.bench import SECTIONS, BenchSpec, run_benchmarks
from anabranch.bench.positions import POSITIONS
from anabranch.bench.signature import signature

SIGNATURE = 2801896269
"""Changes with every change of the search, and with nothing else."""


def test_the_signature_is_that_of_this_search_on_any_number_of_threads() -> None:
    assert [signature(threads) for threads in (1, 3)] == [SIGNATURE] * 2  # two are in the quick run below


@pytest.mark.parametrize(
    "changes", [{"c_init": 2.5001}, {"q_epsilon": 0.05}, {"seed": 1}, {"batch_size": 15}]
)
def test_the_signature_depends_on_the_search(changes: dict[str, float]) -> None:
    assert signature(1, **changes) != SIGNATURE


@cache
def quick_document() -> dict[str, Any]:
    return run_benchmarks(BenchSpec(quick=True))


def test_a_quick_run_measures_everything() -> None:
    sections = quick_document()["sections"]
    assert tuple(sections) == tuple(SECTIONS)
    assert sections["signature"]["signature"] == SIGNATURE
    assert sections["signature"]["equal"]
    assert len(sections["speed"]) == 4
    for row in sections["speed"]:
        assert row["share_walking"] + row["share_rules"] + row["share_evaluator"] == pytest.approx(1)
        assert row["simulations_per_second"] > 0
        assert row["search_over_rules"] > 1
        assert row["mean_depth"] > 3
    bytes_per_node = {(row["variant"], row["preset"]): row["bytes_per_node"] for row in sections["speed"]}
    assert all(number <= (200 if key[0] == "chess" else 400) for key, number in bytes_per_node.items())
    for row in sections["memory"]:
        assert row[f"{row['equal']}_ratio"] == 1
        assert row["nodes_ratio"] < 1
    assert all(row["same_nodes"] for row in sections["threads"] + sections["border"])
    alone = [row for row in sections["threads"] if row["threads"] == 1]
    for row in alone:
        shares = [share for name, share in row.items() if name.startswith("share_")]
        assert sum(shares) == pytest.approx(1, abs=0.1)
        speedups = list(row["computed_speedup"].values())
        assert speedups == sorted(speedups)
        assert speedups[-1] < 1 / row["serial_share"]
        overlapping = list(row["computed_speedup_overlapping"].values())
        assert all(one <= other <= 64 for one, other in zip(speedups, overlapping, strict=True))
        assert overlapping[-1] <= 1 / row["serial_share"] * (1 + 1e-9)
    assert [row["against_one_thread"] for row in alone] == [1, 1]
    assert all(row["cost_over_depth"] > 0 for row in sections["growth"])


def test_the_command_prints_one_json_document(cli: Commands) -> None:
    document = json.loads(cli.shows("bench", "--quick", "--only", "memory", "--only", "border", "--json"))
    assert list(document["sections"]) == ["memory", "border"]
    assert {"version", "machine", "cores", "plan", "settings"} <= set(document)


def test_the_command_prints_tables(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "run_benchmarks", lambda *_, **__: quick_document())
    text = cli.shows("bench", "--quick")
    assert f"signature {SIGNATURE} (two threads: the same)" in text
    for word in (
        "sim/s",
        "bytes/node",
        "search / rules",
        "against 1",
        "serial share",
        "COMPUTED",
        "cost / depth",
        "Python / Rust",
    ):
        assert word in text


def test_the_positions_are_middlegames() -> None:
    assert {variant: len(set(fens)) for variant, fens in POSITIONS.items()} == {"chess": 12, "crazyhouse": 12}
    for fen in POSITIONS["chess"]:
        assert chess.Board(fen).is_valid()
    for fen in POSITIONS["crazyhouse"]:
        board = chess.variant.CrazyhouseBoard(fen)
        assert board.is_valid()
        assert all(len(board.pockets[colour]) >= 2 for colour in chess.COLORS)


def test_a_network_is_measured(cli: Commands) -> None:
    rows = cli.json("bench", "--network", "--width", "32", "--quick")["sections"]["network"]
    assert [row["variant"] for row in rows] == ["chess", "crazyhouse"]
    for row in rows:
        assert row["policy_width"] == row["value_width"] == 32
        assert row["network_evaluations_per_second"] > row["search_evaluations_per_second"] > 1000
        assert row["search_evaluations"] >= 3000
    assert 35 <= rows[1]["moves"] <= 80
    for words in (["--network", "--width", "33"], ["net.safetensors"], ["--network", "none.safetensors"]):
        assert len(cli.refuses("bench", *words).strip().splitlines()) == 1
