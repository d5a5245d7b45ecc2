"""What a search found, as plain values: the move, the root's moves, principal variations, the verdict,
statistics.

A value belongs to the side to move at the root, and so do its centipawns and its win, draw and loss; where
the point of view is another, it is part of the name. Nothing here searches.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from operator import attrgetter
from typing import Any, Literal, TypeVar

import chess
import chess.variant

from anabranch.catalogue import is_grid
from anabranch.errors import VariantError
from anabranch.formats.scores import chances_of, mate_in, score_of

Chances = tuple[int, int, int]
"""Win, draw and loss per mille, sum 1000."""
SolverState = Literal["unknown", "win", "draw", "loss", "tb-win", "tb-draw", "tb-loss"]


@dataclass(frozen=True)
class Root:
    """The position of a result, with what it takes to make a board of it."""

    fen: str
    variant: str
    chess960: bool
    raw: tuple[float, float, float] | None = field(default=None, compare=False, repr=False)
    """Win, draw and loss as a network of the core sees the position; how drawish it is goes into `wdl`."""
    player: int = field(default=0, compare=False, repr=False)
    """Who is to move: 0 for White, or the first player."""

    @cached_property
    def is_grid(self) -> bool:
        """Whether it is a position of a game on a grid, and not of chess."""
        return is_grid(self.variant)

    def score(self, value: float, state: str) -> int | None:
        """A value in centipawns; games on a grid have none."""
        return None if self.is_grid else score_of(value, state, self.variant)

    def board(self) -> chess.Board:
        """The position as a python-chess board, without the moves that led to it: for chess alone."""
        return board_of(self.variant, self.fen, self.chess960)


def board_of(variant: str, fen: str, chess960: bool) -> chess.Board:
    """A python-chess board of a variant."""
    if is_grid(variant):
        raise VariantError(f"{variant} is not played on a board of chess; `picture` shows its board")
    return chess.variant.find_variant(variant)(fen, chess960=chess960)


@dataclass(frozen=True)
class Line:
    """A principal variation.

    >>> from anabranch import Engine
    >>> line = Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).lines[0]
    >>> line.moves, line.state, line.plies
    (('a1a8',), 'win', 1)
    """

    moves: tuple[str, ...]
    """The moves (UCI)."""
    value: float
    """Q of the first move, for the side to move at the root."""
    visits: int
    """N of the first move."""
    state: SolverState
    """What is proven about the first move, for the side to move at the root."""
    plies: int | None
    """Length of that proof."""
    root: Root = field(repr=False)

    @property
    def mate(self) -> int | None:
        """Moves to the end of the game where that is proven and the line shows it; negative for the loser.

        >>> from anabranch import Engine
        >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).lines[0].mate
        1
        """
        return mate_in(self.state, self.plies) if len(self.moves) == self.plies else None

    @property
    def centipawns(self) -> int | None:
        """The value in centipawns, for the side to move at the root; `None` where there is a `mate`.

        >>> from anabranch import Engine
        >>> line = Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).lines[0]
        >>> line.mate, line.centipawns, line.wdl
        (1, None, (1000, 0, 0))
        """
        return None if self.mate is not None else self.root.score(self.value, self.state)

    @property
    def wdl(self) -> Chances:
        """Win, draw and loss per mille, for the side to move at the root.

        >>> from anabranch import Engine
        >>> sum(Engine().search("startpos", simulations=100).lines[0].wdl)
        1000
        """
        return chances_of(self.value, self.state, self.root.raw, self.root.variant)

    @cached_property
    def san(self) -> str:
        """The moves as players write them; as they are in games on a grid.

        >>> from anabranch import Engine
        >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).lines[0].san
        '1. Ra8#'
        """
        if self.root.is_grid:
            return " ".join(self.moves)
        board = self.root.board()
        return board.variation_san([chess.Move.from_uci(move) for move in self.moves])

    def to_dict(self) -> dict[str, Any]:
        """The same in a dictionary of plain values, with centipawns, mate and wdl.

        >>> from anabranch import Engine
        >>> Engine().search(simulations=20).lines[0].to_dict()["visits"] > 0
        True
        """
        return {**_fields_of(self), "moves": list(self.moves), **_judgement_of(self)}


@dataclass(frozen=True)
class MoveStatistics:
    """One move of the root.

    >>> from anabranch import Engine
    >>> result = Engine().search("startpos", simulations=100)
    >>> len(result.moves), round(sum(row.prior for row in result.moves), 2)
    (20, 1.0)
    """

    move: str
    """The move (UCI)."""
    visits: int
    """N."""
    q: float | None
    """Q, for the side to move at the root; `None` for a move without visits."""
    prior: float
    """P."""
    policy: float
    """The move's share in what the chooser decides by."""
    improved: float
    """The move's share in the improved policy, Eq. (G3): prior and values weighed up, a training target."""
    raw: float | None
    """U of the child: its first evaluation, for the side to move at the root."""
    child_value: float | None
    """V of the child, for the side to move at the root."""
    child_visits: int
    """N of the child, visits by other parents included."""
    state: SolverState
    """What is proven about the move, for the side to move at the root."""
    plies: int | None
    """Length of that proof."""
    draws: int
    """Visits that ended as a draw of the path."""
    explored: int
    """Visits by explorations."""
    root: Root = field(repr=False, compare=False)

    @property
    def mate(self) -> int | None:
        """Moves to the end of the game where that is proven; negative when the side to move loses.

        >>> from anabranch import Engine
        >>> row = Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).moves[0]
        >>> row.move, row.mate
        ('a1a8', 1)
        """
        return mate_in(self.state, self.plies)

    @property
    def centipawns(self) -> int | None:
        """Q in centipawns, for the side to move at the root; `None` without visits, and where there is a
        `mate`.

        >>> from anabranch import Engine
        >>> row = Engine().search("startpos", simulations=100).moves[0]
        >>> row.mate, isinstance(row.centipawns, int), sum(row.wdl)
        (None, True, 1000)
        """
        if self.mate is not None or (self.q is None and self.state == "unknown"):
            return None
        return self.root.score(self.q or 0.0, self.state)

    @property
    def wdl(self) -> Chances | None:
        """Win, draw and loss per mille, for the side to move at the root; `None` without visits.

        >>> from anabranch import Engine
        >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).moves[0].wdl
        (1000, 0, 0)
        """
        if self.q is None and self.state == "unknown":
            return None
        return chances_of(self.q or 0.0, self.state, self.root.raw, self.root.variant)

    def to_dict(self) -> dict[str, Any]:
        """The same in a dictionary of plain values, with centipawns, mate and wdl.

        >>> from anabranch import Engine
        >>> Engine().search(simulations=20).moves[0].to_dict()["visits"] > 0
        True
        """
        return {**_fields_of(self), **_judgement_of(self)}


