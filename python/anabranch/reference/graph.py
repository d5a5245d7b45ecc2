"""The graph: nodes, edges, and the table in which equal positions meet.

It adds, links, finds and frees. It has no opinion on values: selection, backup and proofs are rules over it,
in files of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

import chess

from anabranch.reference.board import canonical_text, clock_limit, ending, legal_moves, move_code
from anabranch.reference.formulas import v_star
from anabranch.reference.settings import Constraint, ReferenceSettings

Tablebase = Callable[[chess.Board], int | None]
"""Maps a position to 1, 0 or -1 for the side to move, or to None when it is not in the tables."""

MergeKey = tuple[str, int, int | None]
CLOCK_MARGIN = 40


class State(Enum):
    """What is proven about a node, for the side to move there. TB_ states rest on a tablebase."""

    UNKNOWN = "unknown"
    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    TB_WIN = "tb-win"
    TB_DRAW = "tb-draw"
    TB_LOSS = "tb-loss"

    @property
    def is_exact(self) -> bool:
        """Whether the state rests on the rules alone."""
        return self in EXACT_VALUES


EXACT_VALUES = {State.WIN: 1.0, State.DRAW: 0.0, State.LOSS: -1.0}
EXACT_STATES = {value: state for state, value in EXACT_VALUES.items()}
TABLEBASE_STATES = {1: State.TB_WIN, 0: State.TB_DRAW, -1: State.TB_LOSS}


@dataclass(eq=False)
class Edge:
    """A legal move of a node. It is *open* once it has a child."""

    move: chess.Move
    code: int
    prior: float
    visits: int = 0
    q: float = 0.0
    in_flight: int = 0
    child: Node | None = None
    pruned: bool = False
    path_draws: int = 0  # d(e), read by `recompute` and by UCD
    explored: int = 0  # x(e), read by `recompute`

    @property
    def target(self) -> float:
        """T(e), the value of this edge by its child as it is now."""
        assert self.child is not None
        return v_star(self.child.best_value)


@dataclass(eq=False)
class Node:
    """A position of the graph; V, U and the state are for its side to move, edges[:opened] are open."""

    key: MergeKey
    position: str
    moves: list[chess.Move]
    is_terminal: bool = False
    visits: int = 0
    value: float = 0.0
    raw: float | None = None
    state: State = State.UNKNOWN
    end_in_ply: int | None = None
    edges: list[Edge] = field(default_factory=list)
    opened: int = 0
    in_flight: int = 0
    is_waiting: bool = False
    is_transposition: bool = False
    has_noise: bool = False
    mate_searches: int = 0  # as many as its visits called for
    has_no_mate: bool = False  # a win by a mate is disproven
    numbers: tuple[int, int] | None = None  # its proof numbers, once a trajectory came back
    draw: float = 0.0  # what a draw is worth to its side to move
    parents: list[tuple[Node, Edge]] = field(default_factory=list, repr=False)
    priors: list[float] = field(default_factory=list, repr=False)  # of `moves`, without noise
    exhausted: set[Constraint] = field(default_factory=set)

    @property
    def is_evaluated(self) -> bool:
        """Whether U is known."""
        return self.raw is not None

    @property
    def best_value(self) -> float:
        """The exact value where it is proven, else V."""
        return self.draw if self.state is State.DRAW else EXACT_VALUES.get(self.state, self.value)

    @property
    def open_edges(self) -> list[Edge]:
        """The edges chosen at least once, in that order."""
        return self.edges[: self.opened]

    @property
    def unopened_edges(self) -> list[Edge]:
        """The others, by descending prior."""
        return self.edges[self.opened :]


class Graph:
    """The nodes below `root`; `table` holds them by merge key where equal positions share one node."""

    def __init__(
        self, board: chess.Board, settings: ReferenceSettings, tablebase: Tablebase | None = None
    ) -> None:
        self.settings = settings
        self.tablebase = tablebase
        self.limit = clock_limit(board)
        self.side = board.turn
        self.table: dict[MergeKey, Node] = {}
        self.root = self.create(board, canonical_text(board))

    def merge_key(self, position: str, board: chess.Board) -> MergeKey:
        """What makes two paths meet in one node: the position, and a salt that keeps the graph acyclic."""
        clock = board.halfmove_clock
        if self.settings.merge == "clock":
            return position, clock, None
        near_limit = self.limit is not None and clock >= self.limit - CLOCK_MARGIN
        return position, board.ply(), clock if near_limit else None

    def draw_value(self, player: chess.Color) -> float:
        """What a draw is worth to a player: with contempt, one side dislikes it and the other likes it."""
        contempt = self.settings.contempt
        return -contempt if player == self.side else contempt

    def find(self, board: chess.Board, position: str) -> Node | None:
        """The node that stands for this position already; a tree has none."""
        return self.table.get(self.merge_key(position, board)) if self.settings.merges else None

    def create(self, board: chess.Board, position: str) -> Node:
        """Add a node."""
        node = self.draft(board, position)
        if self.settings.merges:
            self.table[node.key] = node
        return node

    def draft(self, board: chess.Board, position: str) -> Node:
        """A node as it would be added; a finished position is evaluated and solved at once."""
        key = self.merge_key(position, board)
        node = Node(key, position, legal_moves(board), draw=self.draw_value(board.turn))
        value = ending(board, node.moves)
        if value is not None:
            node.is_terminal = True
            node.visits = 1
            node.state, node.end_in_ply = EXACT_STATES[value], 0
            node.raw = node.value = node.best_value
        elif self.tablebase is not None and board.halfmove_clock == 0 and not board.clean_castling_rights():
            wdl = self.tablebase(board)
            if wdl is not None:
                node.state = TABLEBASE_STATES[wdl]
        return node

    def open(
        self, node: Node, edge: Edge, board: chess.Board, known: Node | None = None
    ) -> tuple[Node, bool]:
        """Give the edge its child; `board` stands after the move. Returns it, and whether it was known."""
        position = canonical_text(board)
        known = known or self.find(board, position)
        child = self.create(board, position) if known is None else known
        child.is_transposition = child.is_transposition or bool(child.parents)
        child.parents.append((node, edge))
        edge.child = child
        node.edges.remove(edge)
        node.edges.insert(node.opened, edge)
        node.opened += 1
        return child, known is not None

    def expand(self, node: Node, raw: float, priors: Sequence[float], board: chess.Board) -> None:
        """Store an evaluation: N = 1, V = U, edges by descending prior."""
        node.is_waiting = False
        node.raw = node.value = raw
        node.visits = 1
        node.priors = list(priors)
        self.list_edges(node, priors, board)
        if self.settings.backup == "tree+cache":
            self.table.setdefault(node.key, node)

    def list_edges(self, node: Node, priors: Sequence[float], board: chess.Board) -> None:
        """List the moves of a node by descending prior; those that a proof has opened stand first."""
        opened = {edge.code for edge in node.open_edges}
        edges = [Edge(m, move_code(board, m), p) for m, p in zip(node.moves, priors, strict=True)]
        unopened = [edge for edge in edges if edge.code not in opened]
        node.edges = node.open_edges + sorted(unopened, key=by_prior)

    def nodes(self) -> Iterator[Node]:
        """All nodes below the root, the root first."""
        seen = {id(self.root)}
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            for edge in reversed(node.open_edges):
                if edge.child is not None and id(edge.child) not in seen:
                    seen.add(id(edge.child))
                    stack.append(edge.child)

    def advance(self, root: Node) -> None:
        """Keep what is below a new root, and free the rest."""
        self.root = root
        kept = list(self.nodes())
        alive = {id(node) for node in kept}
        self.table.clear()
        for node in kept:
            node.parents = [(parent, edge) for parent, edge in node.parents if id(parent) in alive]
            if self.settings.merges or node.priors:
                self.table.setdefault(node.key, node)


def by_prior(edge: Edge) -> tuple[float, int]:
    """Sort key of unopened edges: prior descending, then move code."""
    return -edge.prior, edge.code
