"""A teacher: any UCI engine behind two raw pipes, asked for its best moves with a fixed number of nodes.

A generic client would cost more than the engine's thinking at some hundred nodes. A teacher that crashes,
hangs or talks nonsense raises `TeacherError` and is dead afterwards; who needs another starts another.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from typing import NamedTuple

from anabranch.errors import DataError

MATE = 32000
"""A mate in n moves counts MATE - n."""
LARGEST = MATE - 1000
"""No score that is not a mate is larger."""
PATIENCE = 20.0
"""Seconds that an engine may think about anything."""
_LONGEST = 1 << 22
"""Bytes that no honest answer has."""


class TeacherError(DataError):
    """The engine failed."""


class Judgement(NamedTuple):
    """A move and its score in centipawns for the side to move."""

    move: str
    score: int


_MOVE = re.compile(rb"[a-h][1-8][a-h][1-8][nbrqk]?|[PNBRQ]@[a-h][1-8]")


def find_engine(name: str) -> str:
    """The program of that name or path. Debian keeps games where PATH may not look."""
    path = shutil.which(name) or shutil.which(name, path="/usr/games:/usr/local/games")
    if path is None:
        raise DataError(f"there is no program {name} to be the teacher")
    return path


class Teacher:
    """One engine process. It ends with us, however we end, because its input ends then."""

    def __init__(
        self, engine: str, variant: str, options: Mapping[str, str] | None = None, patience: float = PATIENCE
    ) -> None:
        self._patience = patience
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [find_engine(engine)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us
            )
        except OSError as error:
            raise TeacherError(f"{engine} cannot be started: {error.strerror}") from error
        try:
            greeting = self._ask("uci\n", b"uciok")
            self.name = _name(greeting)
            known = greeting.decode(errors="replace")
            if variant != "chess" and "UCI_Variant" not in known:
                raise DataError(f"{engine} plays chess only, not {variant}")
            wanted = {"UCI_Variant": variant} if "UCI_Variant" in known else {}
            wanted.update({"Threads": "1", "Hash": "4"})
            wanted.update(options or {})
            commands = "".join(f"setoption name {key} value {value}\n" for key, value in wanted.items())
            self._ask(commands + "isready\n", b"readyok")
        except BaseException:
            self.close()
            raise

    def new_game(self) -> None:
        """Forget the last game."""
        self._ask("ucinewgame\nisready\n", b"readyok")

    def judge(self, position: str, nodes: int) -> list[Judgement]:
        """The moves the engine looked at in full, best first; the first is the one it would play.

        What the engine says before `readyok` belongs to an earlier question and does not count.
        """
        answer = self._ask(f"isready\nposition {position}\ngo nodes {nodes}\n", b"readyok", b"bestmove")
        return read_answer(answer)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _ask(self, commands: str, *ends: bytes) -> bytes:
        """Send commands; what the engine says up to the line that begins with the last of `ends`, after lines
        that begin with the others.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(commands.encode())
        except OSError as error:
            raise TeacherError("the engine has ended") from error
        deadline = time.monotonic() + self._patience
        answer = b""
        for end in ends:
            answer = self._read_to(end, deadline)
        return answer

    def _read_to(self, end: bytes, deadline: float) -> bytes:
        """Everything up to the whole line that begins with a word."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        answer = self._rest
        mark = b"\n" + end
        looked = 0  # up to here there is no mark
        while True:
            at = 0 if answer.startswith(end) else answer.find(mark, looked) + 1
            if at or answer.startswith(end):
                stop = answer.find(b"\n", at)
                if stop >= 0:
                    self._rest = answer[stop + 1 :]
                    return answer[: stop + 1]
                looked = max(at - 1, 0)
            else:
                looked = max(len(answer) - len(mark), 0)
            if len(answer) > _LONGEST:
                raise TeacherError("the engine talks without end")
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                raise TeacherError(f"the engine gave no answer in {self._patience:g} s")
            piece = os.read(output, 1 << 16)
            if not piece:
                raise TeacherError("the engine has ended")
            answer += piece

    def __enter__(self) -> Teacher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _name(greeting: bytes) -> str:
    for line in greeting.splitlines():
        if line.startswith(b"id name "):
            return line[8:].decode(errors="replace").strip()
    return "unknown"


def read_answer(answer: bytes) -> list[Judgement]:
    r"""Judgements out of what an engine said for `go`: for each line of MultiPV the last exact score.

    >>> read_answer(b"info depth 1 multipv 1 score cp 31 pv e2e4\nbestmove e2e4\n")
    [Judgement(move='e2e4', score=31)]
    """
    by_rank: dict[bytes, Judgement] = {}
    best = b""
    for line in answer.splitlines():
        words = line.split()
        if words[:1] == [b"bestmove"]:
            best = words[1] if len(words) > 1 else b""
        elif words[:1] == [b"info"] and words[1:2] != [b"string"] and b"pv" in words and b"score" in words:
            _read_line(words, by_rank)
    if not _MOVE.fullmatch(best):
        raise TeacherError(f"the engine played {best.decode(errors='replace')[:20]!r}")
    if not by_rank:
        raise TeacherError("the engine gave no score")
    played = best.decode()
    scores: dict[str, int] = {}
    for judgement in by_rank.values():
        scores.setdefault(judgement.move, judgement.score)
    top = scores.get(played, max(scores.values()))
    others = [Judgement(move, min(score, top)) for move, score in scores.items() if move != played]
    return [Judgement(played, top), *sorted(others, key=lambda other: -other.score)]


def _read_line(words: list[bytes], by_rank: dict[bytes, Judgement]) -> None:
    """Take one `info` line. A bound counts only while nothing exact is known."""
    try:
        at = words.index(b"score")
        rank = words[words.index(b"multipv") + 1] if b"multipv" in words else b"1"
        move = words[words.index(b"pv") + 1]
        if words[at + 3 : at + 4] in ([b"lowerbound"], [b"upperbound"]) and rank in by_rank:
            return
        score = centipawns(words[at + 1], int(words[at + 2]))
    except (ValueError, IndexError):
        raise TeacherError(f"the engine said {b' '.join(words)[:60].decode(errors='replace')!r}") from None
    if not _MOVE.fullmatch(move):
        raise TeacherError(f"the engine's line begins with {move[:20].decode(errors='replace')!r}")
    by_rank[rank] = Judgement(move.decode(), score)


def centipawns(kind: bytes, number: int) -> int:
    """A score of UCI as one number, mates beyond all others.

    >>> centipawns(b"cp", -31), centipawns(b"mate", 2), centipawns(b"mate", -2)
    (-31, 31998, -31998)
    """
    if kind == b"mate":
        distance = min(abs(number), MATE - LARGEST - 1)
        return MATE - distance if number > 0 else distance - MATE
    if kind != b"cp":
        raise ValueError(kind)
    return max(-LARGEST, min(LARGEST, number))
