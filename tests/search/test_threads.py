"""Threads: how many there are by default; and any number keeps the graph, the stop and the memory cap."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands
from tests.support.engine_session import Session, answers, set_option
from tests.support.stopping import LATENCY, search_until_stopped

from anabranch import Engine, Settings
from anabranch.jobs.executor import cores
from anabranch.match.engine_player import read_settings
from anabranch.match.player import PlayerSpec
from anabranch.uci.options import UciOptions

HOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"
MANY = (2, 8, 64)


def test_a_thread_for_every_usable_core(cli: Commands, tmp_path: Path) -> None:
    assert Engine().settings.threads == cores()
    assert Engine(evaluator="material", preset="alphazero").settings.threads == cores()
    assert Engine(threads=3).settings.threads == 3
    engine = Engine()
    engine.configure(c_init=2.0, evaluator="hash")
    assert engine.settings.threads == cores()
    assert cli.json("analyse", "-n", "5")["settings"]["threads"] == cores()
    assert cli.json("analyse", "-n", "5", "--threads", "5")["settings"]["threads"] == 5
    suite = tmp_path / "one.epd"
    suite.write_text("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8;")
    assert cli.json("suite", suite, "-n", "100")["settings"]["threads"] == cores()
    assert cli.json("suite", suite, "-n", "100", "--workers", "1")["settings"]["threads"] == 1


def test_the_core_guis_and_players_of_matches_begin_with_one() -> None:
    assert Settings().threads == 1
    assert UciOptions().number("Threads") == 1
    assert read_settings(PlayerSpec("a", "preset", "default", {}))["threads"] == 1
    assert read_settings(PlayerSpec("a", "preset", "default", {"threads": "2"}))["threads"] == 2


def test_cores_are_those_that_the_process_may_use() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code += "from anabranch import Engine; print(Engine().settings.threads)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"1\n"


def test_guis_may_have_256() -> None:
    session = Session()
    try:
        moves = []
        for threads in (1, 256):
            set_option(session, "Threads", threads)
            moves.append(answers(session, "ucinewgame", "position startpos", "go nodes 3000")[-1])
            assert session.session.engine.settings.threads == threads
        assert moves[0].startswith("bestmove ")
        assert moves[0] == moves[1]
    finally:
        session.close()


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_the_graph_with_the_bundled_networks(variant: str) -> None:
    def graph(threads: int) -> Any:
        engine = Engine(variant, threads=threads, width_visits=16, width_linear=0, epsilon_greedy=0.05)
        engine.search(HOUSE if variant == "crazyhouse" else "startpos", evaluations=2500)
        return engine.graph(visits=0, nodes=10**9)

    one = graph(1)
    assert len(one.nodes) > 2000
    assert all(graph(threads) == one for threads in MANY)


def test_settings_change_between_searches_of_the_same_positions() -> None:
    """Lists that other threads have made ahead hold for one search."""
    tables = []
    for threads in (1, 2, 3):
        engine = Engine(threads=threads, width_visits=16)
        engine.search("startpos", evaluations=2000)
        engine.configure(node_temperature=2.5)
        tables.append(engine.search("startpos", evaluations=2000).moves)
    assert tables[0] == tables[1] == tables[2]


def test_a_kept_position_of_one_visit_has_its_likeliest_move_at_once() -> None:
    """It has no list of candidates yet, and no time to make one."""
    engine = Engine(threads=1, epsilon_greedy=0.2)
    move = next(row.move for row in engine.search("startpos", evaluations=300).moves if row.visits == 1)
    engine.play(move)
    result = engine.search(time=1e-9)
    assert (result.finish, result.statistics.root_visits) == ("time", 1)
    assert result.best_move == Engine().search(f"startpos moves {move}", evaluations=1).best_move


@pytest.mark.parametrize(("evaluator", "memory"), [("material", 4 << 20), ("network", 2 << 20)])
def test_the_memory_cap(evaluator: str, memory: int) -> None:
    """Networks list candidates at the second visit, and other threads make those lists ahead."""
    settings: dict[str, Any] = {"evaluator": evaluator, "memory": memory}
    settings |= {"width_visits": 16, "width_linear": 0}
    results = []
    for threads in (1, *MANY):
        statistics = Engine(threads=threads, **settings).search("startpos", simulations=25_000).statistics
        assert statistics.reserved_bytes <= settings["memory"]
        assert statistics.reclaims > 0
        results.append(statistics)
    assert all(numbers == results[0] for numbers in results[1:])


@pytest.mark.parametrize("threads", [1, *MANY])
def test_a_stop_and_the_time_are_obeyed(threads: int) -> None:
    slow: dict[str, Any] = {"evaluator": "hash", "hash_cost_us": 20_000}
    for settings in ({}, slow):
        engine = Engine(threads=threads, width_visits=0, **settings)
        search_until_stopped(engine, "startpos", 0.2)
        result = engine.search(time=0.2)
        assert result.finish == "time"
        assert 0.2 <= result.elapsed < 0.2 + LATENCY


def test_threads_end_with_their_engine() -> None:
    def count() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    before = count()
    engine = Engine(threads=64)
    engine.search("startpos", evaluations=100)
    assert count() >= before + 63
    del engine
    deadline = time.monotonic() + 10
    while count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert count() <= before
