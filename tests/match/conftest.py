"""Engines that behave as badly as said, for tests of matches."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ENGINE = """#!{python}
import os, sys, time
import chess, chess.variant

MODE = {mode!r}
board_of = chess.Board
chess960 = False
asked = 0


def say(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()


if MODE == "dies at once":
    sys.exit(3)
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        say("id name Mock 1")
        say("option name UCI_Variant type combo default chess var chess var crazyhouse")
        say("option name UCI_Chess960 type check default false")
        say("option name Hash type spin default 1 min 1 max 9")
        say("uciok")
    elif words[0] == "setoption" and words[2] == "UCI_Variant":
        board_of = chess.variant.find_variant(words[4])
    elif words[0] == "setoption" and words[2] == "UCI_Chess960":
        chess960 = words[4] == "true"
    elif words[0] == "setoption" and words[2] == "Hash" and words[4] != "2":
        sys.exit(4)  # the only Hash that tests ask for
    elif words[0] == "isready":
        if MODE != "never ready":
            say("readyok")
    elif words[0] == "position":
        at = words.index("moves") if "moves" in words else len(words)
        board = board_of(" ".join(words[2:at]), chess960=chess960)
        for move in words[at + 1 :]:
            board.push_uci(move)
    elif words[0] == "go":
        asked += 1
        moves = sorted(move.uci() for move in board.legal_moves)
        if asked == 2 and MODE == "crash":
            os._exit(1)
        if asked == 2 and MODE == "hang":
            time.sleep(600)
        if asked == 2 and MODE == "garbage":
            say("info score cp much depth deep pv \\x00\\x01")
            say("bestmove \\u2654\\u2654")
            continue
        if asked == 2 and MODE == "none":
            say("bestmove")
            continue
        if asked == 2 and MODE == "endless line":
            while True:
                sys.stdout.write("x" * 65536)
        if asked == 2 and MODE == "illegal move":
            say("info depth 1 score cp 900 pv a1a1")
            say("bestmove " + ("e2e5" if board.turn else "e7e4"))
            continue
        if asked == 2 and MODE == "null move":
            say("bestmove 0000")
            continue
        if MODE == "slow":
            time.sleep(0.7)
        if MODE == "resigned":
            say("info depth 4 score cp -3000 nodes 7 pv " + moves[0])
        elif MODE == "winning":
            say("info depth 4 score mate 3 nodes 7 pv " + moves[0])
        elif MODE != "silent":
            say("info depth 2 multipv 1 score cp 3 nodes 7 pv " + moves[0])
            say("info depth 2 multipv 2 score cp -70 nodes 8 pv " + moves[-1])
            say("info string score cp 999")
        say("bestmove " + moves[(7 * len(board.move_stack)) % len(moves)] + " ponder a1a1")
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
def mock(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Makes an engine that behaves as said; afterwards none may be left."""
    made: list[str] = []

    def make(mode: str = "") -> str:
        path = tmp_path / f"mock-{mode.replace(' ', '-') or 'good'}"
        path.write_text(ENGINE.format(python=sys.executable, mode=mode))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        made.append(str(path))
        return str(path)

    yield make
    deadline = time.monotonic() + 20
    while any(processes_of(path) for path in made) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [processes_of(path) for path in made if processes_of(path)]