@dataclass(frozen=True)
class Solved:
    """A verdict on the root that holds with the game's history.

    >>> from anabranch import Engine
    >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).solved
    Solved(state='win', plies=1, exact=True)
    """

    state: SolverState
    """For the side to move."""
    plies: int | None
    """Length of the proof; `None` for verdicts of a tablebase."""
    exact: bool
    """Whether that is the true distance; the setting `improve` looks for it."""

    @property
    def mate(self) -> int | None:
        """Moves to the end of the game, negative when the side to move loses; `None` for draws and
        tablebases.

        >>> Solved("win", 3, True).mate, Solved("loss", 2, True).mate, Solved("draw", 4, False).mate
        (2, -1, None)
        """
        return mate_in(self.state, self.plies)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Numbers that are known at any time."""

    simulations: int
    """Trajectories of this search."""
    evaluations: int
    """Answers of the evaluator in this search."""
    batches: int
    """Mini-batches applied."""
    nodes: int
    """Nodes in the graph."""
    root_visits: int
    """Visits of the root, those of earlier searches included."""
    transposition_links: int
    """Edges linked to a node that already had a parent."""
    corrections: int
    """Values replaced by a correction, Eq. (9)."""
    stops: int
    """Trajectories that stopped at a transposition node."""
    shared: int
    """Leaves that took the evaluation of an equal one."""
    collisions: int
    """Trajectories that met a leaf in flight, and were undone."""
    terminals: int
    """Trajectories that ended at an exactly known node."""
    path_draws: int
    """Trajectories that ended as a draw of their path."""
    explorations: int
    """Disconnected trajectories."""
    bytes: int
    """Bytes of the graph in use."""
    reserved_bytes: int
    """Bytes taken from the system for it."""
    mean_depth: float
    """Edges per trajectory."""
    max_depth: int
    """Longest trajectory."""
    reclaims: int
    """Times the graph gave up nodes to stay below its cap."""
    tablebase_hits: int
    """New nodes whose result a tablebase knew."""
    mates: int
    """Nodes that the search for mates proved."""


@dataclass(frozen=True, kw_only=True)
class Statistics(Counts):
    """All numbers: those that need a walk over the graph too.

    >>> from anabranch import Engine
    >>> statistics = Engine().search("startpos", simulations=500).statistics
    >>> statistics.simulations, statistics.evaluations <= 500, statistics.transposition_nodes > 0
    (500, True, True)

    After a stop and at a deadline the leaks are measured over some 30,000 nodes at most, because they
    must not delay the result; `Engine.result` measures them over all.
    """

    edges: int
    """Opened edges in the graph."""
    transposition_nodes: int
    """Nodes that have, or have had, more than one parent edge."""
    solved_nodes: int
    """Nodes in the graph with a proof."""
    leak: float
    """Visit-weighted mean distance of an edge's Q and its child's value."""
    node_leak: float
    """Visit-weighted mean distance of a node's value and the mean of its children."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What is known while a search goes on.

    >>> from anabranch import Engine
    >>> reports = []
    >>> _ = Engine().search(simulations=2000, progress=reports.append, progress_interval=0.0)
    >>> all(report.statistics.simulations <= 2000 for report in reports)
    True
    """

    best_move: str
    """The move to play (UCI). Where nothing is known yet, the first legal one."""
    value: float
    """Value of the position for the side to move."""
    lines: tuple[Line, ...]
    """Principal variations, the best first."""
    moves: tuple[MoveStatistics, ...]
    """All moves of the root: the best first, then by visits."""
    solved: Solved | None
    """The verdict, if there is one."""
    statistics: Counts
    elapsed: float
    """Seconds."""
    root: Root = field(repr=False)

    @property
    def position(self) -> str:
        """The position (FEN).

        >>> from anabranch import Engine
        >>> Engine().search("startpos moves e2e4", simulations=10).position.split()[1]
        'b'
        """
        return self.root.fen

    @property
    def move(self) -> chess.Move:
        """The move to play, as python-chess has it: for chess alone.

        >>> from anabranch import Engine
        >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=10).move
        Move.from_uci('a1a8')
        """
        if self.root.is_grid:
            raise VariantError(f"a move of {self.root.variant} is no move of chess; `best_move` has it")
        return chess.Move.from_uci(self.best_move)

    @property
    def improved_policy(self) -> dict[str, float]:
        """The improved policy of Gumbel AlphaZero over the moves of the root: a training target.

        >>> from anabranch import Engine
        >>> result = Engine(preset="gumbel").search("startpos", simulations=17)
        >>> len(result.improved_policy), round(sum(result.improved_policy.values()), 6)
        (20, 1.0)
        """
        return {row.move: row.improved for row in self.moves}

    @property
    def white_value(self) -> float:
        """Value of the position for White, or the first player.

        >>> from anabranch import Engine
        >>> result = Engine().search("startpos moves e2e4", simulations=10)
        >>> result.white_value == -result.value
        True
        """
        return self.value if self.root.player == 0 else -self.value

    @property
    def mate(self) -> int | None:
        """Moves to the end of the game where that is proven; negative when the side to move loses.

        >>> from anabranch import Engine
        >>> Engine().search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=100).mate
        1
        """
        return None if self.solved is None else self.solved.mate

    @property
    def centipawns(self) -> int | None:
        """The value in centipawns, for the side to move; `None` where there is a `mate`.

        >>> from anabranch import Engine
        >>> -200 < Engine().search("startpos", simulations=100).centipawns < 200
        True
        """
        state = "unknown" if self.solved is None else self.solved.state
        return None if self.mate is not None else self.root.score(self.value, state)

    @property
    def wdl(self) -> Chances:
        """Win, draw and loss per mille, for the side to move.

        >>> from anabranch import Engine
        >>> sum(Engine().search("startpos", simulations=100).wdl)
        1000
        """
        state = "unknown" if self.solved is None else self.solved.state
        return chances_of(self.value, state, self.root.raw, self.root.variant)

    def to_dict(self) -> dict[str, Any]:
        """The same in dictionaries, lists and plain values.

        >>> from anabranch import Engine
        >>> sorted(Engine().search(simulations=20).to_dict())[:4]
        ['best_move', 'centipawns', 'chess960', 'elapsed']
        """
        return {
            **self.summary(),
            "lines": [line.to_dict() for line in self.lines],
            "statistics": _fields_of(self.statistics),
            "moves": [row.to_dict() for row in self.moves],
        }

    def summary(self) -> dict[str, Any]:
        """The same without lines, moves and statistics, which are most of it.

        >>> from anabranch import Engine
        >>> sorted(Engine().search(simulations=20).summary())[:4]
        ['best_move', 'centipawns', 'chess960', 'elapsed']
        """
        values = _fields_of(self)
        for name in ("lines", "moves", "statistics"):
            del values[name]
        if self.solved is not None:
            values["solved"] = {**_fields_of(self.solved), "mate": self.solved.mate}
        return {
            "position": self.position,
            "variant": self.root.variant,
            "chess960": self.root.chess960,
            "white_value": self.white_value,
            **_judgement_of(self),
            **values,
        }

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON text.

        >>> import json
        >>> from anabranch import Engine
        >>> json.loads(Engine().search(simulations=20).to_json())["finish"]
        'limit'
        """
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        text = f"{self.best_move}  value {self.value:+.3f}"
        if self.solved is not None:
            length = "" if self.solved.plies is None else f" in {self.solved.plies} plies"
            text += f"  proven {self.solved.state}{length}"
        lines = [text, *(f"  {line.value:+.3f}  {line.san}" for line in self.lines)]
        lines.append(f"{'move':8}{'visits':>10}{'Q':>9}{'P':>8}")
        for row in self.moves[:10]:
            q = "-" if row.q is None else f"{row.q:+.3f}"
            proven = "" if row.state == "unknown" else f"  {row.state}"
            lines.append(f"{row.move:8}{row.visits:>10}{q:>9}{row.prior:>8.3f}{proven}")
        numbers = self.statistics
        lines.append(
            f"{numbers.simulations} simulations, {numbers.evaluations} evaluations, {numbers.nodes} nodes, "
            f"{numbers.transposition_links} transposition links, mean depth {numbers.mean_depth:.1f}, "
            f"{self.elapsed:.2f} s"
        )
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Result(Progress):
    """The result of a search.

    >>> from anabranch import Engine
    >>> result = Engine(preset="mcgs").search("startpos", simulations=200)
    >>> result.moves[0].move == result.best_move
    True
    >>> result.finish
    'limit'
    """

    statistics: Statistics
    finish: str
    """Why the search ended: limit, time, stopped, solved, idle (nothing left to evaluate), memory (no room
    for another node) or visits (a node has as many as can be counted)."""

    @property
    def remark(self) -> str | None:
        """A sentence about an end by memory or visits, which are no limits of the search.

        >>> from anabranch import Engine
        >>> print(Engine().search(simulations=10).remark)
        None
        """
        return _REMARKS.get(self.finish)


