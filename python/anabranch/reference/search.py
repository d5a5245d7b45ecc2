"""The paper in one file: Monte-Carlo graph search on python-chess boards, to be read rather than to be fast.

It is the executable form of `docs/algorithm.md`, step by step and tie by tie; the Rust core is tested against
it edge by edge. It knows the rules only through python-chess and networks only as functions `(board, moves)
-> (value, logits)`; it has no clock, no threads and no memory cap. Equations (1) and (2) of the paper belong
to an earlier method and have no code here.
"""

from __future__ import annotations

import math
import struct
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import chess
import chess.variant

Evaluator = Callable[[chess.Board, Sequence[chess.Move]], tuple[float, Sequence[float]]]
"""Maps a position and its legal moves (ascending codes) to the mover's value and one logit per move."""

Tablebase = Callable[[chess.Board], int | None]
"""Maps a position to 1, 0 or -1 for the side to move, or to None when it is not in the tables."""

Key = tuple[str, int, int | None]
Constraint = Literal["greedy", "checks", "captures", "threats"]

LINEAR_WEIGHT = 0.7
LCB_Z = 1.96
LCB_MIN_SHARE = 0.1
CLOCK_MARGIN = 40


@dataclass(frozen=True)
class Settings:
    """Every constant of a search; the defaults are AlphaZero* of the paper's table, nothing added."""

    c_init: float = 2.5
    c_base: float = 19652.0
    q_init: float = -1.0
    urgency: Literal["fixed", "reduction"] = "fixed"
    urgency_reduction: float = 0.25
    table_values: bool = False
    node_temperature: float = 1.7
    virtual_mode: Literal["loss", "visit"] = "loss"
    virtual_loss: float = 1.0
    backup: Literal["tree", "tree+cache", "naive", "paper", "delta", "recompute"] = "tree"
    stop: Literal["gap", "visits", "none"] = "gap"
    q_epsilon: float = 0.01
    value_min: float = -1.0
    value_max: float = 1.0
    contempt: float = 0.0
    merge: Literal["ply", "clock"] = "ply"
    solver: bool = False
    epsilon_greedy: float = 0.0
    epsilon_checks: float = 0.0
    epsilon_captures: float = 0.0
    epsilon_threats: float = 0.0
    dirichlet_epsilon: float = 0.0
    dirichlet_alpha: float = 0.2
    chooser: Literal["visits", "q", "linear", "lcb"] = "visits"
    q_weight: float = 2.0
    temperature: float = 0.0
    batch_size: int = 16
    batches_in_flight: int = 2
    width_visits: int = 0
    batch_collisions: int = 16
    batch_stops: int = 256
    batch_terminals: int = 32
    idle_collections: int = 128
    seed: int = 0

    @property
    def merges(self) -> bool:
        """Whether equal positions share one node."""
        return self.backup not in ("tree", "tree+cache")

    @property
    def corrects(self) -> bool:
        """Whether the backup pulls the edge of a transposition node onto its target."""
        return self.backup in ("paper", "delta")

    @property
    def explorations(self) -> tuple[tuple[Constraint, float], ...]:
        """The four kinds of exploration with their probabilities, in the order in which they are drawn."""
        return (
            ("greedy", self.epsilon_greedy),
            ("checks", self.epsilon_checks),
            ("captures", self.epsilon_captures),
            ("threats", self.epsilon_threats),
        )


PRESETS: dict[str, Settings] = {
    "alphazero": Settings(),
    "alphazero+cache": Settings(backup="tree+cache"),
    "alphazero+solver": Settings(solver=True),
    "alphazero+epsilon": Settings(epsilon_greedy=0.01),
    "alphazero+qmove": Settings(chooser="q"),
    "alphazero+checks": Settings(epsilon_checks=0.01),
    "mcgs": Settings(backup="paper"),
    "mcgs-combined": Settings(
        backup="paper", solver=True, epsilon_greedy=0.01, epsilon_checks=0.01, chooser="q"
    ),
}


MASK64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def to_f32(x: float) -> float:
    """Round to the nearest IEEE single."""
    return float(struct.unpack("<f", struct.pack("<f", x))[0])


def to_f16(x: float) -> float:
    """Round to the nearest IEEE half, ties to even, straight from the double."""
    return float(struct.unpack("<e", struct.pack("<e", x))[0])


def mix(x: int) -> int:
    """The finaliser of SplitMix64, applied to x + GOLDEN."""
    z = (x + GOLDEN) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


