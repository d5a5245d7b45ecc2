"""The engine: positions in every form, limits, bad input, stopping, progress, asyncio, reuse."""

import asyncio
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import chess
import chess.variant
import pytest
from tests.support.proofs import proof_of
from tests.support.stopping import search_until_stopped

from anabranch import Engine, Limits, Progress, Result, errors, variants
from anabranch.limits import LimitKeywords

pytestmark = pytest.mark.usefixtures("material_by_default")

MIDDLEGAME = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
MATE_IN_1 = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
MATED = "R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 1 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
CRAZYHOUSE = "r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"


def works(engine: Engine) -> None:
    """The engine goes on as if nothing had happened."""
    result = engine.search("startpos", simulations=50)
    assert result.statistics.simulations == 50
    assert engine._session.in_flight_marks() == 0


class TestPositions:
    def test_all_forms_lead_to_the_same_place(self) -> None:
        board = chess.Board()
        for move in ("e4", "e5", "Nf3"):
            board.push_san(move)
        forms: list[Any] = [
            board,
            "startpos moves e2e4 e7e5 g1f3",
            f"{chess.STARTING_FEN} moves e2e4 e7e5 g1f3",
            f"fen {chess.STARTING_FEN} moves e4 e5 Nf3",
            (chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"]),
            ("startpos", list(board.move_stack)),
            ("startpos", "e2e4 e7e5 g1f3"),
        ]
        for form in forms:
            engine = Engine()
            result = engine.search(form, simulations=20)
            assert result.position == board.fen(en_passant="legal"), form
            assert engine.board() == board
            assert engine.board().move_stack == board.move_stack

    def test_without_a_position_the_search_goes_on(self) -> None:
        engine = Engine()
        engine.search(MIDDLEGAME, simulations=100)
        again = engine.search(simulations=100)
        assert again.position == MIDDLEGAME
        assert again.statistics.simulations == 100
        assert again.statistics.root_visits > 150

    def test_variants(self) -> None:
        board = chess.variant.CrazyhouseBoard(CRAZYHOUSE)
        engine = Engine("crazyhouse")
        result = engine.search(board, simulations=200)
        assert result.move in board.legal_moves
        with pytest.raises(errors.VariantError, match="plays crazyhouse, this engine chess"):
            Engine().search(board, simulations=10)
        with pytest.raises(errors.VariantError, match="shogi"):
            Engine("shogi")

    @pytest.mark.parametrize("variant", variants())
    def test_other_variants_play(self, variant: str) -> None:
        engine = Engine(variant)
        board = engine.board()
        assert type(board) is chess.variant.find_variant(variant)
        for _ in range(6):
            result = engine.search(simulations=50)
            board.push(result.move)
            engine.play(result.move)
            assert engine.board().fen() == board.fen()

    def test_chess960(self) -> None:
        board = chess.Board.from_chess960_pos(0)
        engine = Engine(chess960=True)
        assert engine.search(board, simulations=100).move in board.legal_moves
        with pytest.raises(errors.VariantError, match="Chess960"):
            Engine().search(board, simulations=10)
        castling = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", chess960=True)
        engine.position = castling
        engine.play("O-O")
        assert engine.board().peek().uci() == "e1h1"
        assert Engine("chess960").chess960

    def test_a_board_with_history_carries_repetitions(self) -> None:
        board = chess.Board()
        for move in ("g1f3", "g8f6", "f3g1", "f6g8"):
            board.push_uci(move)
        engine = Engine()
        engine.position = board
        assert engine.board().is_repetition(2)

    @pytest.mark.parametrize(
        "position",
        [
            "",
            "garbage",
            "x" * 100_000,
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "k7/8/8/8/8/8/8/KK6 w - - 0 1",
            42,
            chess.Board,
            ("startpos", 3),
            ["startpos"],
        ],
    )
    def test_bad_positions(self, position: Any) -> None:
        engine = Engine()
        engine.search(MIDDLEGAME, simulations=20)
        with pytest.raises(errors.PositionError):
            engine.search(position, simulations=10)
        assert engine.position == MIDDLEGAME
        works(engine)

    @pytest.mark.parametrize("move", ["e2e5", "Qh7", "", "0000", "\n", "e7e8q" * 1000, 7])
    def test_bad_moves(self, move: Any) -> None:
        engine = Engine()
        with pytest.raises(errors.MoveError):
            engine.play(move)
        with pytest.raises(errors.MoveError):
            engine.search(("startpos", [move]), simulations=10)
        assert engine.position == chess.STARTING_FEN
        works(engine)

    @pytest.mark.parametrize("fen", [MATED, STALEMATE, "8/3k4/8/8/2N5/8/3K4/8 b - - 0 1"])
    def test_games_that_are_over(self, fen: str) -> None:
        engine = Engine()
        with pytest.raises(errors.GameOverError, match="already over"):
            engine.search(fen, simulations=10)
        assert engine.is_over
        assert engine.legal_moves == ()
        with pytest.raises(errors.GameOverError):
            engine.result()
        with pytest.raises(errors.GameOverError):
            engine.play("g8h8")
        works(engine)


class TestLimits:
    def test_by_keyword_are_the_fields_of_limits(self) -> None:
        assert list(LimitKeywords.__annotations__) == [field.name for field in fields(Limits)]

    def test_one_object_or_keywords(self) -> None:
        limits = Limits(simulations=30, root_moves=[chess.Move.from_uci("e2e4")])
        assert limits.root_moves == ("e2e4",)
        assert Engine().search("startpos", limits).statistics.simulations == 30
        with pytest.raises(errors.LimitError, match=r"one object or by keyword \(time\)"):
            Engine().search("startpos", limits, time=1.0)

    def test_one_is_needed(self) -> None:
        with pytest.raises(errors.LimitError, match="needs a limit"):
            Engine().search()

    def test_those_in_the_wrong_place_are_shown_the_right_one(self) -> None:
        engine: Any = Engine()
        limits = Limits(simulations=30)
        wrong: list[tuple[Callable[[], object], str]] = [
            (lambda: engine.search(limits), "search(limits=Limits(simulations=800))"),
            (lambda: engine.search("startpos", simulations=limits), "search(limits=Limits("),
            (lambda: engine.search("startpos", 30), "search(limits=Limits("),
            (lambda: engine.search_many(limits), "search(limits=Limits("),
            (lambda: engine.search_many(["startpos"], 30), "search(limits=Limits("),
            (lambda: asyncio.run(engine.search_async(limits)), "search(limits=Limits("),
            (lambda: engine.search(30), "as in search(simulations=800), not as 30"),
        ]
        for call, sentence in wrong:
            with pytest.raises(errors.LimitError, match=re.escape(sentence)):
                call()
        works(engine)

    @pytest.mark.parametrize("name", ["simulations", "evaluations", "time", "mate"])
    @pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "many", True, 10**30, [5]])
    def test_bad_ones(self, name: str, value: Any) -> None:
        engine = Engine()
        with pytest.raises(errors.LimitError, match=name):
            engine.search(**{name: value})
        with pytest.raises(errors.LimitError, match=name):
            asyncio.run(engine.search_async(**{name: value}))
        works(engine)

    def test_simulations_and_evaluations_are_met_exactly(self) -> None:
        assert Engine().search(MIDDLEGAME, simulations=777).statistics.simulations == 777
        result = Engine().search(MIDDLEGAME, evaluations=333)
        assert result.statistics.evaluations == 333
        assert result.finish == "limit"

    def test_time(self) -> None:
        begun = time.monotonic()
        result = Engine().search(MIDDLEGAME, time=0.2)
        assert result.finish == "time"
        assert 0.19 < result.elapsed <= time.monotonic() - begun < 0.5

    def test_time_does_not_wait_for_a_slow_batch(self) -> None:
        begun = time.monotonic()
        result = Engine(evaluator="hash", hash_cost_us=1_000_000).search(time=0.1)
        assert result.finish == "time"
        assert time.monotonic() - begun < 0.35
        assert result.best_move in {move.uci() for move in chess.Board().legal_moves}

    def test_mate(self) -> None:
        result = Engine().search(MATE_IN_1, mate=1)
        assert result.finish == "solved"
        assert (proof_of(result).state, proof_of(result).mate, proof_of(result).exact) == ("win", 1, True)


