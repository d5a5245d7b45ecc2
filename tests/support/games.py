"""One game between our engine and another UCI program, over raw pipes, with a clock of our own.

The clock of a side runs from the moment before `go` is written to the moment when `bestmove` has been read;
below zero is a forfeit, without tolerance. What our engine says is judged by the validator. Who plays many
games, and how many at once, is not known here.
"""

import random
from dataclasses import asdict, dataclass, field
from typing import Any

import chess
import chess.variant
from tests.support.dialogue import NoAnswer
from tests.support.engine_process import EngineProcess, our_command

from anabranch.data.teacher import find_engine

OPPONENTS = {"chess": "stockfish", "crazyhouse": "fairy-stockfish"}
LONGEST = 400
"""Plies after which a game is called a draw."""
PATIENCE = 30.0
"""Seconds above its clock after which an engine is taken to hang."""


@dataclass(frozen=True)
class Terms:
    """How a game is played. Times are milliseconds."""

    variant: str
    number: int
    initial: int = 1000
    increment: int = 10
    overhead: int = 30
    hash: int = 64
    opponent_nodes: int | None = None
    """What the opponent searches for a move, instead of playing by its clock."""

    @property
    def is_ours_white(self) -> bool:
        """We have white in games with even numbers; two games share an opening."""
        return self.number % 2 == 0


@dataclass
class Record:
    """What became of a game. `score` is ours: 1, 0.5 or 0."""

    variant: str
    number: int
    score: float | None = None
    reason: str = ""
    plies: int = 0
    smallest_clock: float = 0.0
    clocks: list[int] = field(default_factory=list)
    """Our clock when each of our moves had been made, with the increment, from the end of the opening on."""
    forfeit: bool = False
    illegal: bool = False
    crash: bool = False
    opponent_failed: bool = False
    faults: list[str] = field(default_factory=list)
    moves: str = ""
    transcript: str = ""
    """The end of our dialogue, where something went wrong."""

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @property
    def is_clean(self) -> bool:
        """Whether our engine did nothing wrong."""
        return not (self.forfeit or self.illegal or self.crash or self.faults)


def opening(variant: str, number: int) -> list[chess.Move]:
    """Random plies to a position where the game goes on."""
    source = random.Random(f"games/{variant}/{number}")
    while True:
        board = chess.variant.find_variant(variant)()
        for _ in range(source.randint(4, 8)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(source.choice(moves))
        if not board.is_game_over():
            return list(board.move_stack)


def play(terms: Terms) -> Record:
    """Play a game to its end."""
    record = Record(terms.variant, terms.number, smallest_clock=float(terms.initial))
    board = chess.variant.find_variant(terms.variant)()
    for move in opening(terms.variant, terms.number // 2):
        board.push(move)
    with (
        EngineProcess(our_command()) as ours,
        EngineProcess([find_engine(OPPONENTS[terms.variant])]) as theirs,
    ):
        try:
            ours.greet(Move_Overhead=terms.overhead, Hash=terms.hash, UCI_Variant=terms.variant)
        except NoAnswer as error:
            record.crash, record.reason = True, str(error)
            return record
        theirs.greet(
            Threads=1, Hash=16, **({} if terms.variant == "chess" else {"UCI_Variant": terms.variant})
        )
        ours.ask("ucinewgame", "isready", answer="readyok")
        _moves(terms, record, board, ours, theirs)
        if not record.crash:
            _say_goodbye(record, ours)
        record.faults = [f"{fault.rule}: {fault.text}" for fault in ours.faults()][:20]
        if not record.is_clean:
            record.transcript = ours.excerpt(60) + "\n" + ours.error_text
    record.plies = board.ply()
    record.moves = " ".join(move.uci() for move in board.move_stack)
    return record


def _moves(
    terms: Terms, record: Record, board: chess.Board, ours: EngineProcess, theirs: EngineProcess
) -> None:
    """The game itself, until the record has a score."""
    clocks = {chess.WHITE: float(terms.initial), chess.BLACK: float(terms.initial)}
    while record.score is None:
        if board.is_game_over(claim_draw=True) or board.ply() >= LONGEST:
            result = board.result(claim_draw=True)
            record.score = {"1-0": 1.0, "0-1": 0.0}.get(result, 0.5)
            if not terms.is_ours_white:
                record.score = 1.0 - record.score
            record.reason = "rules" if board.is_game_over(claim_draw=True) else "length"
            return
        is_our_turn = board.turn == terms.is_ours_white
        try:
            nodes = None if is_our_turn else terms.opponent_nodes
            text, taken = _ask(ours if is_our_turn else theirs, board, clocks, terms.increment, nodes)
        except NoAnswer as error:
            record.score, record.reason = (0.0 if is_our_turn else 1.0), f"no answer: {error}"
            record.crash, record.opponent_failed = is_our_turn, not is_our_turn
            return
        clocks[board.turn] -= taken
        if is_our_turn:
            record.smallest_clock = min(record.smallest_clock, clocks[board.turn])
            if clocks[board.turn] < 0:
                record.score, record.reason, record.forfeit = 0.0, f"{-clocks[board.turn]:.0f} ms over", True
                return
        # The other side's clock is its own affair.
        clocks[board.turn] = max(clocks[board.turn], 1.0) + terms.increment
        if is_our_turn:
            record.clocks.append(int(clocks[board.turn]))
        try:
            board.push(board.parse_uci(text))
        except ValueError:
            record.score, record.reason = (0.0 if is_our_turn else 1.0), f"illegal move {text}"
            record.illegal, record.opponent_failed = is_our_turn, not is_our_turn


def _ask(
    engine: EngineProcess,
    board: chess.Board,
    clocks: dict[chess.Color, float],
    increment: int,
    nodes: int | None,
) -> tuple[str, float]:
    """A move, and the milliseconds it took."""
    moves = " ".join(move.uci() for move in board.move_stack)
    white, black = max(1, int(clocks[chess.WHITE])), max(1, int(clocks[chess.BLACK]))
    engine.send(f"position startpos moves {moves}")
    clock = f"wtime {white} btime {black} winc {increment} binc {increment}"
    begun = engine.send(f"go {clock}" if nodes is None else f"go nodes {nodes}")
    answer = engine.wait_for("bestmove", clocks[board.turn] / 1000 + PATIENCE)
    assert answer.at is not None
    return answer.text.split()[1], (answer.at - begun) * 1000


def _say_goodbye(record: Record, ours: EngineProcess) -> None:
    try:
        ours.quit()
    except AssertionError as error:
        record.crash = True
        record.reason += f"; at the end: {error}"