_REMARKS = {
    "memory": "the search ended because the memory cap leaves no room for another node",
    "visits": "the search ended because a node of the graph has as many visits as can be counted; "
    "a search on a new graph counts from zero",
}


def _fields_of(row: Any) -> dict[str, Any]:
    """The fields of a dataclass but for the root, as they are: many times quicker than copies of them."""
    names, values = _getter_of(row.__class__)
    return dict(zip(names, values(row), strict=True))


@cache
def _getter_of(kind: Any) -> tuple[tuple[str, ...], attrgetter[Any]]:
    names = tuple(field.name for field in fields(kind) if field.name != "root")
    return names, attrgetter(*names)


Made = TypeVar("Made")


def _make(kind: type[Made], values: dict[str, Any], root: Root | None = None) -> Made:
    """An instance of a frozen dataclass that takes over a dictionary with all its fields. Its constructor
    would take most of the time of a result, of which there may be many thousands.
    """
    if root is not None:
        values["root"] = root
    made = object.__new__(kind)
    object.__setattr__(made, "__dict__", values)
    return made


def _judgement_of(row: Line | MoveStatistics | Progress) -> dict[str, Any]:
    """What follows from a value and what is proven about it."""
    chances = row.wdl
    return {
        "centipawns": row.centipawns,
        "mate": row.mate,
        "wdl": None if chances is None else list(chances),
    }