class TestResult:
    def test_the_table_is_whole_and_consistent(self) -> None:
        result = Engine().search(MIDDLEGAME, simulations=1000, lines=5)
        board = chess.Board(MIDDLEGAME)
        assert {row.move for row in result.moves} == {move.uci() for move in board.legal_moves}
        assert result.moves[0].move == result.best_move == result.lines[0].moves[0]
        assert len(result.lines) == 5
        assert sum(row.prior for row in result.moves) == pytest.approx(1, abs=0.01)
        assert all((row.q is None) == (row.visits == 0) for row in result.moves)
        assert result.white_value == result.value
        for line in result.lines:
            replay = board.copy()
            for move in line.moves:
                replay.push(replay.parse_uci(move))
        assert result.lines[0].san.startswith("4. ")

    def test_black_sees_it_the_other_way_round(self) -> None:
        result = Engine().search("startpos moves e2e4", simulations=100)
        assert result.white_value == -result.value

    def test_json(self) -> None:
        result = Engine().search(MATE_IN_1, simulations=100)
        values = json.loads(result.to_json())
        assert values["best_move"] == "a1a8"
        assert values["solved"] == {"state": "win", "plies": 1, "exact": True, "mate": 1}
        assert values["lines"][0]["moves"] == ["a1a8"]
        assert values["statistics"]["nodes"] == result.statistics.nodes

    def test_text(self) -> None:
        text = str(Engine().search(MATE_IN_1, simulations=100))
        assert "proven win in 1 plies" in text
        assert "1. Ra8#" in text

    def test_lines_may_be_none_at_all(self) -> None:
        assert Engine().search(simulations=10, lines=0).lines == ()