class Random:
    """SplitMix64: the one source of chance in a search."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK64

    def next(self) -> int:
        """64 random bits."""
        z = mix(self.state)
        self.state = (self.state + GOLDEN) & MASK64
        return z

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self.next() >> 11) * 2.0**-53

    def index(self, n: int) -> int:
        """An index below n."""
        return (self.next() * n) >> 64

    def normal(self) -> float:
        """Polar method; the second variate is thrown away."""
        while True:
            u = 2.0 * self.uniform() - 1.0
            v = 2.0 * self.uniform() - 1.0
            s = u * u + v * v
            if 0.0 < s < 1.0:
                return u * math.sqrt(-2.0 * math.log(s) / s)

    def gamma(self, alpha: float) -> float:
        """Marsaglia-Tsang with shape alpha + 1, then the boost that lowers the shape to alpha."""
        d = alpha + 1.0 - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            t = 1.0 + c * x
            if t <= 0.0:
                continue
            v = t * t * t
            u = self.uniform()
            if u > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                break
        return float(d * v * self.uniform() ** (1.0 / alpha))


def is_crazyhouse(board: chess.Board) -> bool:
    """Whether pieces change sides: no move-count rule, no dead material, promoted marks and pockets."""
    return isinstance(board, chess.variant.CrazyhouseBoard)


def canonical_text(board: chess.Board) -> str:
    """Identity of a position: the first four FEN fields, en passant only where the capture is legal.

    Written as shakmaty writes it: pockets are white's, then black's, each from pawn to queen; three-check
    adds the checks that remain.
    """
    placement = board.board_fen(promoted=is_crazyhouse(board))
    if isinstance(board, chess.variant.CrazyhouseBoard):
        white, black = board.pockets[chess.WHITE], board.pockets[chess.BLACK]
        held = "".join(chess.piece_symbol(t).upper() * white.count(t) for t in chess.PIECE_TYPES)
        held += "".join(chess.piece_symbol(t) * black.count(t) for t in chess.PIECE_TYPES)
        placement += f"[{held}]"
    # Not has_legal_en_passant(): in atomic chess it overlooks that the capture would explode the own king.
    can_take = any(board.is_legal(move) for move in board.generate_pseudo_legal_ep())
    en_passant = board.ep_square if can_take else None
    text = " ".join(
        (
            placement,
            "w" if board.turn else "b",
            board.castling_xfen(),
            "-" if en_passant is None else chess.square_name(en_passant),
        )
    )
    if isinstance(board, chess.variant.ThreeCheckBoard):
        remaining = board.remaining_checks
        text += f" {max(remaining[chess.WHITE], 0)}+{max(remaining[chess.BLACK], 0)}"
    return text


def move_code(board: chess.Board, move: chess.Move) -> int:
    """The move as a u16, `from | to << 6 | kind << 12`; castling is the king taking its own rook."""
    if move.drop is not None:
        return move.to_square << 6 | (7 + move.drop) << 12
    to_square = move.to_square
    if board.is_castling(move) and not board.chess960:
        rook_file = 7 if chess.square_file(to_square) > chess.square_file(move.from_square) else 0
        to_square = chess.square(rook_file, chess.square_rank(to_square))
    kind = 0 if move.promotion is None else move.promotion - 1
    return move.from_square | to_square << 6 | kind << 12


def legal_moves(board: chess.Board) -> list[chess.Move]:
    """The legal moves in ascending order of their codes."""
    return sorted(board.legal_moves, key=lambda move: move_code(board, move))


def play(board: chess.Board, move: chess.Move) -> None:
    """Push a move. A dropped pawn resets the clock like one that moves, which python-chess leaves out."""
    board.push(move)
    if move.drop == chess.PAWN:
        board.halfmove_clock = 0


def clock_limit(board: chess.Board) -> int | None:
    """The clock at which the game is drawn; crazyhouse knows no such rule."""
    return None if is_crazyhouse(board) else 100


def ending(board: chess.Board, moves: Sequence[chess.Move]) -> float | None:
    """The exact value of a finished position for the side to move, by its own facts alone; else None."""
    if board.is_variant_loss():
        return -1.0
    if board.is_variant_win():
        return 1.0
    if board.is_variant_draw():
        return 0.0
    if not moves:
        return -1.0 if board.is_check() else 0.0
    if not is_crazyhouse(board) and board.is_insufficient_material():
        return 0.0
    return None


THREAT_VALUES = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 100,
}


def is_threat(board: chess.Board, move: chess.Move) -> bool:
    """Whether the moved piece then attacks a dearer or undefended enemy piece, kings apart."""
    if board.is_castling(move):
        return False
    us, them = board.turn, not board.turn
    after = board.copy(stack=False)
    after.push(move)
    piece = after.piece_at(move.to_square)
    if piece is None or piece.color != us:  # it exploded
        return False
    for square in after.attacks(move.to_square):
        victim = after.piece_at(square)
        if victim is None or victim.color != them or victim.piece_type == chess.KING:
            continue
        if THREAT_VALUES[victim.piece_type] > THREAT_VALUES[piece.piece_type]:
            return True
        if not after.attackers_mask(them, square):
            return True
    return False


def satisfies(board: chess.Board, constraint: Constraint, move: chess.Move) -> bool:
    """The predicates of the domain knowledge: checks, captures, threats."""
    if constraint == "checks":
        return board.gives_check(move)
    if constraint == "captures":
        return board.is_capture(move)
    if constraint == "threats":
        return is_threat(board, move)
    return True


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
    path_draws: int = 0  # d(e), kept by `recompute`
    explored: int = 0  # x(e), kept by `recompute`

    @property
    def target(self) -> float:
        """T(e), what the child says this edge is worth now."""
        assert self.child is not None
        return v_star(self.child.best_value)


@dataclass(eq=False)
class Node:
    """A position of the graph; V, U and the state are for its side to move, edges[:opened] are open."""

    key: Key
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


def c_puct(total: int, c_base: float, c_init: float) -> float:
    """Eq. (6): log((sum_a N(s, a) + c_base + 1) / c_base) + c_init; total is the sum."""
    return math.log((total + c_base + 1.0) / c_base) + c_init


def u_value(c: float, p: float, total: int, n: int) -> float:
    """Eq. (4): U(s, a) = c_puct P(s, a) sqrt(sum_b N(s, b)) / (1 + N(s, a))."""
    return c * math.sqrt(total) * p * (1 / (1 + n))


def running_mean(q: float, n: int, x: float) -> float:
    """Eq. (5): Q' = Q + (x - Q) / n, where n counts x."""
    return q + (x - q) / n


