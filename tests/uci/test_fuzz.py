"""The protocol under fire: mutated lines, endless lines, endless games, commands in random order.

Nothing may raise, hang or break a rule of the validator. All seeds are fixed. Searches are stopped soon after
they begin, and commands that count or measure for long are not fired.
"""

import random
from functools import cache
from pathlib import Path

import chess
import pytest
from tests.support.dialogue import Dialogue
from tests.support.engine_process import EngineProcess
from tests.support.engine_session import Session

LINES_IN_PROCESS = 8_000
LINES_THROUGH_PIPE = 2_000
INTERLEAVINGS = 400
LONG_GAME = 6_000

SEEDS = [
    "uci", "isready", "ucinewgame", "debug on", "debug off", "stop", "ponderhit", "position startpos",
    "position startpos moves e2e4 e7e5 g1f3", "position startpos moves e2e4 d7d5 e4d5 d8d5 P@e4",
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1g1",
    "position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
    "position fen R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
    "position fen rnbqkbnr/pppp1ppp/8/8/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3",
    "position fen rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3 moves d4e3", "go nodes 8",
    "go depth 1", "go movetime 2", "go infinite", "go ponder wtime 20 btime 20",
    "go wtime 20 btime 20 winc 1 binc 1 movestogo 5", "go searchmoves e2e4 d2d4 nodes 8",
    "go mate 1 nodes 8", "setoption name MultiPV value 3", "setoption name MultiPV value 1",
    "setoption name UCI_ShowWDL value true", "setoption name UCI_ShowWDL value false",
    "setoption name UCI_Chess960 value true", "setoption name UCI_Chess960 value false",
    "setoption name Hash value 16", "setoption name Clear Hash", "setoption name Contempt value 10",
    "setoption name Move Overhead value 5", "setoption name UCI_LimitStrength value false",
    "setoption name VerboseMoveStats value false", "setoption name cpuct_init value 1.5", "help", "d",
]  # fmt: skip
MIXED = [line for line in SEEDS for _ in range(1 if line.startswith(("go", "setoption", "uci")) else 3)]
"""What costs a search, a new setting or a long answer comes less often."""
RARE = ["setoption name UCI_Variant value crazyhouse", "setoption name UCI_Variant value chess"]
"""Each costs the making of an engine."""
WORDS = sorted(
    {word for line in SEEDS for word in line.split()} | {"0", "-1", "999999999999", "0000", "e7e8q"}
)
LETTERS = "abcdefgh12345678 \t/-@=+.:'\"\\%\x00\x7fäΩ♞🂡٣xKQRBNPkqrbnp"
FORBIDDEN = (
    "perft", "bench", "log file", "graph", "quit", "uci_variant", "backend", "preset", "evalfile",
    "threads",
)  # fmt: skip
"""Not fired by chance: they take long, write files, end the session or cost an engine."""
EVERY = 25
"""After so many lines whatever searches is stopped."""


def mutate(source: random.Random) -> str:
    """A line of the protocol with up to four wounds."""
    line = source.choice(MIXED)
    for _ in range(source.choice([0, 0, 1, 1, 1, 2, 3, 4])):
        line = source.choice(WOUNDS)(line, source)
    return "isready" if any(word in line.lower() for word in FORBIDDEN) else line


def _swap_letter(line: str, source: random.Random) -> str:
    at = source.randrange(len(line) + 1)
    return line[:at] + source.choice(LETTERS) + line[at + 1 :]


def _insert_letter(line: str, source: random.Random) -> str:
    at = source.randrange(len(line) + 1)
    return line[:at] + source.choice(LETTERS) + line[at:]


def _cut(line: str, source: random.Random) -> str:
    return line[: source.randrange(len(line) + 1)]


def _swap_word(line: str, source: random.Random) -> str:
    words = line.split() or [""]
    words[source.randrange(len(words))] = source.choice(WORDS)
    return " ".join(words)


def _insert_word(line: str, source: random.Random) -> str:
    words = line.split()
    words.insert(source.randrange(len(words) + 1), source.choice(WORDS))
    return " ".join(words)


def _drop_word(line: str, source: random.Random) -> str:
    words = line.split() or [""]
    del words[source.randrange(len(words))]
    return " ".join(words)


def _shuffle(line: str, source: random.Random) -> str:
    words = line.split()
    source.shuffle(words)
    return " ".join(words)


def _join(line: str, source: random.Random) -> str:
    return f"{line} {source.choice(SEEDS)}"


def _repeat(line: str, source: random.Random) -> str:
    return " ".join([line] * source.randint(2, 5))


WOUNDS = [_swap_letter, _insert_letter, _cut, _swap_word, _insert_word, _drop_word, _shuffle, _join, _repeat]