class TestGame:
    def test_play_keeps_the_graph(self) -> None:
        engine = Engine()
        result = engine.search(MIDDLEGAME, simulations=2000)
        child = result.moves[0].child_visits
        assert engine.play(result.best_move) is None  # type: ignore[func-returns-value]
        assert engine.result().statistics.root_visits == child > 0

    def test_moves_in_every_notation(self) -> None:
        engine = Engine()
        for move in ("e2e4", "Nf6", chess.Move.from_uci("e4e5")):
            engine.play(move)
        assert [move.uci() for move in engine.board().move_stack] == ["e2e4", "g8f6", "e4e5"]

    def test_reset_and_forget(self) -> None:
        engine = Engine()
        first = engine.search(MIDDLEGAME, simulations=300)
        engine.forget()
        assert engine.position == MIDDLEGAME
        assert engine.search(simulations=300).moves == first.moves
        engine.reset()
        assert engine.position == chess.STARTING_FEN
        assert engine.result().statistics.nodes == 1

    def test_perft(self) -> None:
        engine = Engine()
        assert sum(engine.perft(4).values()) == 197_281
        with pytest.raises(errors.LimitError):
            engine.perft(0)

    def test_threads_do_not_matter(self) -> None:
        one, two = (Engine(threads=threads).search(MIDDLEGAME, simulations=3000) for threads in (1, 2))
        assert one.moves == two.moves


