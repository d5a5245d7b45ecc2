"""A UCI program that evaluates positions by hash, and that misbehaves as its mode says.

`fake_engines` is the body of a fixture. This module imports no pytest and nothing of Anabranch: every start
of the program imports it.
"""

import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
import chess.variant

ROOT = Path(__file__).parents[2]
PROGRAM = """#!{python}
import sys
if {mode!r} == "dies at once":
    sys.exit(3)
sys.path.insert(0, {root!r})
from tests.support.fake_engine import main
main({mode!r}, {every!r})
"""

FakeEngine = Callable[[str], str]
"""Writes a fake engine with a mode and returns its path."""


def ranked_moves(board: chess.Board) -> list[tuple[int, str]]:
    """Score in centipawns and name of every legal move, best first."""
    position = board.fen()
    return sorted(
        (
            (hashlib.sha256((position + move.uci()).encode()).digest()[0] - 128, move.uci())
            for move in board.legal_moves
        ),
        reverse=True,
    )


def write_fake_engine(path: Path, mode: str = "", every: int = 9) -> str:
    """Write the program. It misbehaves at every `every`-th search, with `always` in its mode at each."""
    path.write_text(PROGRAM.format(python=sys.executable, root=str(ROOT), mode=mode, every=every))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def fake_engines(folder: Path, every: int = 9) -> Iterator[FakeEngine]:
    """A function that writes fake engines; afterwards no process of theirs may be left."""
    made: list[str] = []

    def make(mode: str = "") -> str:
        made.append(write_fake_engine(folder / f"fake-engine-{len(made)}", mode, every))
        return made[-1]

    yield make
    check_ended(*made)


def check_ended(*paths: str) -> None:
    """Fail if a process of these programs is left. A program that was just being started has time to see the
    end of its input.
    """
    deadline = time.monotonic() + 20
    while any(processes_of(path) for path in paths) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not [path for path in paths if processes_of(path)]


def processes_of(path: str) -> list[int]:
    """The processes that run a program, dead ones too."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(path) in command.split(b"\0"):
                found.append(int(entry.name))
    return found


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(mode: str, every: int) -> None:
    """The program."""
    board_of: type[chess.Board] = chess.Board
    board = chess.Board()
    chess960 = False
    searches = 0
    for line in sys.stdin:
        words = line.split()
        if words[0] == "uci":
            if mode == "never greets":
                time.sleep(60)
            if mode == "binary":
                sys.stdout.buffer.write(bytes(range(256)) * 10 + b"\n")
            say("id name Mock 1")
            say("option name UCI_Variant type combo default chess var chess var crazyhouse")
            say("option name UCI_Chess960 type check default false")
            say("option name Hash type spin default 1 min 1 max 9")
            say("uciok")
        elif words[0] == "setoption" and words[2] == "UCI_Variant":
            board_of = chess.variant.find_variant(words[4])
        elif words[0] == "setoption" and words[2] == "UCI_Chess960":
            chess960 = words[4] == "true"
        elif words[0] == "setoption" and words[2] == "Hash" and words[4] not in ("2", "4"):
            sys.exit(4)  # matches of tests set 2, and teachers 4
        elif words[0] == "isready" and mode != "never ready":
            say("readyok")
        elif words[0] == "position":
            at = words.index("moves") if "moves" in words else len(words)
            board = board_of(" ".join(words[2:at]), chess960=chess960)
            for move in words[at + 1 :]:
                board.push_uci(move)
        elif words[0] == "go":
            searches += 1
            is_bad = mode.startswith("always") or searches % every == 0
            if not (is_bad and misbehave(mode, board)):
                answer(mode, board)
        elif words[0] == "quit":
            break


def misbehave(mode: str, board: chess.Board) -> bool:
    """Do what the mode says; whether that was all, and no answer follows."""
    if "crash" in mode:
        os._exit(1)
    if "hang" in mode:
        time.sleep(60)
    if "deaf" in mode:
        while True:
            time.sleep(60)
    if "closes" in mode:
        os.close(1)
        time.sleep(60)
    while "endless" in mode:
        sys.stdout.write("x" * 65536)
    if "garbage" in mode:
        say("info depth x multipv score cp many pv e2e4")
    lines = {
        "none": ["bestmove (none)"],
        "empty": ["bestmove"],
        "null move": ["bestmove 0000"],
        "symbols": ["info score cp much depth deep pv \x00\x01", "bestmove \u2654\u2654"],
        "illegal move": ["bestmove " + ("e2e5" if board.turn else "e7e4")],
        "illegal": ["info depth 1 score cp 3 pv a1a1", "bestmove a1a1"],
        "no score": ["bestmove " + next(iter(board.legal_moves)).uci()],
    }
    for name, said in lines.items():
        if name in mode:
            say("\n".join(said))
            return True
    return False


def answer(mode: str, board: chess.Board) -> None:
    """Two lines and the best move, by the position alone."""
    ranked = ranked_moves(board)
    if "slow" in mode:
        time.sleep(0.03)
    if "late" in mode:
        time.sleep(0.35)
    say("info string score cp 999 and pv are only words here")
    for rank, (score, move) in enumerate(ranked[:2], start=1):
        text = {"resigned": "cp -3000", "winning": "mate 3"}.get(mode, f"cp {score}")
        if mode != "silent":
            say(f"info depth 2 multipv {rank} score {text} nodes 7 pv {move}")
    say(f"bestmove {ranked[0][1]} ponder a1a1")
    if "chatty" in mode:
        say("bestmove a1a1")
