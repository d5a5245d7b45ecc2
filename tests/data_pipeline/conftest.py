"""Teachers for tests: small UCI engines that answer by the position alone, and that can misbehave."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ENGINE = """#!{python}
import hashlib, os, sys, time
import chess, chess.variant

MODE = {mode!r}
board_of = chess.Board
asked = 0


def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()


if MODE == "dies at once":
    sys.exit(3)
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        if MODE == "never greets":
            time.sleep(60)
        if MODE == "binary":
            sys.stdout.buffer.write(bytes(range(256)) * 10 + b"\\n")
        say("id name Mock 1")
        say("option name UCI_Variant type combo default chess var chess var crazyhouse")
        say("uciok")
    elif words[0] == "setoption" and words[2] == "UCI_Variant":
        board_of = chess.variant.CrazyhouseBoard if words[4] == "crazyhouse" else chess.Board
    elif words[0] == "isready":
        if MODE == "never ready":
            continue
        say("readyok")
    elif words[0] == "position":
        at = words.index("moves") if "moves" in words else len(words)
        board = board_of(" ".join(words[2:at]))
        for move in words[at + 1 :]:
            board.push_uci(move)
    elif words[0] == "go":
        asked += 1
        bad = asked % 9 == 0 or MODE.startswith("always")
        if bad and "crash" in MODE:
            os._exit(1)
        if bad and "hang" in MODE:
            time.sleep(60)
        if bad and "deaf" in MODE:
            while True:
                time.sleep(60)
        if bad and "garbage" in MODE:
            say("info depth x multipv score cp many pv e2e4")
        if bad and "closes" in MODE:
            os.close(1)
            time.sleep(60)
        if bad and "endless" in MODE:
            while True:
                sys.stdout.write("x" * 65536)
        if bad and "none" in MODE:
            say("bestmove (none)")
            continue
        if bad and "illegal" in MODE:
            say("info depth 1 score cp 3 pv a1a1")
            say("bestmove a1a1")
            continue
        if bad and "empty" in MODE:
            say("bestmove")
            continue
        if bad and "no score" in MODE:
            say("bestmove " + next(iter(board.legal_moves)).uci())
            continue
        ranked = []
        for move in board.legal_moves:
            digest = hashlib.sha256((board.fen() + move.uci()).encode()).digest()
            ranked.append((digest[0] - 128, move.uci()))
        ranked.sort(reverse=True)
        if "slow" in MODE:
            time.sleep(0.03)
        say("info string pv and score are only words here")
        for rank, (score, move) in enumerate(ranked[:2], start=1):
            say(f"info depth 1 multipv {{rank}} score cp {{score}} nodes 1 pv {{move}}")
        say("bestmove " + ranked[0][1])
        if "chatty" in MODE:
            say("bestmove a1a1")
    elif words[0] == "quit":
        break
"""


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


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Makes an engine that behaves as said; afterwards none may be left."""
    made: list[str] = []

    def make(mode: str = "") -> str:
        path = tmp_path / f"engine-{len(made)}"
        path.write_text(ENGINE.format(python=sys.executable, mode=mode))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        made.append(str(path))
        return str(path)

    yield make
    deadline = time.monotonic() + 5
    while any(processes_of(path) for path in made) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [processes_of(path) for path in made if processes_of(path)]
