"""Play our engine against a UCI engine at fixed nodes, or against itself with other settings, in pairs.

python scripts/strength.py crazyhouse --engine fairy-stockfish --nodes 1000 --seconds 1 --pairs 20 --out FILE
python scripts/strength.py crazyhouse --against '{"evaluator": "material"}' --seconds 1 --pairs 20 --out FILE

Openings are random plies that the judge (Stockfish or Fairy-Stockfish) finds balanced within 130 centipawns,
each played twice with colours reversed. A game ends by the rules, by a proof, or when both sides have agreed
for three moves who wins. Every finished game is a line of FILE; run again to go on. The figures at the end:
score, and Elo with 95 % error from pairs.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import random
import statistics
from pathlib import Path
from typing import Any

from anabranch import Engine
from anabranch.data.teacher import Teacher


def judge_of(variant: str) -> str:
    """The teacher that judges openings."""
    return "stockfish" if variant == "chess" else "fairy-stockfish"


def opening(variant: str, number: int) -> list[str]:
    """Random moves to a balanced position."""
    source = random.Random(f"strength/{variant}/{number}")
    engine = Engine(variant, evaluator="uniform")
    with Teacher(judge_of(variant), variant) as judge:
        while True:
            engine.reset()
            moves: list[str] = []
            for _ in range(source.randint(4, 8)):
                if not engine.legal_moves:
                    break
                moves.append(source.choice(engine.legal_moves))
                engine.play(moves[-1])
            if engine.legal_moves and not engine.is_over:
                score = judge.judge(f"startpos moves {' '.join(moves)}", 20000)[0].score
                if abs(score) <= 130:
                    return moves


class Ours:
    """Our engine as a player."""

    def __init__(self, variant: str, settings: dict[str, Any], limit: dict[str, Any]) -> None:
        self.engine = Engine(variant, **settings)
        self.limit = limit

    def play(self, moves: list[str]) -> tuple[str, float]:
        """A move, and the value for the side to move."""
        result = self.engine.search(("startpos", moves), **self.limit)
        value = result.value
        if result.solved is not None and result.solved.state in ("win", "loss"):
            value = 2.0 if result.solved.state == "win" else -2.0
        return result.best_move, value


class Theirs:
    """A UCI engine as a player."""

    def __init__(self, variant: str, engine: str, nodes: int) -> None:
        self.teacher = Teacher(engine, variant, {"Hash": "16"})
        self.nodes = nodes

    def play(self, moves: list[str]) -> tuple[str, float]:
        """A move, and the value for the side to move."""
        best = self.teacher.judge(f"startpos moves {' '.join(moves)}".removesuffix(" moves "), self.nodes)[0]
        return best.move, math.tanh(best.score / 800.0)


def play_game(job: tuple[dict[str, Any], int, bool]) -> dict[str, Any]:
    """One game; the score is ours."""
    plan, number, we_begin = job
    variant = plan["variant"]
    ours = Ours(variant, plan["settings"], plan["limit"])
    if plan["engine"]:
        theirs: Ours | Theirs = Theirs(variant, plan["engine"], plan["nodes"])
    else:
        theirs = Ours(variant, plan["against"], plan["limit"])
    rules = Engine(variant, evaluator="uniform")
    moves = opening(variant, number)
    for move in moves:
        rules.play(move)
    begun = len(moves)
    agreed = 0
    last = 0.0
    score: float | None = None
    while score is None:
        us = (len(moves) - begun) % 2 == (0 if we_begin else 1)
        move, value = (ours if us else theirs).play(moves)
        value = value if us else -value  # for us
        agreed = agreed + 1 if abs(value) > 0.93 and value * last > 0 else 0
        last = value
        if abs(value) == 2.0 or agreed >= 6:
            score = 1.0 if value > 0 else 0.0
            break
        moves.append(move)
        rules.play(move)
        if rules.is_over:
            result = rules.board().result(claim_draw=True)
            white = {"1-0": 1.0, "0-1": 0.0}.get(result, 0.5)
            we_are_white = (begun % 2 == 0) == we_begin
            score = white if we_are_white else 1.0 - white
        elif len(moves) - begun >= 300:
            score = 0.5
    return {"opening": number, "we_begin": we_begin, "score": score, "plies": len(moves) - begun}


def summary(games: list[dict[str, Any]]) -> str:
    """Score and Elo of the whole pairs."""
    by_opening: dict[int, list[float]] = {}
    for game in games:
        by_opening.setdefault(game["opening"], []).append(game["score"])
    pairs = [sum(scores) / 2 for scores in by_opening.values() if len(scores) == 2]
    if not pairs:
        return "no pair is complete"
    mean = sum(pairs) / len(pairs)
    error = 1.96 * statistics.stdev(pairs) / math.sqrt(len(pairs)) if len(pairs) > 1 else 0.5

    def elo(score: float) -> float:
        return -400.0 * math.log10(1.0 / min(max(score, 0.002), 0.998) - 1.0)

    low, high = elo(mean - error), elo(mean + error)
    wins = sum(game["score"] == 1.0 for game in games)
    losses = sum(game["score"] == 0.0 for game in games)
    return (
        f"{len(pairs)} pairs, +{wins} -{losses} ={len(games) - wins - losses}, "
        f"score {100 * mean:.1f} % +- {100 * error:.1f}, Elo {elo(mean):+.0f} [{low:+.0f}, {high:+.0f}]"
    )


def main() -> None:
    """Read the options, play, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant")
    parser.add_argument("--engine", default="")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--settings", type=json.loads, default={}, help="of our engine, as JSON")
    parser.add_argument("--against", type=json.loads, default={}, help="settings of the other one, as JSON")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--evaluations", type=int)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    limit = {"evaluations": options.evaluations} if options.evaluations else {"time": options.seconds or 1.0}
    plan = {
        "variant": options.variant,
        "settings": options.settings,
        "against": options.against,
        "engine": options.engine,
        "nodes": options.nodes,
        "limit": limit,
    }
    games = []
    if options.out.exists():
        games = [json.loads(line) for line in options.out.read_text().splitlines()]
    have = {(game["opening"], game["we_begin"]) for game in games}
    jobs = [(plan, number, first) for number in range(options.pairs) for first in (True, False)]
    jobs = [job for job in jobs if (job[1], job[2]) not in have]
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.workers) as pool, options.out.open("a") as file:
        for game in pool.imap_unordered(play_game, jobs):
            games.append(game)
            file.write(json.dumps(game) + "\n")
            file.flush()
    print(f"{options.variant} {json.dumps(plan)}: {summary(games)}")


if __name__ == "__main__":
    main()
