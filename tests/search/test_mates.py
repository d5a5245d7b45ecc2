"""Mates in the search: no false claim in random positions, and an end in time and within the memory."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import chess
import pytest
from scripts import check_claims
from scripts.random_positions import random_positions

from anabranch import Engine, Solution, variants

WIDE = {"mate_root": 1000.0, "mate_start": 64}
"""The root of a game with many moves is searched for minutes, if nothing ends it."""


def test_no_claim_is_false(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A small part of what the script checks."""
    journal = tmp_path / "claims.jsonl"
    arguments = ["--out", str(journal), "--positions", "16"]
    assert check_claims.main(arguments) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [*variants(), "chess960"]
    counts: dict[str, int] = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        for name, count in json.loads(line)[3].items():
            counts[name] = counts.get(name, 0) + count
    assert counts["positions"] == 16 * 9
    assert counts["wins"] > 20
    assert counts["losses"] > 5
    assert counts["verified"] >= counts["wins"] + counts["losses"]
    assert counts["replayed"] > 20
    assert counts["exhaustive"] > 3
    before = journal.read_bytes()
    assert check_claims.main(arguments) == 0
    assert journal.read_bytes() == before
    assert capsys.readouterr().out.splitlines()[1:] == rows


def test_a_false_claim_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that does not know the game before the position claims wins that are none."""
    solve = Engine.solve

    def forgetful(self: Engine, board: chess.Board, **limits: Any) -> Solution:
        if board.halfmove_clock >= 80:
            board = board.copy(stack=False)
            board.halfmove_clock = 0
        return solve(self, board, **limits)

    monkeypatch.setattr(Engine, "solve", forgetful)
    monkeypatch.setattr(check_claims, "certificate_of", with_game)
    arguments = ["--out", str(tmp_path / "claims.jsonl"), "--positions", "40", "--variant", "kingofthehill"]
    assert check_claims.main([*arguments, "--jobs", "0"]) == 1
    assert "is drawn in position" in capsys.readouterr().err


def with_game(solution: Solution, board: chess.Board) -> str:
    """A certificate that names the game as it was."""
    header, *lines = (solution.certificate or "").splitlines()
    moves = [move.uci() for move in board.move_stack]
    named = json.loads(header) | {"fen": board.root().fen(), "moves": moves}
    return "\n".join([json.dumps(named), *lines]) + "\n"


def test_positions_are_the_same_every_time_and_of_all_kinds() -> None:
    boards = list(random_positions("crazyhouse", "7", 100))
    again = list(random_positions("crazyhouse", "7", 100))
    assert [board.fen() for board in boards] == [board.fen() for board in again]
    assert all(board.is_valid() for board in boards)
    assert sum("~" in board.fen() for board in boards) > 10
    assert sum(board.is_repetition(2) for board in boards) > 10
    assert sum(board.halfmove_clock > 80 for board in random_positions("chess", "7", 100)) > 10


def test_a_deadline_ends_a_long_search_for_a_mate() -> None:
    """In time of the processor: until the deadline the search has at most as much of it as there is time."""
    engine = Engine("atomic", evaluator="material", **WIDE)  # type: ignore[arg-type]
    for seconds in (0.2, 0.4):
        engine.forget()
        begun = time.process_time()
        result = engine.search("startpos", time=seconds)
        assert time.process_time() - begun < seconds + 0.03
        assert result.finish == "time"
        assert result.statistics.simulations < 1000  # the time went into the search for a mate


def test_a_stop_ends_a_long_search_for_a_mate() -> None:
    engine = Engine("atomic", evaluator="material", **WIDE)  # type: ignore[arg-type]
    latencies: list[float] = []
    for _ in range(5):
        engine.forget()
        search = threading.Thread(target=lambda: engine.search("startpos", time=60))
        search.start()
        time.sleep(0.3)
        begun = time.process_time()
        engine.stop()
        search.join()
        latencies.append(time.process_time() - begun)
    assert sorted(latencies)[2] < 0.01, latencies


def test_tables_of_mates_follow_the_memory() -> None:
    """Solving and searching with little memory take little, although they meet many positions."""
    program = """
import resource
from anabranch import Engine
engine = Engine("atomic", evaluator="material", memory=16 << 20, mate_root=1000.0, mate_start=512)
engine.search("startpos", simulations=50)
engine.solve(positions=1000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
positions = engine.solve(positions=500_000).positions
engine.search("startpos", simulations=600)
print(positions, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    positions, kilobytes = map(int, done.stdout.split())
    assert positions >= 500_000
    assert kilobytes < 24 << 10


def test_a_search_with_mates_claims_what_the_solver_proves() -> None:
    """Every verdict of a search that looks for mates at all places is one that the verifier accepts."""
    for variant in ("chess", "crazyhouse"):
        engine = Engine(
            variant=variant, evaluator="material", mate_leaf=60, mate_leaf_value=-1.0, mate_growth=2.0,
            mate_start=4, mate_root=4.0,
        )  # fmt: skip
        solved = 0
        for seed in range(24):
            board = next(random_positions(variant, str(seed), 1))
            result = engine.search(board, simulations=300)
            if result.solved is None or result.solved.state not in ("win", "loss"):
                continue
            solved += 1
            proof = engine.solve(board, positions=2_000_000)
            assert proof.result == result.solved.state, board.fen()
        assert solved >= 2, (variant, solved)
