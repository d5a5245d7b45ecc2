"""Games annotated: an evaluation after every move, marks for moves that cost winning chances, and the better
lines.

Games are python-chess games, the searches are the engine's. The value of a position is its expected score on
[-1, 1], so what a move loses is the fall of that value between the best move and the one played. Files are
read by `anabranch.formats.pgn`; nothing is printed here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import chess
import chess.engine
import chess.pgn

from anabranch.engine import Engine
from anabranch.errors import AnnotationError
from anabranch.formats.scores import centipawns
from anabranch.jobs.progress import OnProgress, no_progress
from anabranch.limits import Limits
from anabranch.result import Line, Result
from anabranch.solution import Solution

Which = Literal["marked", "every-move", "blunders-only"]
"""Where something is written: evaluations everywhere and lines at marked moves; lines also at all other moves
that the engine would not have played; or nothing at all but blunders and their lines."""

THRESHOLDS: tuple[tuple[float, str, int], ...] = (
    (0.30, "blunder", chess.pgn.NAG_BLUNDER),
    (0.20, "mistake", chess.pgn.NAG_MISTAKE),
    (0.10, "inaccuracy", chess.pgn.NAG_DUBIOUS_MOVE),
)
"""Fall of the value from which on a move is called so, the worst first, and its glyph. In chances to win that
is half: 15, 10 and 5 percentage points."""
FORGIVENESS = 23.0
"""Percentage points of expected score whose loss makes a move's accuracy 100 / e."""
LONGEST_LINE = 12
"""Plies of a better line."""
MATE_POSITIONS = 20_000
"""Positions of the solver at each move, in which it looks for mates that were missed."""
_MISSED = re.compile(r"\s*mate in \d+ missed: \S+")
_JUDGEMENTS = frozenset(range(1, 7))
"""Glyphs that judge a move: !, ?, !!, ??, !? and ?!."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a position by a search, for White.

    >>> Evaluation(0.197, None, "chess").score().white().score()
    100
    """

    value: float
    """Expected score on [-1, 1]."""
    mate: int | None
    """Moves to a proven end, negative when Black wins."""
    variant: str

    @classmethod
    def of_result(cls, result: Result) -> Evaluation:
        """The evaluation of the position that was searched."""
        mate = None if result.solved is None else result.solved.mate
        is_white = result.root.board().turn == chess.WHITE
        return cls(result.white_value, mate if mate is None or is_white else -mate, result.root.variant)

    def score(self) -> chess.engine.PovScore:
        """The same as python-chess has it."""
        if self.mate is not None:
            return chess.engine.PovScore(chess.engine.Mate(self.mate), chess.WHITE)
        score = chess.engine.Cp(centipawns(self.value, self.variant))
        return chess.engine.PovScore(score, chess.WHITE)