def v_star(v: float) -> float:
    """Eq. (7): V*(s) = -V(s), the child's value in the frame of its parent, as the mover always changes."""
    return -v


def q_delta(q: float, target: float) -> float:
    """Eq. (8): Q_delta = Q(s_t, a) - V*(s_t+1), the leak of an edge."""
    return q - target


def q_phi(n: int, q: float, target: float) -> float:
    """Eq. (9): the value x that puts the mean of n visits at q, and x, exactly on the target.

    Differs from the paper: it prints N Q_delta + V*, which moves Q away from the target; the sign must be
    minus.
    """
    return target + n * (target - q)


def clip(x: float, v_min: float, v_max: float) -> float:
    """Eq. (10): Q'_phi = max(V_min, min(Q_phi, V_max))."""
    return max(v_min, min(x, v_max))


def branch_depth(bits: int) -> int:
    """Eq. (11): the depth of an exploration, P(d) = 2^-(d+1).

    Differs from the paper: the trailing zeros of 64 random bits have the distribution of -log2(1 - r) - 1
    rounded up, without a logarithm.
    """
    return 64 if bits == 0 else (bits & -bits).bit_length() - 1


def visit_policy(visits: Sequence[int]) -> list[float]:
    """Eq. (12): pi(a) = N(a) / sum_b N(b).

    Differs from the paper: the temperature comes last (`sharpen`), or it would drown the correction of Eq.
    (14).
    """
    total = sum(visits)
    return [n / total for n in visits]


def q_gap(q_alpha: float, q_beta: float) -> float:
    """Eq. (13): Q_Delta = Q(a_beta) - Q(a_alpha)."""
    return q_beta - q_alpha


def pi_corr(q_weight: float, gap: float, pi_alpha: float) -> float:
    """Eq. (15): pi_corr = Q_weight Q_Delta pi(a_alpha)."""
    return q_weight * gap * pi_alpha


def q_value_policy(visits: Sequence[int], q: Sequence[float], q_weight: float) -> list[float]:
    """Eq. (14): pi'(a_beta) = pi(a_beta) + pi_corr when the second most visited move has the better Q."""
    pi = visit_policy(visits)
    if len(pi) < 2:
        return pi
    order = sorted(range(len(visits)), key=lambda i: -visits[i])
    alpha, beta = order[0], order[1]
    gap = q_gap(q[alpha], q[beta])
    if gap > 0.0:
        pi[beta] += pi_corr(q_weight, gap, pi[alpha])
    return normalise(pi)


def linear_policy(visits: Sequence[int], q: Sequence[float], weight: float = LINEAR_WEIGHT) -> list[float]:
    """The older mix of CrazyAra: (1 - w) visits + w (Q + 1) / 2, both summing to one."""
    share = [(x + 1.0) / 2.0 for x in q]
    if sum(share) <= 0.0:
        return visit_policy(visits)
    return [
        (1.0 - weight) * n + weight * s for n, s in zip(visit_policy(visits), normalise(share), strict=True)
    ]


def lcb_policy(visits: Sequence[int], q: Sequence[float]) -> list[float]:
    """All weight on the best Q - z sqrt((1 - Q^2) / N), among moves with a tenth of the most visits."""
    floor = LCB_MIN_SHARE * max(visits)
    bounds = [
        x - LCB_Z * math.sqrt(max(0.0, 1.0 - x * x) / n) if n >= floor else -math.inf
        for n, x in zip(visits, q, strict=True)
    ]
    best = bounds.index(max(bounds))
    return [1.0 if i == best else 0.0 for i in range(len(bounds))]


def normalise(weights: Sequence[float]) -> list[float]:
    """Scale to a sum of one."""
    total = sum(weights)
    return [w / total for w in weights]


def sharpen(pi: Sequence[float], tau: float) -> list[float]:
    """The temperature of Eq. (12): pi^(1/tau) renormalised; tau = 0 keeps only the first maximum."""
    top = max(pi)
    if tau == 0.0:
        best = list(pi).index(top)
        return [1.0 if i == best else 0.0 for i in range(len(pi))]
    return normalise([(p / top) ** (1.0 / tau) for p in pi])


def softmax_priors(logits: Sequence[float], node_temperature: float) -> list[float]:
    """The policy of a node: softmax of logit / temperature over the legal moves, each rounded to a half."""
    top = max(logits)
    sharpness = 1 / node_temperature
    weights = [math.exp((logit - top) * sharpness) for logit in logits]
    total = 0.0
    for weight in weights:
        total += weight
    scale = 1 / total
    return [to_f16(weight * scale) for weight in weights]


def solve(children: Iterable[tuple[State, int | None]], unknown: int) -> tuple[State, int | None]:
    """Algorithm 3: the state and END_IN_PLY of a node from its solved children and the count of the others.

    Differs from the paper: printed without `else`, it could mark a node twice; TB states are spelled out
    here.
    """
    plies: dict[State, list[int]] = {state: [] for state in State}
    for state, end_in_ply in children:
        plies[state].append(end_in_ply or 0)
    if plies[State.LOSS]:
        return State.WIN, 1 + min(plies[State.LOSS])
    if plies[State.TB_LOSS]:
        return State.TB_WIN, None
    if unknown > 0:
        return State.UNKNOWN, None
    if not plies[State.TB_WIN] and not plies[State.TB_DRAW]:
        if plies[State.DRAW]:
            return State.DRAW, 1 + min(plies[State.DRAW])
        return State.LOSS, 1 + max(plies[State.WIN])
    if plies[State.DRAW] or plies[State.TB_DRAW]:
        return State.TB_DRAW, None
    return State.TB_LOSS, None