class TestStopping:
    @pytest.mark.parametrize(
        "settings", [{}, {"evaluator": "hash", "hash_cost_us": 1_000_000}], ids=["quick", "slow"]
    )
    @pytest.mark.parametrize("threads", [1, 2])
    def test_from_another_thread(self, settings: dict[str, Any], threads: int) -> None:
        engine = Engine(threads=threads, **settings)
        search_until_stopped(engine, MIDDLEGAME, 0.15)
        assert engine._session.in_flight_marks() == 0
        if not settings:
            works(engine)

    def test_a_stop_without_a_search_is_nothing(self) -> None:
        engine = Engine()
        engine.stop()
        works(engine)

    def test_one_search_at_a_time(self) -> None:
        engine = Engine()
        search = threading.Thread(target=engine.search, kwargs={"time": 20})
        search.start()
        time.sleep(0.1)
        for act in (
            lambda: engine.search(simulations=1),
            lambda: engine.play("e2e4"),
            lambda: engine.position,
            engine.result,
            engine.graph,
            engine.reset,
        ):
            with pytest.raises(errors.SearchBusyError):
                act()
        engine.stop()
        search.join(timeout=5)
        assert not search.is_alive()
        works(engine)

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
    @pytest.mark.parametrize("loop", ["rust", "rust-slow", "python", "python-slow"])
    def test_ctrl_c(self, loop: str) -> None:
        program = """
import os, signal, sys, threading, time
import numpy as np
from anabranch import Engine
def evaluate(planes):
    if sys.argv[1] == "python-slow":
        time.sleep(1)
    return np.zeros(len(planes)), np.zeros((len(planes), size))
kinds = {"rust": {}, "rust-slow": {"evaluator": "hash", "hash_cost_us": 1_000_000}}
engine = Engine(**kinds.get(sys.argv[1], {"evaluator": evaluate}))
size = engine.shape[1]
moment = []
def interrupt():
    time.sleep(0.3)
    moment.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    engine.search(time=20)
except KeyboardInterrupt:
    latency = time.monotonic() - moment[0]
else:
    sys.exit("not interrupted")
assert engine._session.in_flight_marks() == 0
assert engine.result().finish == "stopped"
if sys.argv[1] in ("rust", "python"):
    assert engine.result().statistics.simulations > 0
    assert engine.search(simulations=50).statistics.simulations == 50
print(latency)
"""
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, loop],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        print(f"{loop}: interrupted after {1000 * float(run.stdout):.1f} ms")
        assert float(run.stdout) < 0.25

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
    def test_ctrl_c_in_this_process(self) -> None:
        engine = Engine()
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.search(MIDDLEGAME, time=20)
        assert engine.result().statistics.simulations > 0
        works(engine)


class TestProgress:
    @pytest.mark.parametrize("interval", [0.0, 0.05])
    def test_it_is_called(self, interval: float) -> None:
        seen: list[Progress] = []
        result = Engine().search(
            MIDDLEGAME, time=0.3, lines=2, progress=seen.append, progress_interval=interval
        )
        assert len(seen) >= 3
        assert not isinstance(seen[0], Result)
        assert seen[0].elapsed < seen[-1].elapsed <= result.elapsed
        assert (
            seen[0].statistics.simulations < seen[-1].statistics.simulations <= result.statistics.simulations
        )
        assert len(seen[-1].lines) == 2
        assert str(seen[-1])

    def test_what_it_raises_ends_the_search(self) -> None:
        def fail(progress: Progress) -> None:
            raise ZeroDivisionError

        engine = Engine()
        begun = time.monotonic()
        with pytest.raises(ZeroDivisionError):
            engine.search(MIDDLEGAME, time=20, progress=fail, progress_interval=0.05)
        assert time.monotonic() - begun < 2
        works(engine)

    @pytest.mark.parametrize("interval", [-1, math.nan, "often"])
    def test_bad_intervals(self, interval: Any) -> None:
        with pytest.raises(errors.LimitError, match="progress_interval"):
            Engine().search(simulations=1, progress_interval=interval)


