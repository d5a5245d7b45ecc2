"""A UCI program as a player. Whatever it does wrong is a `Fault`, and the match goes on.

A program that failed is ended and started again for the next game. Output before `readyok` belongs to an
earlier command and is skipped; the clock runs from `go` to `bestmove`.
"""

from __future__ import annotations

import time

import chess

from anabranch.errors import MatchError
from anabranch.formats.scores import read_score
from anabranch.jobs.program import Program, ProgramError, find_program
from anabranch.match.player import Fault, FaultKind, MoveLimits, PlayerSpec, PlayResult

HANG_TIMEOUT = 1.0
"""Seconds beyond limit and margin after which a move that is still to come is a hang."""
MOST = 1 << 24
"""Bytes of the longest reply."""


class UciPlayer:
    """A UCI program with its options. It is started when it first has to play."""

    def __init__(
        self,
        spec: PlayerSpec,
        variant: str,
        chess960: bool = False,
        margin: float = 1.0,
        timeout: float = 60.0,
    ) -> None:
        self._spec = spec
        self._variant = variant
        self._chess960 = chess960
        self._margin = margin
        self._timeout = timeout
        self._program: Program | None = None
        self.title = spec.target
        if not spec.command:
            raise MatchError(f"player {spec.name} has no command")
        find_program(spec.command[0])

    @property
    def process_id(self) -> int | None:
        """Its process id, if it runs."""
        return None if self._program is None else self._program.process_id

    def new_game(self, seed: int) -> None:
        """Start the program if it does not run, and make it forget the last game. The seed is not used."""
        if self._program is None:
            self._start()
        self._ask("ucinewgame\nisready\n", "not ready", b"readyok")

    def play(self, position: chess.Board, limits: MoveLimits) -> PlayResult:
        """The move of the program."""
        if self._program is None:
            self._start()
        self._ask("isready\n", "not ready", b"readyok")
        allowed = limits.own_time(position.turn)
        timeout = self._timeout if allowed is None else allowed + self._margin + HANG_TIMEOUT
        commands = f"position {describe(position)}\n{go(limits)}\n"
        begun = time.monotonic()
        output = self._ask(commands, "hang", b"bestmove", timeout=timeout)
        seconds = time.monotonic() - begun
        try:
            if allowed is not None and seconds > allowed + self._margin:
                raise Fault("time", f"{seconds:.2f} s were spent and {allowed:.2f} s allowed")
            return read_answer(output, position)._replace(seconds=seconds)
        except Fault:
            self.close()  # its state is unknown
            raise

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.close()
            self._program = None

    def _start(self) -> None:
        try:
            program = self._program = Program(self._spec.command, MOST)
            options = {"UCI_Chess960": "true", **self._spec.options} if self._chess960 else self._spec.options
            self.title = program.greet(self._variant, options, self._timeout)
        except ProgramError as error:
            self.close()
            raise Fault(_fault_of(error, "not ready"), str(error)) from error
        except BaseException:
            self.close()
            raise

    def _ask(self, commands: str, late: FaultKind, *ends: bytes, timeout: float | None = None) -> bytes:
        assert self._program is not None
        try:
            return self._program.ask(commands, ends, self._timeout if timeout is None else timeout)
        except ProgramError as error:
            self.close()
            raise Fault(_fault_of(error, late), str(error)) from error


def _fault_of(error: ProgramError, late: FaultKind) -> FaultKind:
    match error.trouble:
        case "hang":
            return late
        case "endless":
            return "endless"
        case "garbage":
            return "garbage"
    return "crash"


def describe(position: chess.Board) -> str:
    """The arguments of the UCI command `position`.

    >>> board = chess.Board()
    >>> board.push_uci("e2e4")
    Move.from_uci('e2e4')
    >>> describe(board)
    'fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves e2e4'
    """
    start = f"fen {position.root().fen()}"
    moves = " ".join(move.uci() for move in position.move_stack)
    return f"{start} moves {moves}" if moves else start


def go(limits: MoveLimits) -> str:
    """The UCI command to search.

    >>> from anabranch.match.player import Budget
    >>> go(MoveLimits(Budget(nodes=100))), go(MoveLimits(Budget(time=0.5)))
    ('go nodes 100', 'go movetime 500')
    >>> go(MoveLimits(Budget(clock=60.0, increment=0.5), (42.5, 61.0), (0.5, 0.0)))
    'go wtime 42500 btime 61000 winc 500 binc 0'
    """
    budget = limits.budget
    words = ["go"]
    if limits.left is not None and budget.clock is not None:
        white, black = (max(1, int(1000 * left)) for left in limits.left)
        gains = [int(1000 * gain) for gain in limits.increments]
        words.append(f"wtime {white} btime {black} winc {gains[0]} binc {gains[1]}")
    if budget.time is not None:
        words.append(f"movetime {max(1, int(1000 * budget.time))}")
    counts = (budget.evaluations, budget.simulations, budget.nodes)
    nodes = [number for number in counts if number is not None]
    if nodes:
        words.append(f"nodes {min(nodes)}")
    return " ".join(words)


def read_answer(output: bytes, position: chess.Board) -> PlayResult:
    r"""The legal move of a program's output, with its last score of the first line.

    >>> read_answer(b"info depth 3 score cp 31 pv e2e4\nbestmove e2e4\n", chess.Board())[:3]
    (Move.from_uci('e2e4'), 31, 3)
    """
    lines = output.splitlines()
    words = lines[-1].split() if lines else []
    text = words[1].decode(errors="replace")[:20] if len(words) > 1 else ""
    try:
        move = chess.Move.from_uci(text)
    except ValueError:
        raise Fault("garbage", f"the engine played {text!r}") from None
    try:
        move = position.parse_uci(text)
    except ValueError:
        move = chess.Move.null()
    if not move:
        raise Fault("illegal", f"the engine played {text}, which is illegal in {position.fen()}")
    for line in reversed(lines[:-1]):
        info = _read_info(line.split())
        if info is not None:
            score, depth, nodes = info
            return PlayResult(move, score, depth, nodes)
    return PlayResult(move)


def _read_info(words: list[bytes]) -> tuple[int, int | None, int | None] | None:
    """Score, depth and nodes of a line, if it has a score that can be read."""
    if words[:1] != [b"info"] or words[1:2] == [b"string"] or b"score" not in words:
        return None
    if _number(words, b"multipv") not in (None, 1):
        return None
    at = words.index(b"score")
    try:
        score = read_score(words[at + 1], int(words[at + 2]))
    except (ValueError, IndexError):
        return None
    return score, _number(words, b"depth"), _number(words, b"nodes")


def _number(words: list[bytes], name: bytes) -> int | None:
    if name not in words:
        return None
    try:
        return int(words[words.index(name) + 1])
    except (ValueError, IndexError):
        return None
