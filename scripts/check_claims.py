"""Check that no false win or loss is claimed: random positions, against the rules of python-chess.

python -m scripts.check_claims --out claims.jsonl --positions 10000

Each position of `random_positions` is solved, and searched with all uses of mates. The certificate of what is
solved goes through the verifier. What the search claims is replayed from its graph on python-chess, every
defence, with the game's history. Some positions are searched exhaustively for wins in two moves as well, and
compared with every claim. Exit code 1 means that a claim was false, or could not be checked.

Work is done in chunks of 100 positions. Finished ones are in the file of --out; the same command goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import chess
import chess.variant
from scripts.random_positions import random_positions

from anabranch import Engine, Solution, variants
from anabranch.errors import PositionError, ProofError
from anabranch.jobs.journal import JournalFormat
from anabranch.verify import ending, identity, verify_proof

CHUNK = 100
SOLVER_POSITIONS = 2_000
LARGE = 2_000_000
"""Positions of the solver for a claim of the search whose replay takes too long."""
SIMULATIONS = 100
MATES: dict[str, Any] = {
    "mate_leaf": 20, "mate_leaf_value": -1.0, "mate_growth": 1.0, "mate_start": 8, "mate_root": 2.0,
}  # fmt: skip
BRUTE_SHARE = 40
"""One position of so many is searched exhaustively."""
BRUTE_STEPS = 6_000
REPLAY_STEPS = 30_000
COLUMNS = (
    "positions", "refused", "wins", "losses", "no win", "verified", "search wins", "search losses",
    "replayed", "exhaustive", "short wins", "open", "false",
)  # fmt: skip


Chunk: TypeAlias = tuple[str, int, int]
"""Variant, number and size."""
Record: TypeAlias = tuple[dict[str, int], list[str]]
"""What was counted, and what was false."""


class FalseClaimError(Exception):
    """A claim that the rules contradict."""


class TooLongError(Exception):
    """A check that takes too many steps."""


@dataclass
class Game:
    """A board, how often its positions have occurred, and the steps that are left for a check."""

    board: chess.Board
    steps: int
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        past = self.board.root()
        self.seen[identity(past)] += 1
        for move in self.board.move_stack:
            past.push(move)
            self.seen[identity(past)] += 1

    def push(self, move: chess.Move) -> None:
        """Play a move."""
        self.steps -= 1
        if self.steps < 0:
            raise TooLongError
        self.board.push(move)
        self.seen[identity(self.board)] += 1

    def pop(self) -> None:
        """Take it back."""
        self.seen[identity(self.board)] -= 1
        self.board.pop()

    def is_drawn(self) -> bool:
        """Whether the third occurrence of a position or the move count ends the game."""
        has_clock = not isinstance(self.board, chess.variant.CrazyhouseBoard)
        is_late = has_clock and self.board.halfmove_clock >= 100
        return is_late or self.seen[identity(self.board)] >= 3


def shortest_win(game: Game, most: int, *, checks_only: bool = False) -> int | None:
    """The plies of the shortest win of the side to move within `most` plies, by exhaustive search."""
    for plies in range(1, most + 1, 2):
        if not game.is_drawn() and wins_within(game, plies, checks_only):
            return plies
    return None


def wins_within(game: Game, plies: int, checks_only: bool) -> bool:
    """Whether the side to move has a move after which it wins, whatever the other side does."""
    board = game.board
    is_check_needed = checks_only or (plies == 1 and is_won_by_check(board))
    for move in list(board.legal_moves):
        if is_check_needed and not board.gives_check(move):
            continue
        game.push(move)
        wins = is_lost_within(game, plies - 1, checks_only)
        game.pop()
        if wins:
            return True
    return False


def is_lost_within(game: Game, plies: int, checks_only: bool) -> bool:
    """Whether the side to move loses, whatever it does."""
    result = ending(game.board)
    if result is not None:
        return result.winner == (not game.board.turn)
    if plies == 0 or game.is_drawn():
        return False
    for move in list(game.board.legal_moves):
        game.push(move)
        result = ending(game.board)
        if result is not None:
            loses = result.winner == game.board.turn
        else:
            loses = not game.is_drawn() and wins_within(game, plies - 1, checks_only)
        game.pop()
        if not loses:
            return False
    return True


def is_won_by_check(board: chess.Board) -> bool:
    """Whether the last move of every win gives check."""
    return type(board) in (chess.Board, chess.variant.CrazyhouseBoard, chess.variant.ThreeCheckBoard)


class Replay:
    """A proof in a search graph, played on python-chess."""

    def __init__(self, engine: Engine, game: Game, *, is_win: bool) -> None:
        graph = engine.graph(nodes=1_000_000, visits=0)
        self.nodes = graph.nodes
        self.moves: dict[int, dict[str, int]] = {}
        for edge in graph.edges:
            self.moves.setdefault(edge.source, {})[edge.move] = edge.target
        self.game = game
        self.attacker = game.board.turn == is_win

    def plies(self, id: int = 0) -> int:
        """The length of the proof from a node on."""
        board, moves = self.game.board, self.moves.get(id, {})
        result = ending(board)
        if result is not None:
            if result.winner != self.attacker:
                raise FalseClaimError(f"the end {board.fen()} is not won")
            return 0
        if self.game.is_drawn():
            raise FalseClaimError(f"the game is drawn in {board.fen()}")
        if board.turn == self.attacker:
            lost = [text for text, to in moves.items() if self.nodes[to].state == "loss"]
            if not lost:
                raise FalseClaimError(f"there is no winning move in {board.fen()}")
            played = [min(lost, key=lambda text: self.nodes[moves[text]].plies or 0)]
        else:
            played = [board.uci(move) for move in board.legal_moves]
        longest = 0
        for text in played:
            if text not in moves:
                raise FalseClaimError(f"the defence {text} in {board.fen()} is missing")
            self.game.push(chess.Move.from_uci(text))
            longest = max(longest, self.plies(moves[text]))
            self.game.pop()
        return longest + 1


@cache
def engine_of(variant: str) -> Engine:
    """The engine that makes the claims."""
    is_960 = variant == "chess960"
    name = "chess" if is_960 else variant
    return Engine(name, chess960=is_960, evaluator="material", improve=False, memory=64 << 20, **MATES)


def certificate_of(solution: Solution, board: chess.Board) -> str:
    """The proof of what is claimed about a position, in the game that led to it."""
    text = solution.certificate or ""
    header = json.loads(text.partition("\n")[0])
    first, named = board.root(), type(board)(header["fen"], chess960=board.chess960)
    is_same = identity(first) == identity(named) and first.halfmove_clock == named.halfmove_clock
    if not is_same or header["moves"] != [move.uci() for move in board.move_stack]:
        raise FalseClaimError("the certificate is about another game")
    return text


def verify(solution: Solution, board: chess.Board, result: str, plies: int | None) -> None:
    """Check a certificate, and that it says what was claimed."""
    certificate = certificate_of(solution, board)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "proof.jsonl"
        file.write_text(certificate, encoding="utf-8")
        try:
            verified = verify_proof(file)
        except ProofError as error:
            raise FalseClaimError(str(error)) from error
    if verified.result != result or (plies is not None and verified.plies != plies):
        raise FalseClaimError(f"the certificate is for {verified.result} in {verified.plies} plies")


def check_solution(engine: Engine, board: chess.Board, counts: Counter[str]) -> set[str]:
    """Solve a position and verify what is claimed; the claims."""
    solution = engine.solve(board, positions=SOLVER_POSITIONS)
    if solution.result is not None:
        counts["wins" if solution.result == "win" else "losses"] += 1
        verify(solution, board, solution.result, solution.plies)
        counts["verified"] += 1
        return {solution.result}
    counts["no win"] += solution.no_win
    return {"no win"} if solution.no_win else set()


def check_search(engine: Engine, board: chess.Board, counts: Counter[str]) -> set[str]:
    """Search a position and replay what is claimed; the claim."""
    engine.forget()
    solved = engine.search(board, simulations=SIMULATIONS).solved
    if solved is None or solved.state not in ("win", "loss"):
        return set() if solved is None else {solved.state}
    counts["search wins" if solved.state == "win" else "search losses"] += 1
    try:
        plies = Replay(engine, Game(board.copy(), REPLAY_STEPS), is_win=solved.state == "win").plies()
        if plies != solved.plies:
            raise FalseClaimError(f"{solved.plies} plies are claimed, and the proof has {plies}")
        counts["replayed"] += 1
    except TooLongError:
        solution = engine.solve(board, positions=LARGE)
        if solution.result is None:
            counts["open"] += 1
        else:
            verify(solution, board, solved.state, None)
            counts["verified"] += 1
    return {solved.state}


def check_exhaustively(engine: Engine, board: chess.Board, claims: set[str], counts: Counter[str]) -> None:
    """Compare claims with all lines of two moves."""
    try:
        plies = shortest_win(Game(board.copy(), BRUTE_STEPS), 3)
        by_checks = shortest_win(Game(board.copy(), BRUTE_STEPS), 3, checks_only=True)
    except TooLongError:
        return
    counts["exhaustive"] += 1
    counts["short wins"] += plies is not None
    wrong = claims & {"loss", "draw", "no win"}
    if plies is not None and wrong:
        raise FalseClaimError(f"there is a win in {plies} plies, and {wrong} is claimed")
    checks = engine.solve(board, positions=SOLVER_POSITIONS, checks_only=True)
    if by_checks is not None and checks.no_win:
        raise FalseClaimError(f"there is a win by checks in {by_checks} plies, and none is claimed")
    short = engine.solve(board, positions=20 * SOLVER_POSITIONS, shortest=True)
    if short.result == "win" and short.is_shortest and (plies or 5) != min(short.plies or 0, 5):
        raise FalseClaimError(f"{short.plies} plies are claimed as the shortest, and {plies} are")


def check_chunk(variant: str, chunk: int, count: int) -> Record:
    """Check the positions of a chunk; the counts, and what was false."""
    engine, counts, faults = engine_of(variant), Counter[str](), list[str]()
    for number, board in enumerate(random_positions(variant, str(chunk), count)):
        counts["positions"] += 1
        try:
            claims = check_solution(engine, board, counts) | check_search(engine, board, counts)
            if len(claims & {"win", "loss", "draw"}) > 1 or {"win", "no win"} <= claims:
                raise FalseClaimError(f"the claims contradict each other: {sorted(claims)}")
            if number % BRUTE_SHARE == 0:
                check_exhaustively(engine, board, claims, counts)
        except PositionError:  # no game leads there, and the core says so
            counts["refused"] += 1
        except FalseClaimError as error:
            counts["false"] += 1
            moves = " ".join(move.uci() for move in board.move_stack)
            faults.append(f"{variant} {chunk}/{number}: {error} ({board.root().fen()} moves {moves})")
    return dict(counts), faults


JOURNAL: JournalFormat[Chunk, Record] = JournalFormat(
    "a chunk of checked positions",
    lambda line: ((str(line[0]), int(line[1]), int(line[2])), (dict(line[3]), list(line[4]))),
    lambda key, record: [*key, *record],
)


def show(variant: str, counts: Counter[str]) -> None:
    """One row of the table."""
    print(f"{variant:13}", *(f"{counts[name]:{max(7, len(name))},}" for name in COLUMNS), flush=True)


def chunks(names: list[str], positions: int) -> Iterator[Chunk]:
    """Variant, number and size of each chunk; all variants make progress."""
    for chunk in range(-(-positions // CHUNK)):
        for name in names:
            yield name, chunk, min(CHUNK, positions - chunk * CHUNK)


def checked(work: list[Chunk], jobs: int) -> Iterator[Record]:
    """The records of chunks, in their order."""
    if jobs == 0:
        yield from itertools.starmap(check_chunk, work)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(check_chunk, *zip(*work, strict=True)) if work else ()


def main(arguments: list[str] | None = None) -> int:
    """Check all chunks, and print the counts of each variant."""
    parser = argparse.ArgumentParser(description="Check the claims of the solver and of the search.")
    parser.add_argument("--out", type=Path, required=True, help="journal of finished chunks (JSON lines)")
    parser.add_argument("--positions", type=int, default=10_000, help="positions of each variant")
    parser.add_argument("--variant", nargs="+", default=[*variants(), "chess960"])
    parser.add_argument("--jobs", type=int, default=0, help="processes besides this one")
    options = parser.parse_args(arguments)
    totals = {name: Counter[str]() for name in options.variant}
    print(f"{'':13}", *(f"{name:>7}" for name in COLUMNS))
    work = list(chunks(options.variant, options.positions))
    with JOURNAL.open(options.out) as journal:
        missing = [key for key in work if key not in journal.records]
        for key, record in zip(missing, checked(missing, options.jobs), strict=True):
            journal.add(key, record)
        for key in work:
            counts, faults = journal.records[key]
            totals[key[0]].update(counts)
            for fault in faults:
                print(fault, file=sys.stderr, flush=True)
    for name, total in totals.items():
        show(name, total)
    return 1 if any(total["false"] or total["open"] for total in totals.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
