"""What people type into an engine by hand: the board, the evaluation, the moves of the root, help.

Makes text of what it is given; reads and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import chess

from anabranch import _core
from anabranch.engine import Engine
from anabranch.formats.scores import centipawns, wdl
from anabranch.result import Progress

HELP = """\
Commands of the protocol:
  uci, isready, ucinewgame, debug [on | off], quit
  setoption name NAME [value VALUE]
  position [startpos | fen FEN] [moves MOVE ...]
  go [wtime T] [btime T] [winc T] [binc T] [movestogo N] [movetime T] [nodes N] [depth N] [mate N]
     [infinite] [ponder] [searchmoves MOVE ...]
  stop, ponderhit
For people:
  d                     the board
  eval                  what the evaluator says about the position, without a search
  moves                 the moves of the root with what the search found about them
  graph [DEPTH] [FILE]  the search graph; a FILE ends in .dot, .gv, .json or .graphml
  perft N, go perft N   number of move sequences
  bench [N]             search fixed positions with N simulations each
  help"""


def draw(board: chess.Board) -> list[str]:
    """The board as text, with what belongs to it."""
    rows = str(board).splitlines()
    said = [f"{8 - row} {text}" for row, text in enumerate(rows)] + ["  a b c d e f g h", ""]
    said.append(f"Fen: {board.fen()}")
    if checkers := " ".join(chess.square_name(square) for square in board.checkers()):
        said.append(f"Checkers: {checkers}")
    said.append(f"Legal moves: {board.legal_moves.count()}")
    return said


def judge(engine: Engine, moves: int = 10) -> list[str]:
    """What the evaluator says about the position alone."""
    fen = engine.position
    if isinstance(engine.evaluator, _core.Network):
        value, chances, policy = engine.evaluator.evaluate([fen])[0]
        win, draw_, loss = chances
        ranked = sorted(policy, key=lambda row: -row[1])[:moves]
        said = [f"Value: {value:+.4f}  (win {win:.3f}, draw {draw_:.3f}, loss {loss:.3f})"]
        said += [f"{move:<6} {100 * share:6.2f} %" for move, share in _as_shares(ranked, policy)]
    else:
        name = engine.evaluator if isinstance(engine.evaluator, str) else type(engine.evaluator).__name__
        with_one = Engine(engine.variant, chess960=engine.chess960, evaluator=engine.evaluator)
        result = with_one.search((engine.position, ()), simulations=1)
        value = result.value
        said = [f"Value: {value:+.4f}  ({name})"]
        said += [f"{row.move:<6} {100 * row.prior:6.2f} %" for row in result.moves[:moves]]
    chances_text = "{} {} {}".format(*wdl(value, None, engine.variant))
    said.append(f"Centipawns: {centipawns(value, engine.variant)} for the side to move (wdl {chances_text})")
    return said


def _as_shares(
    ranked: list[tuple[str, float]], policy: list[tuple[str, float]]
) -> Iterator[tuple[str, float]]:
    import math

    largest = max(logit for _, logit in policy)
    total = sum(math.exp(logit - largest) for _, logit in policy)
    for move, logit in ranked:
        yield move, math.exp(logit - largest) / total


def table(progress: Progress) -> list[str]:
    """The moves of the root."""
    said = [f"{'move':<7}{'visits':>10}{'Q':>9}{'P':>8}{'V':>9}  proven"]
    for row in progress.moves:
        q = "-" if row.q is None else f"{row.q:+.4f}"
        raw = "-" if row.raw is None else f"{row.raw:+.4f}"
        plies = "" if row.plies is None else f" in {row.plies}"
        proven = "" if row.state == "unknown" else f"  {row.state}{plies}"
        said.append(f"{row.move:<7}{row.visits:>10}{q:>9}{row.prior:>8.4f}{raw:>9}{proven}")
    return said


CHUNK = 4
"""Plies that are counted in one go; between two such counts a stop is looked for."""


def perft(
    variant: str, chess960: bool, fen: str, depth: int, is_stopped: Callable[[], bool]
) -> tuple[int, dict[str, int]] | None:
    """Number of move sequences, in all and by first move; nothing when it was stopped."""
    engine = Engine(variant, chess960=chess960, evaluator="material")

    def count(moves: list[str], left: int) -> int | None:
        if is_stopped():
            return None
        engine.position = (fen, moves)
        if left == 0:
            return 1
        if engine.is_over:
            return 0
        if left <= CHUNK:
            return sum(engine.perft(left).values())
        total = 0
        for move in engine.legal_moves:
            part = count([*moves, move], left - 1)
            if part is None:
                return None
            total += part
        return total

    engine.position = (fen, [])
    parts: dict[str, int] = {}
    for move in engine.legal_moves:
        part = count([move], depth - 1)
        if part is None:
            return None
        parts[move] = part
    return sum(parts.values()), parts
