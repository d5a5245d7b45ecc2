"""Measure the Elo of every handicap of `anabranch.strength` by games, on the scale of Stockfish's UCI_Elo.

python scripts/calibrate_elo.py --games 1000 --out FILE

Players are the rows of `anabranch.strength.LEVELS` and Stockfish with UCI_LimitStrength at some UCI_Elo. A
limited Stockfish chooses its move at depth 1 + level, so it searches to that depth only: the strength is that
of its own calibration (60 s + 0.6 s a game), and the games are quick. Below its range, levels play their
neighbours. The next pairing is the player with the fewest games against the opponent expected to be the
closest and least played. Openings are random plies that our network finds balanced, each played with both
colours. Every finished pair is a line of FILE; run again to continue. At the end: the most likely Elo of each
level, with Stockfish's fixed.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

import chess
import chess.engine
import numpy as np

from anabranch import Engine
from anabranch.data.teacher import find_engine
from anabranch.strength import LEVELS, MEASURED, Handicap

ANCHORS = (1350, 1500, 1650, 1800, 1950, 2100, 2250, 2400, 2550, 2700)
"""UCI_Elo of the opponents."""
MEASURABLE = tuple(index for index, (elo, _) in enumerate(LEVELS) if elo <= MEASURED)
"""Rows whose games take seconds, not hours."""
LONGEST = 400
"""Plies after which a game is a draw."""
PRIOR = 0.2
"""Drawn games of each level against its row in the table, so that a perfect score has a finite Elo. Put the
result into the table and fit again, and the prior has no influence."""


class Pair(NamedTuple):
    """Two games from one opening with colours reversed."""

    level: int
    """Row of the table."""
    opponent: str
    """`stockfish 1500`, or `level 3`."""
    opening: int
    scores: tuple[float, float]
    """Of the level."""
    seconds: float


class Player(Protocol):
    """A player."""

    def play(self, board: chess.Board) -> chess.Move:
        """The move to play."""


class Ours:
    """Our engine with a handicap."""

    def __init__(self, handicap: Handicap, random: Random) -> None:
        self.handicap = handicap
        self.random = random
        self.engine = Engine("chess")

    def play(self, board: chess.Board) -> chess.Move:
        """The move to play."""
        stray = self.handicap.stray([move.uci() for move in board.legal_moves], self.random)
        if stray is not None:
            return chess.Move.from_uci(stray)
        self.engine.configure(**self.handicap.settings(self.random))
        return self.engine.search(board, simulations=self.handicap.simulations, lines=0).move


class Theirs:
    """Stockfish, limited."""

    def __init__(self, elo: int) -> None:
        self.engine = chess.engine.SimpleEngine.popen_uci(find_engine("stockfish"))
        self.engine.configure({"Threads": 1, "Hash": 16, "UCI_LimitStrength": True, "UCI_Elo": elo})
        self.limit = chess.engine.Limit(depth=1 + int(skill_of(elo)))

    def play(self, board: chess.Board) -> chess.Move:
        """The move to play."""
        move = self.engine.play(board, self.limit).move
        assert move is not None
        return move


def skill_of(elo: int) -> float:
    """The skill level that Stockfish 15 makes of an Elo."""
    return min(max(math.pow((elo - 1346.6) / 143.4, 1 / 0.806), 0.0), 19.0)


def opening(number: int) -> chess.Board:
    """A balanced position after random moves."""
    random = Random(f"calibrate/{number}")
    engine = Engine("chess")
    while True:
        board = chess.Board()
        for _ in range(random.randint(4, 8)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(random.choice(moves))
        if not board.is_game_over() and abs(engine.search(board, simulations=400).value) < 0.2:
            return board


def play_game(white: Player, black: Player, board: chess.Board) -> float:
    """White's score."""
    board = board.copy()
    for _ in range(LONGEST):
        outcome = board.outcome(claim_draw=True)
        if outcome is not None:
            return 0.5 if outcome.winner is None else float(outcome.winner)
        board.push((white if board.turn else black).play(board))
    return 0.5