class MoveJudgement(NamedTuple):
    """A move of the game, judged.

    >>> MoveJudgement("f3", "e4", 0.12, name_of(0.12)).name
    'inaccuracy'
    """

    move: str
    """As players write it."""
    best: str
    """The engine's choice, as players write it."""
    loss: float
    """Fall of the value for the side that moved, from 0 to 2; 0 for the engine's own choice."""
    name: str | None
    """Blunder, mistake, inaccuracy, or nothing."""
    missed_mate: int | None = None
    """Moves of a forced mate that the side to move had, if nothing proves that it still has one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """How one player did.

    >>> summarise([MoveJudgement("e4", "e4", 0.0, None)]).accuracy
    100.0
    """

    moves: int
    accuracy: float | None
    """Mean over the moves of 100 exp(-loss / 23), the loss in percentage points of expected score; `None`
    where there is no move."""
    mean_loss: float | None
    """Percentage points of expected score per move."""
    inaccuracies: int
    mistakes: int
    blunders: int


class Annotated(NamedTuple):
    """An annotated game.

    >>> import io
    >>> game = chess.pgn.read_game(io.StringIO("1. f3 e5 2. g4 Qh4#"))
    >>> annotated = annotate_game(game, Engine(), Limits(simulations=50))
    >>> annotated.black.moves, len(annotated.evaluations)
    (2, 5)
    """

    game: chess.pgn.Game
    judgements: tuple[MoveJudgement, ...]
    """One for each move."""
    white: Summary
    black: Summary
    evaluations: tuple[Evaluation, ...]
    """Of the position before the first move, and of the one after every move."""


PositionSearch = Callable[[Engine], Result]
"""Searches the position in which the engine stands."""


class _Seen(NamedTuple):
    """The evaluation of a position of the game, and the search behind it."""

    evaluation: Evaluation
    result: Result | None
    """None where the game is over."""
    solution: Solution | None = None
    """What the solver found, if it was asked."""

    def win(self) -> Line | None:
        """The shortest known line of a forced mate of the side to move, if mates are looked for."""
        if self.result is None or self.solution is None:
            return None
        found = [line for line in (self.solution.line, *self.result.lines[:1]) if line is not None]
        mates = [line for line in found if line.mate is not None and line.mate > 0]
        return min(mates, key=lambda line: len(line.moves), default=None)

    def is_lost(self, turn: chess.Color) -> bool:
        """Whether the side to move is proven to lose, or has lost."""
        if self.result is None:
            return self.evaluation.value * (1 if turn == chess.WHITE else -1) < 0
        solved = self.result.solved
        if solved is not None and solved.state in ("loss", "tb-loss"):
            return True
        return self.solution is not None and self.solution.result == "loss"


def annotate_game(
    game: chess.pgn.Game,
    engine: Engine,
    limits: Limits,
    *,
    lines: int = 1,
    which: Which = "marked",
    mates: int = MATE_POSITIONS,
    on_progress: OnProgress = no_progress,
    search: PositionSearch | None = None,
) -> Annotated:
    """Annotate the main line of a game, in place; the limits are those of each position, and the solver looks
    for missed mates with so many positions of `mates` (0 for none).

    The engine must be one for the game's variant. Comments, variations and headers stay; an evaluation in a
    comment is replaced, and a move that has a glyph of judgement keeps it. An error of the engine leaves the
    game as it was. Progress is counted in positions. `search` replaces the search of a position, for callers
    that know a better result, or that want to see each one.

    >>> import io
    >>> text = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0"
    >>> game = chess.pgn.read_game(io.StringIO(text))
    >>> annotated = annotate_game(game, Engine(), Limits(simulations=500))
    >>> [judgement.move for judgement in annotated.judgements if judgement.name == "blunder"]
    ['Nf6']
    """
    nodes = list(game.mainline())
    if any(not node.move for node in nodes):
        raise AnnotationError("the game has a null move, which is no move that could be judged")
    if search is None:
        search = partial(Engine.search, limits=limits, lines=max(lines, 1))
    seen = _search_all(game, nodes, engine, search, mates, on_progress)
    board = game.board()
    players: dict[chess.Color, list[MoveJudgement]] = {chess.WHITE: [], chess.BLACK: []}
    judgements = []
    for node, before, after in zip(nodes, seen, seen[1:], strict=False):
        judgements.append(_judge(node, board, before, after))
        players[board.turn].append(judgements[-1])
        _write(node, board, judgements[-1], before, after, lines, which)
        board.push(node.move)
    white, black = (summarise(players[color]) for color in (chess.WHITE, chess.BLACK))
    return Annotated(game, tuple(judgements), white, black, tuple(one.evaluation for one in seen))


def name_of(loss: float) -> str | None:
    """What a move that loses so much is called.

    >>> name_of(0.25), name_of(0.05)
    ('mistake', None)
    """
    return next((name for least, name, _ in THRESHOLDS if loss >= least), None)


def summarise(judgements: Sequence[MoveJudgement]) -> Summary:
    """The figures of a player who made these moves.

    >>> summarise([MoveJudgement("e4", "e4", 0.0, None), MoveJudgement("f3", "d4", 0.46, "blunder")]).accuracy
    68.39397205857212
    """
    losses = [50.0 * judgement.loss for judgement in judgements]
    names = [judgement.name for judgement in judgements]
    return Summary(
        len(losses),
        sum(100.0 * math.exp(-loss / FORGIVENESS) for loss in losses) / len(losses) if losses else None,
        sum(losses) / len(losses) if losses else None,
        names.count("inaccuracy"),
        names.count("mistake"),
        names.count("blunder"),
    )


def _search_all(
    game: chess.pgn.Game,
    nodes: Sequence[chess.pgn.ChildNode],
    engine: Engine,
    search: PositionSearch,
    mates: int,
    on_progress: OnProgress,
) -> list[_Seen]:
    """Search every position of the main line, in the order of the game so that the graph is kept."""
    engine.position = game.board()
    seen = []
    for number, node in enumerate((game, *nodes)):
        if isinstance(node, chess.pgn.ChildNode):
            engine.play(node.move)
        on_progress(number, len(nodes) + 1, "")
        if engine.is_over and number < len(nodes):
            engine.position = node.board().copy(stack=False)  # a repetition that nobody claimed
        if engine.is_over:
            if number < len(nodes):
                raise AnnotationError(f"the game goes on after its end at ply {number}")
            seen.append(_Seen(_of_the_end(node.board()), None))
        else:
            result = search(engine)
            solution = engine.solve(positions=mates) if mates else None
            seen.append(_Seen(Evaluation.of_result(result), result, solution))
    on_progress(len(nodes) + 1, len(nodes) + 1, "")
    return seen


def _of_the_end(board: chess.Board) -> Evaluation:
    outcome = board.outcome()
    winner = None if outcome is None else outcome.winner
    value = 0.0 if winner is None else 1.0 if winner == chess.WHITE else -1.0
    return Evaluation(value, None, board.uci_variant or "chess")


def _of_line(line: Line, turn: chess.Color) -> Evaluation:
    """The evaluation after the first move of a line."""
    mate = None
    if line.plies is not None and line.state == "win":
        mate = line.plies // 2  # the first move is made
    elif line.plies is not None and line.state == "loss":
        mate = -(line.plies // 2)
    sign = 1 if turn == chess.WHITE else -1
    return Evaluation(sign * line.value, None if mate is None else sign * mate, line.root.variant)


def _judge(node: chess.pgn.ChildNode, board: chess.Board, before: _Seen, after: _Seen) -> MoveJudgement:
    """Judge a move by what was seen before and after it."""
    assert before.result is not None  # the game went on
    best = board.parse_uci(before.result.best_move)
    sign = 1.0 if board.turn == chess.WHITE else -1.0
    loss = 0.0
    if node.move != best:
        loss = max(sign * (before.evaluation.value - after.evaluation.value), 0.0)
    win = _missed_win(node, board, before, after)
    mate = None if win is None else win.mate
    return MoveJudgement(board.san(node.move), board.san(best), loss, name_of(loss), mate)


def _missed_win(node: chess.pgn.ChildNode, board: chess.Board, before: _Seen, after: _Seen) -> Line | None:
    """The line of a forced mate that was there before a move and is not known to be there after it."""
    win = before.win()
    if win is None or board.parse_uci(win.moves[0]) == node.move or after.is_lost(not board.turn):
        return None
    return win


def _write(
    node: chess.pgn.ChildNode,
    board: chess.Board,
    judgement: MoveJudgement,
    before: _Seen,
    after: _Seen,
    lines: int,
    which: Which,
) -> None:
    """Write the annotation of a move into the game."""
    if which == "blunders-only" and judgement.name != "blunder":
        return
    if after.result is not None:
        node.set_eval(after.evaluation.score())
    if judgement.name is not None and not node.nags & _JUDGEMENTS:
        node.nags.add(next(glyph for _, name, glyph in THRESHOLDS if name == judgement.name))
    win = _missed_win(node, board, before, after)
    if win is not None:
        san = board.san(board.parse_uci(win.moves[0]))
        node.comment = f"{_MISSED.sub('', node.comment)} mate in {win.mate} missed: {san}".strip()
        _add_line(node.parent, board.copy(stack=False), win, len(win.moves))
    if judgement.name is not None or (which == "every-move" and judgement.move != judgement.best):
        assert before.result is not None
        for line in before.result.lines[:lines]:
            if line.moves[0] == node.uci():
                break  # what follows is no better
            _add_line(node.parent, board.copy(stack=False), line)


def _add_line(parent: chess.pgn.GameNode, board: chess.Board, line: Line, plies: int = LONGEST_LINE) -> None:
    """Add a line as a variation with its evaluation, unless there is one that begins with the same move."""
    turn = board.turn
    first = board.parse_uci(line.moves[0])
    if parent.has_variation(first):
        return
    board.push(first)
    variation = parent.add_variation(first)
    if not board.is_game_over():
        variation.set_eval(_of_line(line, turn).score())
    node: chess.pgn.GameNode = variation
    for text in line.moves[1:plies]:
        move = board.parse_uci(text)
        board.push(move)
        node = node.add_variation(move)
