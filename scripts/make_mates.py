"""Make positions with known mates from games that the teachers play for this purpose.

python scripts/make_mates.py tests/data/known-mates.epd

Stockfish plays chess and Fairy-Stockfish crazyhouse, from random openings and with random moves in between,
so that games end in mates. Where the teacher sees a mate with few nodes, a fresh search with many must see
the same distance. `dm 3` is a mate in three moves by the side to move, `dm -2` one that it suffers in two.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

import chess
import chess.variant

from anabranch.data.teacher import Teacher
from anabranch.formats.scores import mate_of
from anabranch.jobs.files import write_atomic

TEACHERS = {"chess": "stockfish", "crazyhouse": "fairy-stockfish"}
WANTED = {1: 14, 2: 14, 3: 14, 4: 12, 5: 10, -1: 5, -2: 5, -3: 4}
"""How many positions of each distance, for each variant."""
PLAYING_NODES = 3_000
PROVING_NODES = 400_000
LONGEST_GAME = 160
HEADER = """\
# Known mates from games that Stockfish (chess) and Fairy-Stockfish (crazyhouse) played for this purpose, made
# by scripts/make_mates.py. dm is the distance in moves that the teacher sees with {nodes:,} nodes; below zero
# the side to move is mated. Nothing was selected by what our engine finds.
"""


def collect(variant: str, seed: int) -> list[str]:
    """Positions as lines of the file."""
    source = random.Random(f"known mates/{variant}/{seed}")
    left = Counter(WANTED)
    lines: list[str] = []
    seen: set[str] = set()
    with Teacher(TEACHERS[variant], variant) as player, Teacher(TEACHERS[variant], variant) as judge:
        while +left:
            taken: set[int] = set()
            for fen, mate in mates_of_game(variant, player, source):
                key = " ".join(fen.split()[:4])
                if mate in taken or left[mate] <= 0 or key in seen:
                    continue
                taken.add(mate)
                seen.add(key)
                judge.new_game()
                if mate_of(judge.judge(f"fen {fen}", PROVING_NODES)[0].score) == mate:
                    left[mate] -= 1
                    lines.append(epd(variant, fen, mate, WANTED[mate] - left[mate]))
                    print(lines[-1], flush=True)
    return sorted(lines, key=lambda line: (int(line.split("dm ")[1].split(";")[0]), line.split("id ")[1]))


def mates_of_game(variant: str, player: Teacher, source: random.Random) -> list[tuple[str, int]]:
    """Play a game; the positions where the player saw a mate."""
    found: list[tuple[str, int]] = []
    board = chess.variant.find_variant(variant)()
    opening = source.randint(6, 14)
    careless = source.choice([chess.WHITE, chess.BLACK])
    player.new_game()
    while not board.is_game_over(claim_draw=True) and board.ply() < LONGEST_GAME:
        moves = list(board.legal_moves)
        if board.ply() < opening or (board.turn == careless and source.random() < 0.2):
            board.push(source.choice(moves))
            continue
        best = player.judge(f"fen {board.fen()}", PLAYING_NODES)[0]
        mate = mate_of(best.score)
        if mate in WANTED:
            found.append((board.fen(), mate))
        board.push_uci(best.move)
    source.shuffle(found)
    return found


def epd(variant: str, fen: str, mate: int, number: int) -> str:
    """A line of the file."""
    *position, halfmoves, fullmoves = fen.split()
    return (
        f"{' '.join(position)} dm {mate}; hmvc {halfmoves}; fmvn {fullmoves};"
        f' id "{variant} {mate}.{number:02}";'
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines = [line for variant in TEACHERS for line in collect(variant, options.seed)]
    write_atomic(options.file, HEADER.format(nodes=PROVING_NODES) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
