"""Positions solved: verdicts, lines, limits, certificates that hold, and the command."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import chess
import pytest

import anabranch
from anabranch import Engine, Solution
from anabranch.cli import run
from anabranch.errors import GameOverError, LimitError, PositionError, ProofError, SearchBusyError
from anabranch.formats.certificates import Certificate
from anabranch.verify import verify_proof

pytestmark = pytest.mark.usefixtures("material_by_default")

BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
LADDER = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
LOST = "7k/8/8/8/8/8/R7/2K3R1 b - - 0 1"
"""The king has one move, then Rh2 mates."""


def check_line(solution: Solution) -> None:
    """The line is legal, as long as it says, and ends with a mate."""
    assert solution.line is not None
    board = solution.root.board()
    for move in solution.line.moves:
        board.push(board.parse_uci(move))
    assert board.is_checkmate()
    assert len(solution.line.moves) == solution.plies


# The engine


def test_a_win_with_its_line() -> None:
    solution = Engine().solve(LADDER, positions=100_000, shortest=True)
    assert (solution.result, solution.plies, solution.mate, solution.is_shortest) == ("win", 3, 2, True)
    check_line(solution)
    assert solution.line is not None
    assert solution.line.mate == 2
    assert solution.line.san.startswith("1. ")
    assert solution.line.san.endswith("#")
    assert solution.position == LADDER
    assert 0 < solution.positions <= 110_000
    assert solution.proof_positions >= 4
    assert not solution.no_win
    assert solution.time > 0
    assert str(solution).startswith("win in 2 (the shortest): 1. ")


def test_a_loss_is_below_zero() -> None:
    solution = Engine().solve(LOST, positions=10_000)
    assert (solution.result, solution.plies, solution.mate) == ("loss", 2, -1)
    check_line(solution)
    assert solution.line is not None
    assert solution.line.mate == -1
    assert solution.line.value == -1.0


def test_an_open_position() -> None:
    solution = Engine().solve("startpos", positions=2000)
    assert (solution.result, solution.plies, solution.mate, solution.line) == (None, None, None, None)
    assert solution.certificate is None
    assert not solution.is_shortest
    assert not solution.no_win
    assert 1000 <= solution.positions <= 3000
    assert str(solution) == f"open after {solution.positions:,} positions"


def test_no_forced_win() -> None:
    solution = Engine().solve("startpos", positions=100_000, checks_only=True)
    assert (solution.result, solution.no_win, solution.checks_only) == (None, True, True)
    assert "no forced win by checks" in str(solution)


def test_checks_only_proves_what_checks_prove() -> None:
    assert Engine().solve(BACK_RANK, positions=1000, checks_only=True).mate == 1
    assert Engine().solve("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", positions=100_000).result == "win"


def test_other_variants() -> None:
    drop = Engine("crazyhouse").solve("6k1/5ppp/8/8/8/8/5PPP/6K1[R] w - - 0 1", positions=10_000)
    assert drop.root.variant == "crazyhouse"
    assert drop.line is not None
    assert "@" in drop.line.moves[0]
    hill = Engine("kingofthehill").solve("7k/8/8/8/8/4K3/8/8 w - - 0 1", positions=1000)
    assert (hill.result, hill.mate) == ("win", 1)


def test_the_position_of_the_engine_and_moves() -> None:
    engine = Engine()
    engine.position = BACK_RANK
    assert engine.solve(positions=100).mate == 1
    assert engine.solve((LOST, ["h8h7"]), positions=100).mate == 1
    assert engine.position == "8/7k/8/8/8/8/R7/2K3R1 w - - 1 2"
    assert engine.solve(chess.Board(BACK_RANK), positions=100).mate == 1


def test_the_graph_is_not_touched() -> None:
    engine = Engine()
    before = engine.search(BACK_RANK.replace("R5K1 w", "R5K1 b"), simulations=100)
    engine.solve(positions=1000)
    after = engine.result()
    assert after.statistics.root_visits == before.statistics.root_visits
    assert after.moves == before.moves


def test_a_position_that_comes_for_the_third_time_is_a_draw() -> None:
    """The king's only move leads to the start of the game, which occurred once, then twice."""
    engine = Engine()
    start, back = "8/7k/8/8/8/8/R7/2K3R1 w - - 0 1", ["a2a3", "h7h8", "a3a2"]
    once = engine.solve((start, back), positions=10_000)
    assert (once.result, once.mate) == ("loss", -1)
    assert once.certificate is not None
    assert '"moves":["a2a3","h7h8","a3a2"]' in once.certificate
    assert engine.solve((start, [*back, "h8h7", *back]), positions=10_000).result is None