def fit(pairs: Sequence[Pair], guess: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The most likely Elo of the levels and their standard errors, draws counted as half a win.

    Newton's method on the likelihood of a logistic scale; the anchors stay where they are.
    """
    count = len(guess)
    first = np.array(guess, dtype=np.float64)
    rating = first.copy()
    slope = math.log(10.0) / 400.0
    curvature = np.eye(count)
    for _ in range(100):
        gradient = PRIOR * (0.5 - _expected(rating - first))
        share = _expected(rating - first)
        curvature = np.diag(PRIOR * share * (1.0 - share))
        for pair in pairs:
            kind, name = pair.opponent.split()
            own, other = pair.level, int(name)
            facing = rating[other] if kind == "level" else float(name)
            expected = float(_expected(rating[own] - facing))
            surplus = sum(pair.scores) - 2.0 * expected
            weight = 2.0 * expected * (1.0 - expected)
            gradient[own] += surplus
            curvature[own, own] += weight
            if kind == "level":
                gradient[other] -= surplus
                curvature[other, other] += weight
                curvature[own, other] -= weight
                curvature[other, own] -= weight
        step = np.clip(np.linalg.solve(curvature, gradient) / slope, -200.0, 200.0)
        rating += step
        if np.abs(step).max() < 0.01:
            break
    return rating, np.sqrt(np.diag(np.linalg.inv(curvature))) / slope


def _expected(difference: np.ndarray | float) -> np.ndarray:
    return 1.0 / (1.0 + 10.0 ** (-np.asarray(difference) / 400.0))


def next_pairing(pairs: Sequence[Pair], rating: Sequence[float], levels: Sequence[int]) -> tuple[int, str]:
    """Of some levels the one with the fewest games, and its most informative opponent."""
    level = min(levels, key=lambda index: (len(_games_of(index, pairs)), index))
    choices = {f"stockfish {elo}": float(elo) for elo in ANCHORS}
    for other in (level - 1, level + 1):
        if 0 <= other < len(rating) and LEVELS[other][0] <= MEASURED:
            choices[f"level {other}"] = float(rating[other])

    def worth(name: str) -> float:
        expected = float(_expected(rating[level] - choices[name]))
        between = sum(pair.level == level and pair.opponent == name for pair in pairs)
        return expected * (1.0 - expected) / (2 + between)

    return level, max(choices, key=worth)


def _games_of(level: int, pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.level == level or pair.opponent == f"level {level}"]


def play_pair(level: int, opponent: str, number: int) -> Pair:
    """Two games."""
    begun = time.monotonic()
    random = Random(f"{level}/{opponent}/{number}")
    ours = Ours(LEVELS[level][1], random)
    kind, name = opponent.split()
    theirs: Player = Theirs(int(name)) if kind == "stockfish" else Ours(LEVELS[int(name)][1], random)
    try:
        board = opening(number)
        first = play_game(ours, theirs, board)
        second = 1.0 - play_game(theirs, ours, board)
        return Pair(level, opponent, number, (first, second), round(time.monotonic() - begun, 2))
    finally:
        if isinstance(theirs, Theirs):
            theirs.engine.quit()


def main() -> None:
    """Read the options, play, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=1000, help="in all, those in the file included")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--levels", type=int, nargs="*", default=MEASURABLE, help="rows to play")
    options = parser.parse_args()
    guess = [float(elo) for elo, _ in LEVELS]
    pairs = []
    if options.out.exists():
        lines = options.out.read_text().splitlines()
        pairs = [Pair(**json.loads(line)) for line in lines]
    with options.out.open("a") as file:
        while 2 * len(pairs) < options.games:
            rating, _ = fit(pairs, guess)
            level, opponent = next_pairing(pairs, list(rating), options.levels)
            pairs.append(play_pair(level, opponent, len(pairs)))
            file.write(json.dumps(pairs[-1]._asdict()) + "\n")
            file.flush()
    rating, error = fit(pairs, guess)
    print(f"{'simulations':>11} {'temperature':>11} {'blunders':>8} {'games':>6} {'Elo':>6} {'± 95 %':>7}")
    for level in MEASURABLE:
        handicap = LEVELS[level][1]
        games = 2 * len(_games_of(level, pairs))
        print(
            f"{handicap.simulations:>11} {handicap.temperature:>11.2f} {handicap.blunders:>8.2f} {games:>6} "
            f"{rating[level]:>6.0f} {1.96 * error[level]:>7.0f}"
        )


if __name__ == "__main__":
    main()
