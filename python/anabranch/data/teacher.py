"""A teacher: any UCI engine that scores its best moves with a fixed number of nodes.

A teacher that crashes, hangs or answers nonsense raises `TeacherError` and is dead afterwards. The
pipes are those of `anabranch.jobs.program`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from anabranch.data.jobs import TIMEOUT
from anabranch.errors import DataError, ProgramMissingError, VariantError
from anabranch.formats.scores import read_score
from anabranch.jobs.program import Program, ProgramError, find_program


class TeacherError(DataError):
    """The engine failed."""


class Judgement(NamedTuple):
    """A move and its score in centipawns for the side to move."""

    move: str
    score: int


_MOVE = re.compile(rb"[a-h][1-8][a-h][1-8][nbrqk]?|[PNBRQ]@[a-h][1-8]")


def find_engine(name: str) -> str:
    """The program of that name or path."""
    try:
        return find_program(name)
    except ProgramMissingError as error:
        raise DataError(f"{error} to be the teacher") from error


class TeacherSpec(NamedTuple):
    """A teacher to be started."""

    engine: str
    variant: str
    options: tuple[tuple[str, str], ...] = ()
    timeout: float = TIMEOUT

    def start(self) -> Teacher:
        """Start the program; raises `TeacherError` if that fails."""
        return Teacher(self.engine, self.variant, dict(self.options), self.timeout)


class Teacher:
    """One engine process. It ends with this one, because its input ends then."""

    def __init__(
        self, engine: str, variant: str, options: Mapping[str, str] | None = None, timeout: float = TIMEOUT
    ) -> None:
        self._timeout = timeout
        with _as_teacher():
            self._program = Program([find_engine(engine)])
        try:
            with _as_teacher():
                wanted = {"Threads": "1", "Hash": "4", **(options or {})}
                self.name = self._program.greet(variant, wanted, timeout)
        except BaseException:
            self.close()
            raise

    def new_game(self) -> None:
        """Forget the last game."""
        self._ask("ucinewgame\nisready\n", b"readyok")

    def judge(self, position: str, nodes: int) -> list[Judgement]:
        """The moves the engine looked at in full, best first; the first is the one it would play.

        Output before `readyok` belongs to an earlier question and does not count.
        """
        answer = self._ask(f"isready\nposition {position}\ngo nodes {nodes}\n", b"readyok", b"bestmove")
        return read_answer(answer)

    def close(self) -> None:
        """End the process."""
        self._program.close()

    def _ask(self, commands: str, *ends: bytes) -> bytes:
        with _as_teacher():
            return self._program.ask(commands, ends, self._timeout)

    def __enter__(self) -> Teacher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _as_teacher() -> Iterator[None]:
    """Troubles of a program are those of the teacher."""
    try:
        yield
    except ProgramError as error:
        raise TeacherError(str(error)) from error
    except VariantError as error:
        raise DataError(str(error)) from error


def read_answer(answer: bytes) -> list[Judgement]:
    r"""Judgements from the answer of an engine to `go`: for each line of MultiPV the last exact score.

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
        score = read_score(words[at + 1], int(words[at + 2]))
    except (ValueError, IndexError):
        raise TeacherError(f"the engine said {b' '.join(words)[:60].decode(errors='replace')!r}") from None
    if not _MOVE.fullmatch(move):
        raise TeacherError(f"the engine's line begins with {move[:20].decode(errors='replace')!r}")
    by_rank[rank] = Judgement(move.decode(), score)
