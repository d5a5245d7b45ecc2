"""The commands for people: the board, the evaluation, the moves of the root, perft, a benchmark, help.

A command gets the engine and its words, and yields blocks of lines; it prints nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator

import chess

from anabranch import _core
from anabranch.engine import Engine
from anabranch.errors import LimitError
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
  eval                  the evaluation of the position, without a search
  moves                 the moves of the root with visits, values and proofs
  graph [DEPTH] [FILE]  the search graph; a FILE ends in .dot, .gv, .json or .graphml
  perft N, go perft N   number of move sequences
  bench [N]             search fixed positions with N simulations each
  help"""


def draw(board: chess.Board) -> list[str]:
    """The board as text, with what belongs to it."""
    rows = str(board).splitlines()
    lines = [f"{8 - row} {text}" for row, text in enumerate(rows)] + ["  a b c d e f g h", ""]
    lines.append(f"Fen: {board.fen()}")
    if checkers := " ".join(chess.square_name(square) for square in board.checkers()):
        lines.append(f"Checkers: {checkers}")
    lines.append(f"Legal moves: {board.legal_moves.count()}")
    return lines


def evaluation(engine: Engine, moves: int = 10) -> list[str]:
    """The evaluation of the position, without a search."""
    fen = engine.position
    if isinstance(engine.evaluator, _core.Network):
        value, chances, policy = engine.evaluator.evaluate([fen])[0]
        win, draw_, loss = chances
        ranked = sorted(policy, key=lambda row: -row[1])[:moves]
        lines = [f"Value: {value:+.4f}  (win {win:.3f}, draw {draw_:.3f}, loss {loss:.3f})"]
        lines += [f"{move:<6} {100 * share:6.2f} %" for move, share in _as_shares(ranked, policy)]
    else:
        name = engine.evaluator if isinstance(engine.evaluator, str) else type(engine.evaluator).__name__
        with_one = Engine(engine.variant, chess960=engine.chess960, evaluator=engine.evaluator)
        result = with_one.search((engine.position, ()), simulations=1)
        value = result.value
        lines = [f"Value: {value:+.4f}  ({name})"]
        lines += [f"{row.move:<6} {100 * row.prior:6.2f} %" for row in result.moves[:moves]]
    chances_text = "{} {} {}".format(*wdl(value, None, engine.variant))
    lines.append(f"Centipawns: {centipawns(value, engine.variant)} for the side to move (wdl {chances_text})")
    return lines


def _as_shares(
    ranked: list[tuple[str, float]], policy: list[tuple[str, float]]
) -> Iterator[tuple[str, float]]:
    largest = max(logit for _, logit in policy)
    total = sum(math.exp(logit - largest) for _, logit in policy)
    for move, logit in ranked:
        yield move, math.exp(logit - largest) / total


def table(progress: Progress) -> list[str]:
    """The moves of the root."""
    lines = [f"{'move':<7}{'visits':>10}{'Q':>9}{'P':>8}{'V':>9}  proven"]
    for row in progress.moves:
        q = "-" if row.q is None else f"{row.q:+.4f}"
        raw = "-" if row.raw is None else f"{row.raw:+.4f}"
        plies = "" if row.plies is None else f" in {row.plies}"
        proven = "" if row.state == "unknown" else f"  {row.state}{plies}"
        lines.append(f"{row.move:<7}{row.visits:>10}{q:>9}{row.prior:>8.4f}{raw:>9}{proven}")
    return lines


GAME_OVER = ["the game is over"]
CHUNK = 4
"""Plies that are counted in one call; between two calls a stop ends the count."""


class _StoppedError(Exception):
    pass


def perft(engine: Engine, depth: int, is_stopped: Callable[[], bool]) -> dict[str, int] | None:
    """Number of move sequences by first move; `None` when it was stopped."""
    fen = engine.position
    counter = Engine(engine.variant, chess960=engine.chess960, evaluator="material")

    def count(moves: list[str], left: int) -> int:
        if is_stopped():
            raise _StoppedError
        counter.position = (fen, moves)
        if left == 0 or counter.is_over:
            return int(left == 0)
        if left <= CHUNK:
            return sum(counter.perft(left).values())
        return sum(count([*moves, move], left - 1) for move in counter.legal_moves)

    try:
        return {move: count([move], depth - 1) for move in engine.legal_moves}
    except _StoppedError:
        return None


Command = Callable[[Engine, list[str], Callable[[], bool]], Iterable[list[str]]]
"""Gets the engine, the words after the name, and a function that returns whether `stop` came since."""


def _graph(engine: Engine, words: list[str], _: Callable[[], bool]) -> Iterator[list[str]]:
    depth = _number(words, 6)
    path = " ".join(words if depth is None else words[1:])
    graph = engine.graph(2 if depth is None else depth)
    if path:
        graph.write(path)
        yield [f"info string {len(graph.nodes)} nodes written to {path}"]
    else:
        yield graph.to_dot().splitlines()


def _perft(engine: Engine, words: list[str], is_stopped: Callable[[], bool]) -> Iterator[list[str]]:
    depth = _number(words, 6) if words else 1
    if depth is None or not 1 <= depth <= 20:
        raise LimitError("perft wants a depth from 1 to 20")
    begun = time.monotonic()
    parts = perft(engine, depth, is_stopped)
    if parts is None:
        yield ["info string perft was stopped"]
    else:
        rows = [f"{move}: {number}" for move, number in parts.items()]
        yield [*rows, "", *_speed(sum(parts.values()), time.monotonic() - begun)]


def _bench(engine: Engine, words: list[str], is_stopped: Callable[[], bool]) -> Iterator[list[str]]:
    from anabranch.bench.workload import positions

    simulations = _number(words, 10)
    threads = engine.settings.threads
    measured = Engine(engine.variant, chess960=engine.chess960, evaluator=engine.evaluator, threads=threads)
    nodes, taken = 0, 0.0
    has_own = engine.variant in ("chess", "crazyhouse")
    for fen in positions(engine.variant, 6) if has_own else (engine.position,):
        if is_stopped():
            yield ["info string bench was stopped"]
            return
        measured.forget()
        result = measured.search(fen, simulations=10_000 if simulations is None else max(1, simulations))
        taken += result.elapsed
        nodes += result.statistics.simulations
        yield [f"info string {fen}: {result.best_move}"]
    yield _speed(nodes, taken)


def _number(words: list[str], digits: int) -> int | None:
    return int(words[0]) if words and words[0].isdigit() and len(words[0]) < digits else None


def _speed(nodes: int, seconds: float) -> list[str]:
    return [f"Nodes searched: {nodes}", f"Nodes/second: {int(nodes / max(seconds, 1e-6))}"]


COMMANDS: dict[str, Command] = {
    "d": lambda engine, *_: [draw(engine.board())],
    "eval": lambda engine, *_: [GAME_OVER if engine.is_over else evaluation(engine)],
    "moves": lambda engine, *_: [GAME_OVER if engine.is_over else table(engine.result())],
    "graph": _graph,
    "perft": _perft,
    "bench": _bench,
    "help": lambda *_: [HELP.splitlines()],
}