@pytest.mark.parametrize("shuffles", [0, 1])
def test_certificates_of_games_with_repetitions_hold(tmp_path: Path, shuffles: int) -> None:
    game = ["h1g1", "h8g8", "g1h1", "g8h8"] * shuffles
    solution = Engine().solve((LADDER, game), positions=100_000)
    solution.save_certificate(tmp_path / "mate.jsonl")
    verdict = verify_proof(tmp_path / "mate.jsonl")
    assert (verdict.result, verdict.plies) == (solution.result, solution.plies)


# Limits


def test_positions_end_the_search_for_the_shortest_line_too() -> None:
    fen = "8/7k/3n3p/4B1p1/6P1/8/R5P1/5RK1 w - - 0 1"
    proven = Engine().solve(fen, positions=10_000)
    assert proven.result == "win"
    for spare in (1, 300):
        most = proven.positions + spare
        short = Engine().solve(fen, positions=most, shortest=True)
        assert (short.result, short.plies, short.is_shortest) == ("win", proven.plies, False)
        assert proven.positions < short.positions <= most
    whole = Engine().solve(fen, positions=10_000_000, shortest=True)
    assert whole.is_shortest
    assert whole.positions > proven.positions + 300


def test_a_limit_is_needed() -> None:
    with pytest.raises(LimitError, match="solving needs a limit: time or positions"):
        Engine().solve(BACK_RANK)


@pytest.mark.parametrize(
    "limits", [{"time": 0}, {"time": -1.0}, {"time": "1"}, {"positions": 0}, {"positions": 1.5}]
)
def test_limits_are_checked(limits: dict[str, object]) -> None:
    with pytest.raises(LimitError):
        Engine().solve(BACK_RANK, **limits)  # type: ignore[arg-type]


def test_positions_and_games_that_are_over_are_refused() -> None:
    with pytest.raises(PositionError):
        Engine().solve("nonsense", positions=10)
    engine = Engine()
    with pytest.raises(GameOverError):
        engine.solve((BACK_RANK, ["a1a8"]), positions=10)
    assert engine.search("startpos", simulations=10).best_move  # and the engine is free again


def test_time_is_kept() -> None:
    begun = time.monotonic()
    solution = Engine().solve("startpos", time=0.3)
    assert 0.25 <= time.monotonic() - begun < 3
    assert solution.result is None
    assert solution.positions > 0


def test_a_stop_from_another_thread_ends_it() -> None:
    engine = Engine()
    timer = threading.Timer(0.3, engine.stop)
    timer.start()
    begun = time.monotonic()
    solution = engine.solve("startpos", time=60)
    assert time.monotonic() - begun < 5
    assert solution.result is None
    assert engine.solve(BACK_RANK, positions=100).mate == 1  # the stop is forgotten


def test_one_at_a_time() -> None:
    engine = Engine()
    thread = threading.Thread(target=engine.solve, args=("startpos",), kwargs={"time": 60})
    thread.start()
    time.sleep(0.3)
    try:
        for busy in (lambda: engine.solve(positions=10), lambda: engine.search(simulations=10)):
            with pytest.raises(SearchBusyError):
                busy()
    finally:
        while thread.is_alive():
            engine.stop()
            thread.join(0.05)


# Certificates


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_certificates_hold(tmp_path: Path, variant: str) -> None:
    engine = Engine(variant)
    path = tmp_path / "proof.jsonl"
    lines = (Path(__file__).parents[1] / "data" / f"mates-{variant}.epd").read_text().splitlines()
    tasks = [line.partition(" dm ")[0] for line in lines if not line.startswith("#")]
    for fen in tasks:
        solution = engine.solve(f"{fen} 0 1", positions=1_000_000)
        assert solution.result == "win", fen
        check_line(solution)
        solution.save_certificate(path)
        verdict = verify_proof(path)
        assert (verdict.variant, verdict.result) == (variant, "win")
        assert (verdict.plies, verdict.positions) == (solution.plies, solution.proof_positions)