class TestAsyncio:
    def test_two_engines_at_once(self) -> None:
        async def both() -> list[Result]:
            searches = [Engine(seed=seed).search_async(MIDDLEGAME, simulations=2000) for seed in (1, 2)]
            return await asyncio.gather(*searches)

        results = asyncio.run(both())
        assert all(result.statistics.simulations == 2000 for result in results)
        assert results[0].moves == Engine(seed=1).search(MIDDLEGAME, simulations=2000).moves

    def test_the_event_loop_goes_on_and_gets_progress(self) -> None:
        seen: list[int] = []

        async def watch() -> int:
            engine, ticks = Engine(), 0
            thread = threading.get_ident()
            search = asyncio.ensure_future(
                engine.search_async(
                    time=0.3,
                    progress=lambda _: seen.append(threading.get_ident() - thread),
                    progress_interval=0.05,
                )
            )
            while not search.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return ticks

        assert asyncio.run(watch()) > 5
        assert seen
        assert set(seen) == {0}

    @pytest.mark.parametrize("settings", [{}, {"evaluator": "hash", "hash_cost_us": 1_000_000}])
    def test_cancellation_stops_the_search(self, settings: dict[str, Any]) -> None:
        engine = Engine(**settings)

        async def cancel() -> float:
            search = asyncio.ensure_future(engine.search_async(MIDDLEGAME, time=20))
            await asyncio.sleep(0.1)
            begun = time.monotonic()
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
            return time.monotonic() - begun

        assert asyncio.run(cancel()) < 0.25
        assert engine.result().finish == "stopped"

    def test_cancellation_before_it_begins(self) -> None:
        engine = Engine()

        async def cancel() -> None:
            search = asyncio.ensure_future(engine.search_async(time=20))
            await asyncio.sleep(0)
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search

        begun = time.monotonic()
        asyncio.run(cancel())
        assert time.monotonic() - begun < 2
        works(engine)

    def test_an_executor_that_takes_no_work_leaves_the_engine_free(self) -> None:
        engine = Engine()

        async def refused() -> None:
            executor = ThreadPoolExecutor(1)
            executor.shutdown()
            asyncio.get_running_loop().set_default_executor(executor)
            with pytest.raises(RuntimeError, match="shutdown"):
                await engine.search_async(simulations=10)

        asyncio.run(refused())
        works(engine)

    def test_an_executor_that_drops_its_work_leaves_the_engine_free(self) -> None:
        engine = Engine()

        async def dropped() -> None:
            executor = ThreadPoolExecutor(1)
            asyncio.get_running_loop().set_default_executor(executor)
            gate = threading.Event()
            executor.submit(gate.wait)
            search = asyncio.ensure_future(engine.search_async(simulations=10))
            await asyncio.sleep(0)
            executor.shutdown(wait=False, cancel_futures=True)
            gate.set()
            with pytest.raises(asyncio.CancelledError):
                await search

        asyncio.run(dropped())
        works(engine)

    def test_errors_come_through(self) -> None:
        with pytest.raises(errors.PositionError):
            asyncio.run(Engine().search_async("garbage", simulations=10))


def test_it_is_a_context_manager() -> None:
    with Engine() as engine:
        works(engine)


def test_nothing_heavy_is_imported_unasked() -> None:
    program = """
import sys
from anabranch import Engine
Engine("crazyhouse").search(simulations=10)  # with the network of the package
Engine(evaluator=lambda planes: None)
assert not {"typer", "rich", "networkx", "onnx", "onnxruntime", "torch"} & set(sys.modules)
import anabranch.cli, anabranch.evaluators.onnx_runtime, anabranch.evaluators.openvino
import anabranch.evaluators.pytorch, anabranch.networks
assert not {"onnx", "onnxruntime", "openvino", "torch"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(("variant", "megabytes"), [("chess", 8), ("chess", 32), ("crazyhouse", 12)])
def test_the_search_goes_on_at_the_memory_cap(variant: str, megabytes: int) -> None:
    engine = Engine(variant, memory=megabytes << 20)
    simulations = 2000 * megabytes
    for number in range(1, 9):
        result = engine.search("startpos", simulations=simulations)
        assert result.finish == "limit"
        assert result.statistics.root_visits > 0.9 * simulations * number
        assert result.statistics.bytes <= result.statistics.reserved_bytes <= megabytes << 20
    assert engine._session.in_flight_marks() == 0
