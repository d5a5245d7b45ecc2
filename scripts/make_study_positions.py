"""Make the positions that the study measures on: mates to prove, and endings whose every move is judged.

python scripts/make_study_positions.py TABLEBASES

The mates are those of tests/data/known-mates.epd in which the side to move mates. The endings are drawn at
random from all placements of four men; Syzygy tables, in the folder TABLEBASES, judge every move, and a
position is kept where not all moves are worth the same.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import chess
import chess.syzygy

ROOT = Path(__file__).parent.parent
FILES = ROOT / "python" / "anabranch" / "study" / "files"
MATES_HEADER = """\
# Mates in 1 to 5 ({variant}) from games that {teacher} played for this purpose, the lengths in turn. dm
# is the distance in moves that the teacher sees. Nothing was selected by what our engine finds.
"""
TEACHERS = {"chess": "Stockfish", "crazyhouse": "Fairy-Stockfish"}
ENDINGS = ("KPvKP", "KRvKP", "KQvKP", "KRvKN", "KRvKB", "KQvKR", "KBPvK", "KNPvK", "KRPvK", "KPPvK")
WANTED = 200
LEAST_AT_STAKE = 0.3
"""Share of moves that must be worse than the best, so that chance does not find it."""


def in_turn(lines: list[str]) -> list[str]:
    """Lines of EPD, those of each length of mate in turn."""
    by_length: dict[int, list[str]] = defaultdict(list)
    for line in lines:
        by_length[int(line.split(" dm ")[1].split(";")[0])].append(line)
    groups = [by_length[length] for length in sorted(by_length)]
    return [group[at] for at in range(max(map(len, groups))) for group in groups if at < len(group)]


def write_mates() -> None:
    """The mates of each variant."""
    known = (ROOT / "tests" / "data" / "known-mates.epd").read_text(encoding="utf-8").splitlines()
    for variant, teacher in TEACHERS.items():
        lines = [line for line in known if f'id "{variant} ' in line and " dm -" not in line]
        text = MATES_HEADER.format(variant=variant, teacher=teacher) + "\n".join(in_turn(lines)) + "\n"
        (FILES / f"mates-{variant}.epd").write_text(text, encoding="utf-8")


def values_of(board: chess.Board, tables: chess.syzygy.Tablebase) -> dict[str, int]:
    """The value of every move for the side to move: 1, 0 or -1. Wins that 50 moves spoil are draws."""
    values = {}
    for move in board.legal_moves:
        board.push(move)
        if board.is_checkmate():
            values[move.uci()] = 1
        elif board.is_stalemate() or board.is_insufficient_material():
            values[move.uci()] = 0
        else:
            found = -tables.probe_wdl(board)
            values[move.uci()] = 1 if found == 2 else -1 if found == -2 else 0
        board.pop()
    return values


def random_board(ending: str, source: random.Random) -> chess.Board:
    """The men of an ending anywhere, either side to move, either colour the first side."""
    board = chess.Board(None)
    first = source.choice(chess.COLORS)
    strong, weak = ending.split("v")
    men = [chess.Piece.from_symbol(letter) for letter in strong + weak]
    for number, man in enumerate(men):
        square = source.choice([one for one in chess.SQUARES if board.piece_at(one) is None])
        board.set_piece_at(square, chess.Piece(man.piece_type, first if number < len(strong) else not first))
    board.turn = source.choice(chess.COLORS)
    return board


def make_endings(tables: chess.syzygy.Tablebase) -> list[dict[str, Any]]:
    """Positions with the values of their moves, the endings in turn."""
    source = random.Random("endings of the study")
    found: list[dict[str, Any]] = []
    while len(found) < WANTED:
        board = random_board(ENDINGS[len(found) % len(ENDINGS)], source)
        if not board.is_valid() or board.is_game_over():
            continue
        values = values_of(board, tables)
        best = max(values.values())
        if sum(value < best for value in values.values()) >= LEAST_AT_STAKE * len(values):
            found.append({"position": board.fen(), "values": values})
    return found


def main() -> None:
    """Write all files."""
    FILES.mkdir(exist_ok=True)
    write_mates()
    with chess.syzygy.open_tablebase(sys.argv[1]) as tables:
        positions = make_endings(tables)
    about = "Endings of four men; the value of every move for the side to move, by Syzygy tables."
    lines = ",\n".join(json.dumps(position, separators=(",", ":")) for position in positions)
    text = f'{{"about": "{about}",\n"positions": [\n{lines}\n]}}\n'
    (FILES / "endings.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
