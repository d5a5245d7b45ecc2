"""Real clients: python-chess, the adapters polyglot and uci2wb, and xboard on a screen that is not there.

What they need is installed by scripts/install-programs. Each talks to our engine in its own way; what they
write and print is checked, not what the engine thinks.
"""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn
import chess.variant
import pytest
import yaml
from chess.engine import Option
from tests.support.engine_process import EngineProcess, our_command, our_environment

from anabranch.data.teacher import find_engine
from anabranch.uci.options import UciOptions

SHORT = chess.engine.Limit(nodes=60)


def script(path: Path, command: str) -> Path:
    path.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Our engine as one program without arguments, as adapters want it."""
    python_path = shlex.quote(our_environment()["PYTHONPATH"])
    return script(tmp_path / "engine", f"PYTHONPATH={python_path} exec {shlex.join(our_command())}")


@pytest.fixture
def fairy(tmp_path: Path) -> Path:
    """Fairy-Stockfish with a list of variants that is short enough for uci2wb."""
    names = "option name UCI_Variant type combo default chess var chess var crazyhouse"
    engine = shlex.quote(find_engine("fairy-stockfish"))
    return script(tmp_path / "fairy", f"{engine} | sed -u 's/^option name UCI_Variant .*/{names}/'")


@contextlib.contextmanager
def simple_engine() -> Iterator[chess.engine.SimpleEngine]:
    engine = chess.engine.SimpleEngine.popen_uci(our_command(), env=our_environment(), timeout=20)
    try:
        yield engine
        engine.quit()
    finally:
        engine.close()


# python-chess


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_python_chess_plays_a_whole_game(variant: str) -> None:
    board = chess.variant.find_variant(variant)()
    with simple_engine() as engine:
        assert engine.id["name"].startswith("Anabranch")
        while not board.is_game_over(claim_draw=True) and board.ply() < 300:
            played = engine.play(board, SHORT, info=chess.engine.INFO_ALL)
            assert played.move is not None
            assert played.info["score"].relative is not None
            board.push(played.move)
    assert board.ply() > 10


def test_python_chess_plays_chess960() -> None:
    board = chess.Board.from_chess960_pos(100)
    with simple_engine() as engine:
        while board.ply() < 40 and not board.is_game_over():
            played = engine.play(board, SHORT)
            assert played.move is not None
            board.push(played.move)
    assert board.ply() > 20


def test_python_chess_plays_by_the_clock_and_ponders() -> None:
    board = chess.Board()
    clock = chess.engine.Limit(white_clock=5, black_clock=5, white_inc=0.05, black_inc=0.05)
    with simple_engine() as engine:
        for number in range(8):
            played = engine.play(board, clock, ponder=True)
            assert played.move is not None
            board.push(played.move)
            # The expected reply, a ponder hit, and another one by turns.
            replies = [played.ponder] if number % 2 and played.ponder else list(board.legal_moves)
            board.push(replies[0])


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_python_chess_analyses_several_lines(variant: str) -> None:
    board = chess.variant.find_variant(variant)()
    with simple_engine() as engine:
        engine.configure({"Hash": 32, "UCI_ShowWDL": True})
        lines = engine.analyse(board, chess.engine.Limit(nodes=600), multipv=3)
        assert len(lines) == 3
        assert len({line["pv"][0] for line in lines}) == 3
        assert all(sum(line["wdl"].relative) == 1000 for line in lines)
        with engine.analysis(board, multipv=2) as analysis:
            seen = 0
            for info in analysis:
                seen += "pv" in info
                if seen >= 6:
                    break
        assert engine.play(board, SHORT).move in list(board.legal_moves)


def lichess_bot_options() -> dict[str, Any]:
    """The options for the engine of the configuration in docs/uci.md."""
    guide = (Path(__file__).parents[2] / "docs" / "uci.md").read_text(encoding="utf-8")
    config = yaml.safe_load(guide.split("```yaml\n")[1].split("```")[0])
    options: dict[str, Any] = config["engine"]["uci_options"]
    return {name: value for name, value in options.items() if not Option(name, "", *[None] * 4).is_managed()}


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_the_calls_of_lichess_bot(variant: str) -> None:
    # As its class UCIEngine makes them: the process, options, opponent, first move, clock, result.
    board = chess.variant.find_variant(variant)()
    engine = chess.engine.SimpleEngine.popen_uci(
        our_command(), env=our_environment(), timeout=20, debug=False, setpgrp=True, stderr=subprocess.DEVNULL
    )
    with engine:
        engine.configure({**lichess_bot_options(), "Threads": 1, "Hash": 64})
        opponent = chess.engine.Opponent(name="somebody", title="BOT", rating=1800, is_engine=True)
        engine.send_opponent_information(opponent=opponent, engine_rating=2000)
        first = chess.engine.Limit(time=0.3, clock_id="first move")
        clock = chess.engine.Limit(
            white_clock=4, black_clock=4, white_inc=0.02, black_inc=0.02, clock_id="real time"
        )
        for ply in range(12):
            ponder = len(board.move_stack) >= 2
            played = engine.play(
                board,
                clock if ponder else first,
                info=chess.engine.INFO_ALL,
                ponder=ponder and ply % 2 == 0,
                draw_offered=ply == 6,
                root_moves=list(board.legal_moves)[:5] if ply == 7 else None,
            )
            assert played.move is not None
            assert not played.resigned
            assert played.info["score"].relative.score(mate_score=40000) is not None
            assert {"depth", "nodes", "nps", "time", "pv"} <= set(played.info)
            assert board.variation_san(played.info["pv"])
            board.push(played.move)
        engine.send_game_result(board, chess.WHITE, "Black resigned")
        engine.ping()
        engine.quit()


def test_python_chess_understands_every_option() -> None:
    with simple_engine() as engine:
        for option in UciOptions().all():
            seen = engine.options[option.name]
            assert (seen.type, sorted(seen.var or [])) == (option.kind, sorted(option.choices))
            if option.kind != "button":
                assert seen.default in (option.default, option.default or "<empty>")
            for choice in option.choices:
                if not seen.is_managed():
                    engine.configure({option.name: choice})
        engine.configure({"Preset": "standard"})
        assert engine.play(chess.Board(), SHORT).move is not None


def test_python_chess_restricts_the_root() -> None:
    board = chess.Board()
    wanted = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    with simple_engine() as engine:
        assert engine.play(board, SHORT, root_moves=wanted).move in wanted


# Adapters


def play_cecp(adapter: EngineProcess, variant: str, moves: int) -> chess.Board:
    """Some moves by the engine behind an adapter, as xboard would ask for them; our side plays anything, and
    may be mated.
    """
    board = chess.variant.find_variant(variant)()
    adapter.send("xboard", "protover 2")
    adapter.wait_until(lambda text: "done=1" in text)
    adapter.send("new")
    if variant != "chess":
        adapter.send(f"variant {variant}")
    adapter.send("level 40 0:05 0", "post", "easy")
    while board.ply() < 2 * moves and not board.is_game_over():
        reply = sorted(board.legal_moves, key=lambda move: (not board.is_capture(move), move.uci()))[0]
        adapter.send("time 500", "otim 500", f"usermove {board.uci(reply)}")
        board.push(reply)
        answer = adapter.wait_for("move", 30).text
        board.push_uci(answer.split()[1])
    return board


def is_thinking(text: str) -> bool:
    """Whether a line is thinking output: depth, score, time, nodes and moves."""
    return re.match(r"\s*\d+\s+[+-]?\d+\s+\d+\s+\d+\s+\S", text) is not None


def thinking_lines(adapter: EngineProcess) -> list[str]:
    """All lines of thinking output."""
    said = [event.text for event in adapter.transcript if not event.to_engine]
    return [text for text in said if is_thinking(text)]


def test_polyglot_plays_our_engine(tmp_path: Path, program: Path) -> None:
    settings = tmp_path / "polyglot.ini"
    settings.write_text(
        f"[PolyGlot]\nEngineName = Anabranch\nEngineDir = {tmp_path}\nEngineCommand = {program}\n"
        "Book = false\nLog = false\nResign = false\n[Engine]\nHash = 32\n",
        encoding="utf-8",
    )
    with EngineProcess([find_engine("polyglot"), str(settings)]) as adapter:
        board = play_cecp(adapter, "chess", 8)
        assert board.ply() == 16 or board.is_checkmate()
        assert thinking_lines(adapter)
        adapter.send("quit")
        adapter.wait_for_exit(5.0)


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_uci2wb_plays_our_engine(program: Path, variant: str) -> None:
    with EngineProcess([find_engine("uci2wb"), "debug", str(program)]) as adapter:
        board = play_cecp(adapter, variant, 8)
        assert board.ply() == 16 or board.is_checkmate()
        assert thinking_lines(adapter)
        features = [event.text for event in adapter.transcript if event.text.startswith("feature variants=")]
        assert "crazyhouse" in features[0]
        adapter.send("quit")
        adapter.wait_for_exit(5.0)


def test_uci2wb_analyses_with_our_engine(program: Path) -> None:
    with EngineProcess([find_engine("uci2wb"), "debug", str(program)]) as adapter:
        adapter.send("xboard", "protover 2")
        adapter.wait_until(lambda text: "done=1" in text)
        adapter.send("new", "post", "analyze")
        adapter.wait_until(is_thinking)
        adapter.send("usermove e2e4")
        # Now the lines begin with a move of black.
        adapter.wait_until(lambda text: is_thinking(text) and text.split()[4][1] in "78")
        adapter.send("exit")
        adapter.send("quit")
        adapter.wait_for_exit(5.0)


# xboard


@contextlib.contextmanager
def screen() -> Iterator[str]:
    """A display that nobody sees."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with open(read, encoding="ascii") as file:
            yield f":{file.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def is_over(record: Path) -> bool:
    """Whether a file ends with the result of a game."""
    ending = re.compile(r"(1-0|0-1|1/2-1/2)\s*\Z")
    return record.exists() and ending.search(record.read_text(encoding="utf-8")) is not None


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children. Asked to end while it says goodbye to its engines, xboard may wait for
    itself for ever; then it is ended with force.
    """
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal_number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def play_in_xboard(folder: Path, white: Path, black: Path, patience: float = 120.0) -> str:
    """The PGN of a crazyhouse game that xboard hosts. Without pondering: where another move comes than was
    pondered on, uci2wb 4.1 sometimes loses it on a busy machine; with Stockfish it got out of step too.
    """
    record, log = folder / "game.pgn", folder / "xboard.debug"
    adapter = find_engine("uci2wb")
    with screen() as display, open(folder / "xboard.log", "wb") as output:
        process = subprocess.Popen(
            [
                find_engine("xboard"),
                *("-variant", "crazyhouse", "-matchGames", "1"),
                *("-timeControl", "0:04", "-timeIncrement", "0"),
                *("-firstChessProgram", f"{adapter} {white}", "-secondChessProgram", f"{adapter} {black}"),
                *("-saveGameFile", str(record), "-debug", "-nameOfDebugFile", str(log)),
                *("-movesPerSession", "30", "-soundProgram", "", "-noGUI", "-ponderNextMove", "false"),
            ],
            env={**our_environment(), "DISPLAY": display, "HOME": str(folder)},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline and process.poll() is None and not is_over(record):
                time.sleep(0.2)
        finally:
            end_group(process)
    assert record.exists(), (folder / "xboard.log").read_text(errors="replace")[-2000:]
    check_options_sent(log.read_text(errors="replace"))
    text = record.read_text(encoding="utf-8")
    if '[Result "*"]' in text:  # the end of the board's own log says who was waited for
        print(log.read_text(errors="replace")[-4000:])
    return text


def check_options_sent(log: str) -> None:
    """What xboard sends back is what it was told: with that, nothing must change."""
    ours = {option.name: option for option in UciOptions().all()}
    sent = re.findall(r">first : option ([^=\n]+)=(.*)", log)
    for name, text in sent:
        if name in ours and name not in ("UCI_Opponent", "Ponder"):
            assert ours[name].read(text) == ours[name].read(str(ours[name].default)), (name, text)
    assert {"Preset", "MultiPV", "c_init"} <= {name for name, _ in sent}


def check_crazyhouse_game(text: str) -> None:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    assert game.headers["Variant"] == "crazyhouse"
    board = game.end().board()
    assert board.ply() > 20
    assert game.headers["Result"] in ("1-0", "0-1", "1/2-1/2")
    assert not re.search(r"illegal|forfeit|exits|terminat|disconnect", text, re.IGNORECASE), text
    assert "@" in text, "a game without a drop is no crazyhouse"
    if board.is_checkmate():
        assert game.headers["Result"] == board.result()


def test_xboard_hosts_our_engine_against_itself(tmp_path: Path, program: Path) -> None:
    check_crazyhouse_game(play_in_xboard(tmp_path, program, program))


def test_xboard_hosts_our_engine_against_fairy_stockfish(tmp_path: Path, program: Path, fairy: Path) -> None:
    check_crazyhouse_game(play_in_xboard(tmp_path, program, fairy))
