"""Make the positions of the study `only-moves`: those in which one move is much better than all others.

python scripts/make_only_moves.py

Stockfish (chess) and Fairy-Stockfish (crazyhouse) play games with themselves from the openings that come with
the package, and judge one position of each. Nothing of ours has a say, so what our networks overlook is in.
"""

from __future__ import annotations

import random
import sys
from itertools import cycle
from pathlib import Path

import chess
import chess.engine

from anabranch.jobs.program import find_program
from anabranch.match.openings import Opening, board_of, bundled_openings, read_openings

FILES = Path(__file__).parent.parent / "python" / "anabranch" / "study" / "files"
TEACHERS = {"chess": "stockfish", "crazyhouse": "fairy-stockfish"}
WANTED = 100
PLIES = (6, 60)
"""Played before the position, drawn from this range."""
PLAYED_NODES = 2_000
JUDGED_NODES = 100_000
LEAST_GAP = 0.15
"""Expected points by which the best move is ahead of the second."""
LEAST_MOVES = 10
"""Legal moves, so that the only move is not found because there are no others."""
HEADER = """\
# {wanted} positions of {variant} in which one move is ahead of all others by {gap} expected points or more,
# as {teacher} sees it with {nodes} nodes, from its own games; ce is its score in
# centipawns, c0 the second move and its score.
"""


def points(score: chess.engine.PovScore) -> float:
    """Expected points of the side to move, by the usual scale of centipawns."""
    return float(1.0 / (1.0 + 10.0 ** (-score.relative.score(mate_score=10_000) / 400.0)))


def candidate(
    variant: str, opening: Opening, teacher: chess.engine.SimpleEngine, source: random.Random
) -> chess.Board | None:
    """A position from a game of the teacher with itself."""
    board = board_of(variant, opening.fen, False)
    for _ in range(source.randint(*PLIES)):
        if board.is_game_over(claim_draw=True):
            return None
        nodes = source.randint(PLAYED_NODES // 10, PLAYED_NODES)
        played = teacher.play(board, chess.engine.Limit(nodes=nodes)).move
        assert played is not None
        board.push(played)
    return None if board.is_game_over(claim_draw=True) or board.legal_moves.count() < LEAST_MOVES else board


def judged(board: chess.Board, teacher: chess.engine.SimpleEngine, name: str) -> str | None:
    """The line of a position with an only move. How it came about is forgotten: the file does not have it."""
    fresh = board.copy(stack=False)
    lines = teacher.analyse(fresh, chess.engine.Limit(nodes=JUDGED_NODES), multipv=2, game=name)
    (best, score), (second, other) = ((line["pv"][0], line["score"]) for line in lines)
    if points(score) - points(other) < LEAST_GAP:
        return None
    worth, less = (one.relative.score(mate_score=10_000) for one in (score, other))
    return f'{fresh.epd()} bm {fresh.san(best)}; ce {worth}; c0 "{fresh.san(second)} {less}"; id "{name}";'


def main() -> None:
    """Write both files."""
    for variant, program in TEACHERS.items():
        path = bundled_openings(variant)
        assert path is not None
        source = random.Random(f"only moves of {variant}")
        found: list[str] = []
        with chess.engine.SimpleEngine.popen_uci(find_program(program)) as teacher:
            teacher.configure({"Hash": 64, "Threads": 1})
            for opening in cycle(read_openings(path, variant)):
                board = candidate(variant, opening, teacher, source)
                line = None if board is None else judged(board, teacher, f"{variant} {len(found) + 1}")
                if line is not None:
                    found.append(line)
                    print(len(found), line, file=sys.stderr)
                if len(found) == WANTED:
                    break
            title = teacher.id["name"]
        header = HEADER.format(
            wanted=WANTED, variant=variant, gap=LEAST_GAP, teacher=title, nodes=f"{JUDGED_NODES:,}"
        )
        (FILES / f"only-moves-{variant}.epd").write_text(header + "\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
