"""A teacher: any UCI engine that scores its best moves with a fixed number of nodes.

A teacher that crashes, hangs or answers nonsense raises `TeacherError` and is dead afterwards. The
pipes are those of `anabranch.jobs.program`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
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


AHEAD = 64
"""Questions under way in `judge_all`. They must fit into a pipe, or both sides could wait to write."""
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

    def judge(self, position: str, nodes: int, depth: int | None = None) -> list[Judgement]:
        """The moves the engine looked at in full, best first; the first is the one it would play. `depth`,
        where given, is the limit instead of nodes.

        Output before `readyok` belongs to an earlier question and does not count.
        """
        answer = self._ask(f"isready\n{_question(position, nodes, depth)}", b"readyok", b"bestmove")
        return read_answer(answer)

    def judge_all(
        self, positions: Sequence[str], nodes: int, depth: int | None = None
    ) -> list[list[Judgement]]:
        """The judgements of positions in a row. Commands are sent ahead, so the engine does not wait for us.

        This is for engines that finish a search before they obey the next `go`, as Stockfish does.
        """
        questions = [_question(position, nodes, depth) for position in positions]
        self._ask("isready\n" + "".join(questions[:AHEAD]), b"readyok")
        judgements: list[list[Judgement]] = []
        for number in range(len(questions)):
            sent = number + AHEAD // 2
            ahead = "".join(questions[sent : sent + AHEAD // 2]) if number and not sent % (AHEAD // 2) else ""
            judgements.append(read_answer(self._ask(ahead, b"bestmove")))
        return judgements

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


def _question(position: str, nodes: int, depth: int | None) -> str:
    limit = f"nodes {nodes}" if depth is None else f"depth {depth}"
    return f"position {position}\ngo {limit}\n"


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
    exact: set[bytes] = set()
    best = b""
    for line in reversed(answer.splitlines()):
        if line.startswith(b"bestmove"):
            best = best or [*line.split(), b""][1]
        elif line.startswith(b"info ") and not line.startswith(b"info string"):
            at = line.find(b" multipv ") + 9
            rank = line[at : line.find(b" ", at)] if at >= 9 else b"1"
            if rank not in exact and b" pv " in line and b" score " in line:
                _read_line(rank, line.split(), by_rank, exact)
    if not _MOVE.fullmatch(best):
        raise TeacherError(f"the engine played {best.decode(errors='replace')[:20]!r}")
    if not by_rank:
        raise TeacherError("the engine gave no score")
    played = best.decode()
    scores: dict[str, int] = {}
    for judgement in reversed(by_rank.values()):
        scores.setdefault(judgement.move, judgement.score)
    top = scores.get(played, max(scores.values()))
    others = [Judgement(move, min(score, top)) for move, score in scores.items() if move != played]
    return [Judgement(played, top), *sorted(others, key=lambda other: -other.score)]


def _read_line(rank: bytes, words: list[bytes], by_rank: dict[bytes, Judgement], exact: set[bytes]) -> None:
    """Take one `info` line, the last first. A bound counts only while nothing exact is known."""
    try:
        at = words.index(b"score")
        move = words[words.index(b"pv") + 1]
        score = read_score(words[at + 1], int(words[at + 2]))
    except (ValueError, IndexError):
        raise TeacherError(f"the engine said {b' '.join(words)[:60].decode(errors='replace')!r}") from None
    if not _MOVE.fullmatch(move):
        raise TeacherError(f"the engine's line begins with {move[:20].decode(errors='replace')!r}")
    by_rank[rank] = Judgement(move.decode(), score)
    if words[at + 3 : at + 4] not in ([b"lowerbound"], [b"upperbound"]):
        exact.add(rank)
