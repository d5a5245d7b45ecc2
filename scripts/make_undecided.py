"""Make the positions of the study `moves`: undecided ones of ordinary games.

python -m scripts.make_undecided

Stockfish (chess) and Fairy-Stockfish (crazyhouse) play games with themselves from the openings that come with
the package, and one position of each is taken if they see it as undecided. Nothing of ours has a say.
"""

from __future__ import annotations

import random
import sys
from itertools import cycle

import chess
import chess.engine
from scripts.make_only_moves import FILES, TEACHERS, candidate, points

from anabranch.jobs.program import find_program
from anabranch.match.openings import bundled_openings, read_openings

WANTED = 500
JUDGED_NODES = 10_000
DECIDED = 0.4
"""Expected points above or below one half from which on a position counts as decided."""
HEADER = """\
# {wanted} positions of {variant}, each of a game of {teacher} with itself, that it sees as undecided with
# {nodes} nodes: between {least:.1f} and {most:.1f} expected points for the side to move.
"""


def main() -> None:
    """Write both files."""
    for variant, program in TEACHERS.items():
        path = bundled_openings(variant)
        assert path is not None
        source = random.Random(f"undecided positions of {variant}")
        found: dict[str, None] = {}
        with chess.engine.SimpleEngine.popen_uci(find_program(program)) as teacher:
            teacher.configure({"Hash": 64, "Threads": 1})
            for opening in cycle(read_openings(path, variant)):
                board = candidate(variant, opening, teacher, source)
                if board is None:
                    continue
                fresh = board.copy(stack=False)
                limit = chess.engine.Limit(nodes=JUDGED_NODES)
                score = teacher.analyse(fresh, limit, game=len(found))["score"]
                if abs(points(score) - 0.5) < DECIDED:
                    found[fresh.fen()] = None
                    print(len(found), fresh.fen(), file=sys.stderr)
                if len(found) == WANTED:
                    break
            title = teacher.id["name"]
        header = HEADER.format(
            wanted=WANTED, variant=variant, teacher=title, nodes=f"{JUDGED_NODES:,}",
            least=0.5 - DECIDED, most=0.5 + DECIDED,
        )  # fmt: skip
        (FILES / f"undecided-{variant}.fen").write_text(header + "\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