def read_report(report: dict[str, Any], root: Root, elapsed: float, lines: int) -> dict[str, Any]:
    """The fields of a result from a report of the core, all but the statistics. It uses the report up."""
    solved = report["solved"]
    best = report["best_move"]
    return {
        "best_move": best,
        "value": report["value"],
        "lines": tuple(
            _make(Line, {**line, "moves": tuple(line["moves"])}, root) for line in report["lines"][:lines]
        ),
        "moves": tuple(_make(MoveStatistics, row, root) for row in report["moves"]),
        "solved": None if solved is None else Solved(**solved),
        "elapsed": elapsed,
        "root": root,
    }


_LATER = ("edges", "transposition_nodes", "solved_nodes", "leak", "node_leak")


def progress_of(report: dict[str, Any], root: Root, elapsed: float, lines: int) -> Progress:
    """A report of the core on the way."""
    counts = {name: number for name, number in report["statistics"].items() if name not in _LATER}
    return Progress(**read_report(report, root, elapsed, lines), statistics=Counts(**counts))


def result_of(report: dict[str, Any], root: Root, elapsed: float, lines: int, finish: str) -> Result:
    """A report of the core at the end."""
    statistics = _make(Statistics, report["statistics"])
    return Result(**read_report(report, root, elapsed, lines), statistics=statistics, finish=finish)