def fire(dialogue: Dialogue, lines: int, seed: int) -> None:
    """Mutated lines; every so often the engine must come to rest."""
    source = random.Random(seed)
    dialogue.greet(Hash=16, Backend="material")
    for number in range(lines):
        dialogue.send(mutate(source))
        if number % EVERY == EVERY - 1:
            dialogue.send("stop")
            dialogue.rest()
        if number % 1000 == 999:
            dialogue.send(RARE[number // 1000 % 2], "stop")
    dialogue.send("stop")
    dialogue.rest()


@pytest.fixture
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a line might write by accident does not lie about."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_in_a_folder_of_its_own")
def test_mutated_lines_in_process() -> None:
    with Session() as session:
        fire(session, LINES_IN_PROCESS, seed=1)
        session.check()


@pytest.mark.usefixtures("_in_a_folder_of_its_own")
def test_mutated_lines_through_a_pipe(engine: EngineProcess) -> None:
    fire(engine, LINES_THROUGH_PIPE, seed=2)
    engine.ask("ucinewgame", "position startpos", "go nodes 20")
    engine.quit(5.0)


MEGABYTES = [
    "x" * 1_000_000,
    "go " * 333_333 + "nodes 10",
    "position startpos moves " + "e2e4 " * 200_000,
    "position fen " + "8/" * 500_000,
    "setoption name " + "x " * 500_000 + "value 3",
    "setoption name Hash value " + "9" * 1_000_000,
    "go nodes " + "9" * 1_000_000 + " movetime 20",
]


def test_lines_of_a_megabyte(engine: EngineProcess) -> None:
    for line in MEGABYTES:
        engine.send(line)
        if line.startswith("go"):
            engine.wait_for("bestmove")
        engine.settle()
        engine.ask("position startpos moves e2e4", "go nodes 20")
        longest = max(len(event.text) for event in engine.transcript if not event.to_engine)
        assert longest < 4000, line[:40]
    engine.quit()


@cache
def long_game(plies: int, seed: int) -> list[str]:
    """A legal game: pieces go to and fro; a pawn moves, or something is taken, before 75 moves are over."""
    source = random.Random(seed)
    board = chess.Board()
    moves: list[str] = []
    ends: set[chess.Move] = set()
    while len(moves) < plies:
        choices = [move for move in board.legal_moves if not move.promotion and move not in ends]
        quiet = [move for move in choices if not board.is_zeroing(move)]
        steps = [move for move in choices if board.is_zeroing(move) and not board.is_capture(move)]
        last = board.halfmove_clock >= 140
        move = source.choice((steps or choices) if last else (quiet or steps or choices))
        if _ends(board, move):
            ends.add(move)
            continue
        board.push(move)
        moves.append(move.uci())
        ends.clear()
    return moves


def _ends(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    over = not any(board.legal_moves)
    board.pop()
    return over


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_a_game_of_6000_plies(variant: str) -> None:
    moves = long_game(LONG_GAME, seed=3)
    with Session() as session:
        session.greet(UCI_Variant=variant, Hash=16)
        for plies in (LONG_GAME - 2, LONG_GAME - 1, LONG_GAME):
            session.ask(f"position startpos moves {' '.join(moves[:plies])}", "go nodes 50", seconds=30)
        session.ask(f"position startpos moves {' '.join(moves)}", "go wtime 300 btime 300", seconds=5)
        session.check()


def test_random_interleavings() -> None:
    """Commands in any order, with and without waiting; every `go` has its one answer in the end."""
    source = random.Random(4)
    with Session() as session:
        session.greet(Hash=16)
        for _ in range(INTERLEAVINGS):
            for _ in range(source.randint(3, 9)):
                session.send(random_command(source))
                if source.random() < 0.1:
                    session.settle()
            session.send("stop")
        session.rest()
        session.check()
        asked = sum(event.to_engine and event.text.startswith("go") for event in session.transcript)
        assert len(session.said("bestmove")) == asked > INTERLEAVINGS / 2


def test_random_interleavings_through_a_pipe(engine: EngineProcess) -> None:
    source = random.Random(5)
    engine.greet(Hash=16)
    for _ in range(INTERLEAVINGS // 2):
        for _ in range(source.randint(3, 9)):
            engine.send(random_command(source))
        engine.send("stop")
    engine.settle()
    asked = sum(event.to_engine and event.text.startswith("go") for event in engine.transcript)
    while len(engine.said("bestmove")) < asked:
        engine.wait_for("bestmove", 30)
    engine.quit()


def random_command(source: random.Random) -> str:
    kind = source.choice(
        ["stop", "position", "position", "go", "go", "go", "isready", "ponderhit", "setoption"]
    )
    match kind:
        case "position":
            return source.choice([line for line in SEEDS if line.startswith("position")])
        case "go":
            return source.choice([line for line in SEEDS if line.startswith("go")])
        case "setoption":
            return source.choice([line for line in SEEDS if line.startswith("setoption")])
    return kind