def test_the_certificate_of_a_loss_holds(tmp_path: Path) -> None:
    path = tmp_path / "loss.jsonl"
    Engine().solve(LOST, positions=1000).save_certificate(str(path))
    assert verify_proof(path).result == "loss"
    with Certificate(path) as certificate:
        assert certificate.header.fen == LOST
        assert certificate.node(0).kind == "defender"


def test_without_a_proof_there_is_no_certificate(tmp_path: Path) -> None:
    with pytest.raises(ProofError, match="no certificate"):
        Engine().solve("startpos", positions=100).save_certificate(tmp_path / "none.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_solution_as_plain_values() -> None:
    solution = Engine().solve(BACK_RANK, positions=100)
    document = json.loads(solution.to_json())
    assert document["position"] == BACK_RANK
    assert (document["variant"], document["result"], document["mate"]) == ("chess", "win", 1)
    assert (document["line"], document["san"]) == (["a1a8"], "1. Ra8#")
    assert document["certificate"] == solution.certificate
    assert json.loads(Engine().solve("startpos", positions=100).to_json())["line"] is None
    assert anabranch.Solution is Solution


# The command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mate.jsonl"
    assert run(["solve", LADDER, "--shortest", "--time", "20", "--certificate", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for words in (
        LADDER,
        "win in 2 moves (3 plies), proven; no shorter line exists",
        "#",
        "the shortest line included",
    ):
        assert words in captured.out
    assert "positions in the proof" in captured.out
    assert run(["verify-proof", str(path)]) == 0
    assert "The proof holds: win in" in capsys.readouterr().out


def test_the_command_on_open_positions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    assert run(["solve", "startpos", "-n", "1000", "--certificate", str(path)]) == 0
    text = capsys.readouterr().out
    assert "open after 1,0" in text
    assert "positions/s" in text
    assert "There is no certificate to write." in text
    assert not path.exists()
    assert run(["solve", "startpos", "--checks-only"]) == 0
    assert "no forced win by checks" in capsys.readouterr().out


def test_the_command_takes_moves_and_variants(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "startpos", "--moves", "f3 e5 g4", "--json", "-n", "1000"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["result"], document["mate"], document["san"]) == ("win", 1, "2...Qh4#")
    assert document["positions_per_second"] > 0
    assert document["interrupted"] is False
    assert run(["solve", "7k/8/8/8/8/4K3/8/8 w - - 0 1", "-v", "kingofthehill", "--json", "-n", "100"]) == 0
    assert json.loads(capsys.readouterr().out)["variant"] == "kingofthehill"


def test_the_command_writes_json_and_a_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mate.jsonl"
    assert run(["solve", LOST, "--json", "-n", "1000", "--certificate", str(path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["certificate_file"] == str(path)
    assert "certificate" not in document
    assert verify_proof(path).moves == -document["mate"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve"],
        ["solve", "nonsense"],
        ["solve", BACK_RANK, "--time", "0"],
        ["solve", BACK_RANK, "-n", "0"],
        ["solve", BACK_RANK, "--moves", "Ra8"],
        ["solve", BACK_RANK, "--variant", "go"],
        ["solve", BACK_RANK, "--certificate", "nowhere/at/all.jsonl"],
        ["solve", BACK_RANK, "--certificate", "."],
        ["solve", *BACK_RANK.split()],
    ],
)
def test_the_command_refuses(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def test_an_unknown_game_is_named_before_a_missing_position(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", "--game", "hexx"]) == 2
    said = capsys.readouterr().err
    assert 'there is no variant named "hexx"' in said
    assert "hex, othello" in said
    assert run(["solve", "--game", "hex"]) == 2
    assert "needs a position" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_shows_what_is_known() -> None:
    command = [sys.executable, "-m", "anabranch", "solve", "startpos", "--time", "100", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 60
        while len(list(Path(f"/proc/{process.pid}/task").glob("*"))) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    document = json.loads(out)
    assert (document["result"], document["interrupted"]) == (None, True)
    assert document["positions"] > 0


def test_ctrl_c_raises_in_programs() -> None:
    engine = Engine()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.solve("startpos", time=60)
    assert engine.solve(BACK_RANK, positions=100).mate == 1