class End(Enum):
    """How a trajectory ended."""

    LEAF = "leaf"
    COLLISION = "collision"
    STOP = "stop"
    EXACT = "exact"
    PATH_DRAW = "path_draw"


@dataclass
class Trajectory:
    """The (node, edge) pairs of one simulation, from the root or from the branch node of an exploration."""

    path: list[tuple[Node, Edge]]
    last: Node
    end: End
    board: chess.Board
    is_exploration: bool = False


@dataclass
class Batch:
    """Trajectories that wait for evaluations, and what else their collection met."""

    most_in_flight: int  # batches, this one included
    leaves: list[Trajectory] = field(default_factory=list)
    keys: set[Key] = field(default_factory=set)
    evaluations: int = 0
    collisions: int = 0
    stops: int = 0
    terminals: int = 0


@dataclass
class Statistics:
    """Counters over the life of a search."""

    simulations: int = 0
    evaluations: int = 0
    transposition_links: int = 0
    corrections: int = 0
    stops: int = 0
    collisions: int = 0
    explorations: int = 0
    path_draws: int = 0
    terminals: int = 0


@dataclass
class Walk:
    """Where a simulation stands: the board of its own path, and the positions it passed since the root."""

    node: Node
    board: chess.Board
    occurred: set[str]


class Search:
    """A graph that grows below `root`. A board with a move stack brings its history along."""

    def __init__(
        self,
        board: chess.Board,
        settings: Settings,
        evaluator: Evaluator,
        tablebase: Tablebase | None = None,
    ) -> None:
        self.settings = settings
        self.evaluator = evaluator
        self.tablebase = tablebase
        self.statistics = Statistics()
        self.history: Counter[str] = Counter()
        past = board.copy()
        while past.move_stack:
            past.pop()
            self.history[canonical_text(past)] += 1
        self.board = past.copy(stack=False)  # its pockets are its own
        for move in board.move_stack:
            play(self.board, move)
        self.board.clear_stack()
        self.limit = clock_limit(board)
        self.start_graph()

    def start_graph(self) -> None:
        """Forget everything and stand at the root position with a freshly seeded generator."""
        self.doubts = 0
        self.random = Random(self.settings.seed)
        self.side = self.board.turn
        self.table: dict[Key, Node] = {}
        self.queue: deque[Batch] = deque()
        position = canonical_text(self.board)
        self.root = self.create(self.merge_key(position, self.board), position, self.board)

    def merge_key(self, position: str, board: chess.Board) -> Key:
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

    def create(self, key: Key, position: str, board: chess.Board) -> Node:
        """A new node; a finished position is evaluated and solved at once."""
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
        if self.settings.merges:
            self.table[key] = node
        return node

    def open(self, node: Node, edge: Edge, board: chess.Board) -> None:
        """Give the edge its child, an old one where the merge key is known; `board` stands after the move."""
        position = canonical_text(board)
        key = self.merge_key(position, board)
        child = self.table.get(key) if self.settings.merges else None
        if child is None:
            child = self.create(key, position, board)
        else:
            self.statistics.transposition_links += 1
            child.is_transposition = child.is_transposition or bool(child.parents)
        child.parents.append((node, edge))
        edge.child = child
        node.edges.remove(edge)
        node.edges.insert(node.opened, edge)
        node.opened += 1
        if self.settings.solver and self.doubts < 2 and child.state is not State.UNKNOWN:
            self.mark_pruned(edge)
            self.inform(node)

    def expand(self, node: Node, raw: float, priors: Sequence[float], board: chess.Board) -> None:
        """Store an evaluation: N = 1, V = U, edges by descending prior."""
        node.is_waiting = False
        node.raw = node.value = raw
        node.visits = 1
        node.priors = list(priors)
        node.edges = [Edge(m, move_code(board, m), p) for m, p in zip(node.moves, priors, strict=True)]
        node.edges.sort(key=by_prior)
        if self.settings.backup == "tree+cache":
            self.table.setdefault(node.key, node)

    def evaluate(self, node: Node, board: chess.Board) -> tuple[float, list[float]]:
        """U and P of a node, as the network f_theta sees it."""
        value, logits = self.evaluator(board, node.moves)
        if len(logits) != len(node.moves):
            raise ValueError(f"The evaluator gave {len(logits)} logits for {len(node.moves)} legal moves.")
        priors = softmax_priors([to_f32(logit) for logit in logits], self.settings.node_temperature)
        return to_f32(value), priors

    def select(self, node: Node, board: chess.Board) -> Edge:
        """Eq. (3): argmax_a Q(s, a) + U(s, a), over the open edges and the first unopened one."""
        settings = self.settings
        total = node.visits - 1 + node.in_flight
        c = c_puct(total, settings.c_base, settings.c_init)
        urgency = self.unvisited_value(node)
        candidates = [(edge, self.edge_value(edge, urgency)) for edge in node.open_edges if not edge.pruned]
        if settings.table_values and settings.merges:
            candidates += [(edge, self.table_value(edge, board, urgency)) for edge in node.unopened_edges]
        else:
            candidates += [(edge, urgency) for edge in node.unopened_edges[:1]]
        if not candidates:
            # Every move loses, but not every loss is exact: go on where only a tablebase says so.
            candidates = [
                (edge, self.edge_value(edge, urgency))
                for edge in node.open_edges
                if edge.child is not None and not edge.child.state.is_exact
            ]
        best, best_score = candidates[0][0], -math.inf
        for edge, q in candidates:
            score = q + u_value(c, edge.prior, total, edge.visits + edge.in_flight)
            if score > best_score:
                best, best_score = edge, score
        return best

    def unvisited_value(self, node: Node) -> float:
        """The Q of a move without visits: a constant, or V less a share of what was tried already."""
        settings = self.settings
        if settings.urgency == "fixed":
            return settings.q_init
        tried = 0.0
        for edge in node.open_edges:
            tried += edge.prior
        return max(settings.value_min, node.value - settings.urgency_reduction * math.sqrt(tried))

    def edge_value(self, edge: Edge, urgency: float) -> float:
        """Q of an open edge as selection sees it, in-flight visits counted as losses (or not at all)."""
        n, k = edge.visits, edge.in_flight
        if k == 0 or self.settings.virtual_mode == "visit":
            return edge.q if n > 0 else urgency
        return (n * edge.q - self.settings.virtual_loss * k) * (1 / (n + k))

    def table_value(self, edge: Edge, board: chess.Board, urgency: float) -> float:
        """The target of an unopened move when its child is already known from elsewhere."""
        after = board.copy(stack=False)
        play(after, edge.move)
        child = self.table.get(self.merge_key(canonical_text(after), after))
        return v_star(child.best_value) if child is not None and child.is_evaluated else urgency

    def simulate(self) -> Trajectory:
        """Algorithm 1: walk down until something gives a value, and say where and why it ended.

        Differs from the paper: the gap is tested as |Q_delta|, an edge that is new to a known child stops
        too, and no value is returned: the backup reads it at the last node, so one frame serves both
        algorithms.
        """
        root = self.root
        walk = Walk(root, self.board.copy(stack=False), {root.position})
        if not root.is_evaluated:
            return Trajectory([], root, End.COLLISION if root.is_waiting else End.LEAF, walk.board)
        edge: Edge | None = None
        constraint = self.draw_exploration()
        if constraint is not None:
            walk, edge = self.explore(walk, constraint)
        is_exploration = edge is not None
        path: list[tuple[Node, Edge]] = []
        while True:
            node = walk.node
            if edge is None:
                edge = self.select(node, walk.board)
            play(walk.board, edge.move)
            if edge.child is None:
                self.open(node, edge, walk.board)
            child = edge.child
            assert child is not None
            path.append((node, edge))
            end = self.end_at(child, edge, walk)
            if end is not None:
                return Trajectory(path, child, end, walk.board, is_exploration)
            walk.occurred.add(child.position)
            walk.node, edge = child, None

    def end_at(self, child: Node, edge: Edge, walk: Walk) -> End | None:
        """Why a trajectory ends at the child it just reached; None when it goes on."""
        if self.is_path_draw(child, walk):
            return End.PATH_DRAW
        if child.state.is_exact:
            return End.EXACT
        if not child.is_evaluated:
            return End.COLLISION if child.is_waiting else End.LEAF
        if child.is_transposition and self.stops(edge, child):
            return End.STOP
        return None

    def is_path_draw(self, child: Node, walk: Walk) -> bool:
        """Repetition and move count: draws of this path, not of the node. The board stands at the child."""
        if child.position in walk.occurred or self.history[child.position] >= 2:
            return True
        return self.limit is not None and walk.board.halfmove_clock >= self.limit and not child.is_terminal

    def stops(self, edge: Edge, child: Node) -> bool:
        """Whether the transposition node says enough without a new evaluation."""
        if self.settings.stop == "gap":
            return edge.visits == 0 or abs(q_delta(edge.q, edge.target)) > self.settings.q_epsilon
        if self.settings.stop == "visits":
            return edge.visits < child.visits
        return False

    def draw_exploration(self) -> Constraint | None:
        """Whether this simulation is an exploration, and of which kind."""
        kinds = self.settings.explorations
        if all(epsilon <= 0.0 for _, epsilon in kinds):
            return None
        r = self.random.uniform()
        bound = 0.0
        for constraint, epsilon in kinds:
            bound += epsilon
            if r < bound:
                return constraint
        return None

    def explore(self, start: Walk, constraint: Constraint) -> tuple[Walk, Edge | None]:
        """Follow the most visited moves to a random depth and choose an edge to explore there.

        Without such an edge the walk is given up, and the simulation starts at the root as usual.
        """
        walk = Walk(start.node, start.board.copy(stack=False), set(start.occurred))
        for _ in range(branch_depth(self.random.next())):
            tried = [edge for edge in walk.node.open_edges if edge.visits > 0 and not edge.pruned]
            if not tried:
                break
            best = max(tried, key=lambda edge: edge.visits)
            child = best.child
            assert child is not None
            if not child.is_evaluated or child.state.is_exact:
                break
            play(walk.board, best.move)
            if self.is_path_draw(child, walk):
                walk.board.pop()
                break
            walk.occurred.add(child.position)
            walk.node = child
        edge = self.branch_edge(walk.node, walk.board, constraint)
        return (start, None) if edge is None else (walk, edge)

    def branch_edge(self, node: Node, board: chess.Board, constraint: Constraint) -> Edge | None:
        """The next unopened edge under the constraint, then any unopened one, then a random unsolved one."""
        if constraint != "greedy" and constraint not in node.exhausted:
            for edge in node.unopened_edges:
                if satisfies(board, constraint, edge.move):
                    return edge
            node.exhausted.add(constraint)
        if node.unopened_edges:
            return node.unopened_edges[0]
        unsolved = [e for e in node.open_edges if e.child is not None and e.child.state is State.UNKNOWN]
        return unsolved[self.random.index(len(unsolved))] if unsolved else None

    def add_noise(self, node: Node) -> None:
        """Mix Dirichlet noise into the priors of the root, once."""
        node.has_noise = True
        epsilon = self.settings.dirichlet_epsilon
        noise = [self.random.gamma(self.settings.dirichlet_alpha) for _ in node.edges]
        total = 0.0
        for g in noise:
            total += g
        if total <= 0.0:
            return
        for edge, g in zip(node.edges, noise, strict=True):
            edge.prior = to_f16((1.0 - epsilon) * edge.prior + epsilon * (g / total))
        node.edges[node.opened :] = sorted(node.unopened_edges, key=by_prior)

    def back_up(self, trajectory: Trajectory, v: float) -> None:
        """Algorithm 2: carry v, the value of the last child for its mover, up the trajectory.

        Differs from the paper: the target is read from the child at the moment of the update, an edge without
        a target negates v, and the correction has the sign of `q_phi`.
        """
        settings = self.settings
        self.statistics.simulations += 1
        self.statistics.explorations += trajectory.is_exploration
        for i in reversed(range(len(trajectory.path))):
            node, edge = trajectory.path[i]
            child = edge.child
            assert child is not None
            is_draw = trajectory.end is End.PATH_DRAW and i == len(trajectory.path) - 1
            x = v_star(v)
            if is_draw:
                x = node.draw
            elif child.is_transposition and settings.corrects:
                if settings.backup == "paper":
                    x = clip(q_phi(edge.visits, edge.q, edge.target), settings.value_min, settings.value_max)
                else:
                    x = (edge.visits + 1) * edge.target - edge.visits * edge.q
                self.statistics.corrections += x != v_star(v)
            if settings.backup == "recompute":
                is_branch = trajectory.is_exploration and i == 0
                self.recompute(node, edge, is_branch, is_draw)
            elif settings.backup == "delta":
                x = self.update_by_delta(node, edge, x)
            else:
                self.update(node, edge, x)
            v = x

    def update(self, node: Node, edge: Edge, x: float) -> None:
        """One more visit with value x, on the edge and on its node."""
        edge.q = running_mean(edge.q, edge.visits + 1, x)
        edge.visits += 1
        node.value = running_mean(node.value, node.visits + 1, x)
        node.visits += 1

    def update_by_delta(self, node: Node, edge: Edge, x: float) -> float:
        """The same with an x of any size: Q is kept in range, and what really changed goes up."""
        settings = self.settings
        n, q = edge.visits, edge.q
        edge.q = clip((n * q + x) / (n + 1), settings.value_min, settings.value_max)
        edge.visits += 1
        x = (n + 1) * edge.q - n * q
        node.value = running_mean(node.value, node.visits + 1, x)
        node.visits += 1
        return x

    def recompute(self, node: Node, edge: Edge, is_branch: bool, is_draw: bool) -> None:
        """One more visit, then V(n) anew from U and the children: no weight for explorations."""
        edge.visits += 1
        node.visits += 1
        if is_branch:
            edge.explored += 1
        elif is_draw:
            edge.path_draws += 1
        assert node.raw is not None
        total, weight = node.raw, 1
        for e in node.open_edges:
            if e.visits == 0:
                continue
            assert e.child is not None
            d = e.path_draws
            w = e.visits - d - e.explored
            if not e.child.is_evaluated:
                e.q = node.draw
            elif w + d == 0:
                e.q = e.target
            else:
                e.q = (w * e.target + d * node.draw) / (w + d)
            total += (w + d) * e.q
            weight += w + d
        node.value = total / weight

    def inform(self, node: Node) -> None:
        """Algorithm 3 over the graph: every parent of a node that changed looks at its children again.

        Differs from the paper: all parents learn of it, not only the one on the trajectory; a lost edge is
        flagged and keeps its Q and P.
        """
        work = deque([node])
        while work:
            node = work.popleft()
            solved = [e.child for e in node.open_edges if e.child and e.child.state is not State.UNKNOWN]
            unknown = len(node.moves) - len(solved)
            state, end_in_ply = solve(((child.state, child.end_in_ply) for child in solved), unknown)
            if not state.is_exact and node.state is not State.UNKNOWN:
                continue
            if (state, end_in_ply) == (node.state, node.end_in_ply):
                continue
            node.state, node.end_in_ply = state, end_in_ply
            for parent, edge in node.parents:
                self.mark_pruned(edge)
                work.append(parent)

    def mark_pruned(self, edge: Edge) -> None:
        """Flag an edge that loses."""
        assert edge.child is not None
        edge.pruned = edge.child.state in (State.WIN, State.TB_WIN)

    def run(self, simulations: int | None = None, evaluations: int | None = None) -> None:
        """Search until this call has done so many simulations or evaluations, or nothing is left to do."""
        if simulations is None and evaluations is None:
            raise ValueError("A search needs a limit: simulations, evaluations or both.")
        if self.settings.contempt != 0.0 and self.board.turn != self.side:
            self.start_graph()
        done = self.statistics
        simulations = None if simulations is None else done.simulations + simulations
        evaluations = None if evaluations is None else done.evaluations + evaluations
        idle = 0
        try:
            while idle < self.settings.idle_collections and not (
                self.is_spent(simulations, evaluations) or (self.root.state.is_exact and self.stands())
            ):
                batch = self.collect(simulations, evaluations)
                if batch.leaves:
                    self.queue.append(batch)
                    idle = 0
                if self.queue and (len(self.queue) >= batch.most_in_flight or not batch.leaves):
                    self.apply(self.queue[0])
                    self.queue.popleft()
                elif not batch.leaves:
                    idle += 1
            while self.queue:
                self.apply(self.queue[0])
                self.queue.popleft()
        finally:
            # Only a failing evaluator leaves something here.
            while self.queue:
                self.abandon(self.queue.popleft())

    def is_spent(self, simulations: int | None, evaluations: int | None, batch: Batch | None = None) -> bool:
        """Whether a limit is met, counting what is in flight."""
        batches = [*self.queue, batch] if batch is not None else list(self.queue)
        begun = self.statistics.simulations + sum(len(b.leaves) for b in batches)
        asked = self.statistics.evaluations + sum(b.evaluations for b in batches)
        return (simulations is not None and begun >= simulations) or (
            evaluations is not None and asked >= evaluations
        )

    def width(self) -> tuple[int, int]:
        """Evaluations to a batch and batches in flight, as the visits of the root allow."""
        settings = self.settings
        width = settings.batch_size * settings.batches_in_flight
        if settings.width_visits > 0:
            width = min(width, 1 + self.root.visits // settings.width_visits)
        batches = min(settings.batches_in_flight, width)
        return width // batches, batches

    def stands(self) -> bool:
        """Whether what is proven about the root holds in this game, with its repetitions and its clock."""
        if self.root.state is State.DRAW:
            return True
        return self.holds(self.root, self.board, Counter(self.history))

    def holds(self, node: Node, board: chess.Board, seen: Counter[str]) -> bool:
        """Play a proof out: the first of the winner's shortest answers against every move of the loser."""
        if node.is_terminal:
            return True
        if seen[node.position] == 2 or (self.limit is not None and board.halfmove_clock >= self.limit):
            return False
        children = [(edge, edge.child) for edge in node.open_edges if edge.child is not None]
        if node.state is State.WIN:
            wins = [(edge, child) for edge, child in children if child.state is State.LOSS]
            children = [min(wins, key=lambda win: win[1].end_in_ply or 0)]
        seen[node.position] += 1
        for edge, child in children:
            after = board.copy(stack=False)
            play(after, edge.move)
            if not self.holds(child, after, seen):
                return False
        seen[node.position] -= 1
        return True

    def doubt(self) -> None:
        """Begin anew, as the game's history breaks the proof of the root; the second time without proofs."""
        doubts = self.doubts + 1
        self.start_graph()
        self.doubts = doubts

    def collect(self, simulations: int | None = None, evaluations: int | None = None) -> Batch:
        """Simulate until the batch or a cap is full; what needs no evaluation is backed up at once."""
        settings = self.settings
        collided: list[Trajectory] = []
        if self.root.state.is_exact and not self.stands():
            if self.queue:
                return Batch(most_in_flight=1)
            self.doubt()
        size, most_in_flight = self.width()
        batch = Batch(most_in_flight)
        if settings.dirichlet_epsilon > 0.0 and self.root.edges and not self.root.has_noise:
            self.add_noise(self.root)
        while (
            batch.evaluations < size
            and batch.collisions < settings.batch_collisions
            and batch.stops < settings.batch_stops
            and batch.terminals < settings.batch_terminals
            and not self.is_spent(simulations, evaluations, batch)
            and not self.root.state.is_exact
        ):
            trajectory = self.simulate()
            last = trajectory.last
            if trajectory.end is End.LEAF:
                self.add_leaf(batch, trajectory)
            elif trajectory.end is End.COLLISION:
                mark(trajectory, 1)
                collided.append(trajectory)
                batch.collisions += 1
                self.statistics.collisions += 1
            elif trajectory.end is End.STOP:
                batch.stops += 1
                self.statistics.stops += 1
                self.back_up(trajectory, last.value)
            elif trajectory.end is End.EXACT:
                batch.terminals += 1
                self.statistics.terminals += 1
                self.back_up(trajectory, last.best_value)
            else:
                batch.terminals += 1
                self.statistics.path_draws += 1
                self.back_up(trajectory, 0.0)
        for trajectory in collided:
            mark(trajectory, -1)
        return batch

    def add_leaf(self, batch: Batch, trajectory: Trajectory) -> None:
        """Let a leaf wait for its evaluation, unless a tree with a cache knows it already."""
        leaf = trajectory.last
        if self.settings.backup == "tree+cache" and leaf.key in self.table:
            known = self.table[leaf.key]
            assert known.raw is not None
            self.expand(leaf, known.raw, known.priors, trajectory.board)
            batch.stops += 1
            self.statistics.stops += 1
            self.back_up(trajectory, leaf.value)
            return
        leaf.is_waiting = True
        mark(trajectory, 1)
        batch.leaves.append(trajectory)
        if leaf.key in batch.keys:
            batch.stops += 1
        else:
            batch.keys.add(leaf.key)
            batch.evaluations += 1

    def apply(self, batch: Batch) -> None:
        """Evaluate the leaves of a batch, equal ones once, and back them up in order."""
        results: dict[Key, tuple[float, list[float]]] = {}
        for trajectory in batch.leaves:
            leaf = trajectory.last
            if leaf.key not in results:
                results[leaf.key] = self.evaluate(leaf, trajectory.board)
        self.statistics.evaluations += len(results)
        for trajectory in batch.leaves:
            raw, priors = results[trajectory.last.key]
            self.expand(trajectory.last, raw, priors, trajectory.board)
            mark(trajectory, -1)
            self.back_up(trajectory, raw)

    def abandon(self, batch: Batch) -> None:
        """Take back the marks of a batch that will not be applied."""
        for trajectory in batch.leaves:
            trajectory.last.is_waiting = False
            mark(trajectory, -1)

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

    def advance(self, move: chess.Move) -> None:
        """Play a move at the root: keep the graph below it, free the rest, or start a new graph."""
        if move not in self.board.legal_moves:
            raise ValueError(f"{move} is not legal in {self.board.fen()}.")
        code = move_code(self.board, move)
        child = next((e.child for e in self.root.open_edges if e.code == code), None)
        self.history[self.root.position] += 1
        play(self.board, move)
        self.board.clear_stack()
        if child is None and self.settings.merges:
            child = self.table.get(self.merge_key(canonical_text(self.board), self.board))
        if child is None:
            self.start_graph()
            return
        self.root = child
        self.doubts = 0
        kept = list(self.nodes())
        alive = {id(node) for node in kept}
        self.table.clear()
        for node in kept:
            node.parents = [(parent, edge) for parent, edge in node.parents if id(parent) in alive]
            if self.settings.merges or node.priors:
                self.table.setdefault(node.key, node)

    def policy(self) -> list[tuple[chess.Move, float]]:
        """Eq. (12)-(15): the distribution over the root's moves from which the move is chosen.

        With the solver on, a proven win takes everything (the shortest), and a proven loss gets nothing.
        """
        settings, edges = self.settings, self.root.edges
        if settings.solver:
            forced = self.forced_edge()
            if forced is not None:
                return [(forced.move, 1.0)]
            edges = [edge for edge in edges if not edge.pruned]
        visited = [edge for edge in edges if edge.visits > 0]
        if not visited:
            return [(edge.move, 1.0) for edge in edges[:1]]
        visits, q = [edge.visits for edge in visited], [edge.q for edge in visited]
        if settings.chooser == "q":
            pi = q_value_policy(visits, q, settings.q_weight)
        elif settings.chooser == "linear":
            pi = linear_policy(visits, q)
        elif settings.chooser == "lcb":
            pi = lcb_policy(visits, q)
        else:
            pi = visit_policy(visits)
        pi = sharpen(pi, settings.temperature)
        return [(edge.move, p) for edge, p in zip(visited, pi, strict=True)]

    def forced_edge(self) -> Edge | None:
        """The root's edge that proofs alone decide: the shortest win, or the longest loss when all lose."""
        opened = [(edge, edge.child) for edge in self.root.open_edges if edge.child is not None]
        wins = [(child.end_in_ply or 0, edge) for edge, child in opened if child.state is State.LOSS]
        if wins:
            return min(wins, key=lambda win: win[0])[1]
        if not opened or self.root.unopened_edges or any(not edge.pruned for edge, _ in opened):
            return None
        unsure = [edge for edge, child in opened if child.state is State.TB_WIN]
        if unsure:
            return max(unsure, key=lambda edge: edge.visits)
        return max(opened, key=lambda pair: pair[1].end_in_ply or 0)[0]

    def best_move(self) -> chess.Move | None:
        """The move to play, drawn from `policy` by a generator of its own; None at the end of a game."""
        policy = self.policy()
        if not policy:
            return self.root.moves[0] if self.root.moves and not self.root.is_terminal else None
        if len(policy) == 1:
            return policy[0][0]
        if self.settings.temperature == 0.0:
            return max(policy, key=lambda pair: pair[1])[0]
        r = Random(mix(self.settings.seed ^ mix(self.board.ply()))).uniform()
        bound = 0.0
        for move, p in policy:
            bound += p
            if r < bound:
                return move
        return policy[-1][0]

    def edge_leak(self) -> float:
        """Visit-weighted mean of |Q(e) - T(e)| over the edges with an evaluated child."""
        total, weight = 0.0, 0
        for node in self.nodes():
            for edge in node.open_edges:
                if edge.child is not None and edge.child.is_evaluated:
                    total += edge.visits * abs(q_delta(edge.q, edge.target))
                    weight += edge.visits
        return total / weight if weight else 0.0

    def node_leak(self) -> float:
        """Visit-weighted mean of |V(n) - V from the children| over the evaluated nodes that go on."""
        total, weight = 0.0, 0
        for node in self.nodes():
            if node.raw is None or node.is_terminal:
                continue
            value, n = node.raw, 1
            for edge in node.open_edges:
                if edge.child is not None and edge.child.is_evaluated:
                    value += edge.visits * edge.target
                    n += edge.visits
            total += node.visits * abs(node.value - value / n)
            weight += node.visits
        return total / weight if weight else 0.0


def by_prior(edge: Edge) -> tuple[float, int]:
    """Sort key of unopened edges: prior descending, then move code."""
    return -edge.prior, edge.code


def mark(trajectory: Trajectory, k: int) -> None:
    """Add k in-flight visits to every edge of a trajectory, and to the nodes above them."""
    for node, edge in trajectory.path:
        node.in_flight += k
        edge.in_flight += k
