"""Mates: depth-first proof-number search (df-pn), over the rules alone.

It asks whether one side wins by force, and returns moves that do. It knows no graph, no values and no
network. Every count of positions is that of the core, which is tested against this file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum

import chess
import chess.variant

from anabranch.reference.board import canonical_text, clock_limit, ending, legal_moves, play

Identity = tuple[str, int | None]
"""A position, with its clock where the limit of the clock is near."""
Path = tuple[Identity, ...]
"""The positions above a position, from that of the question on."""

INFINITE = 2**30 - 1
ON_ALL_PATHS = 2**16 - 1
UNBOUNDED = 2**16 - 1
CLOCK_HORIZON = 40
MOST_PLIES = 64


class MateAnswer(Enum):
    """What a search for a win found out."""

    WIN = "win"
    NO_WIN = "no win"
    OPEN = "open"


@dataclass(frozen=True)
class Numbers:
    """The least that is still to be shown for a win, and the least against it."""

    proof: int
    disproof: int
    plies: int = 0  # of a proof; of a disproof its reach: there is no win within so many plies
    move: chess.Move | None = None  # of a proof: the win, or the longest resistance
    repeats: int = ON_ALL_PATHS  # of a disproof: the depth of the earliest repetition that it rests on

    @property
    def is_proven(self) -> bool:
        """Whether the attacker wins."""
        return self.proof == 0

    @property
    def is_disproven(self) -> bool:
        """Whether the attacker does not win."""
        return self.disproof == 0


def proven(plies: int, move: chess.Move | None) -> Numbers:
    """The attacker wins."""
    return Numbers(0, INFINITE, plies, move)


def disproven(repeats: int = ON_ALL_PATHS, reach: int = UNBOUNDED) -> Numbers:
    """The attacker does not win within `reach` plies; with a repetition, on this path alone."""
    return Numbers(INFINITE, 0, min(reach, UNBOUNDED), repeats=repeats)


def within_depth(numbers: Numbers, left: int) -> Numbers:
    """Numbers with so many plies left: a longer win is none on this path, and at the end nothing is open."""
    is_long = numbers.is_proven and numbers.plies > left
    is_cut = left == 0 and not numbers.is_proven and not numbers.is_disproven
    return disproven(reach=left) if is_long or is_cut else numbers


OPEN = Numbers(1, 1)


@dataclass
class Child:
    """A move of a position on the path; its numbers are looked up when they are first needed."""

    move: chess.Move
    group: chess.Square | None
    identity: Identity | None = None
    numbers: Numbers = OPEN


@dataclass
class MateTally:
    """The numbers of a position from those of its children, and the child to look at next."""

    numbers: Numbers
    best: Child | None = None
    second: int = INFINITE  # the number that selects, at the second best child
    count: int = 1  # open children that count


def identify(board: chess.Board) -> Identity:
    """What makes two positions the same question."""
    limit, clock = clock_limit(board), board.halfmove_clock
    is_near = limit is not None and clock + CLOCK_HORIZON >= limit
    return canonical_text(board), clock if is_near else None


def is_won_by_check_only(board: chess.Board) -> bool:
    """Whether the last move of every win gives check, so that forced wins mostly consist of checks."""
    return type(board) in (chess.Board, chess.variant.CrazyhouseBoard, chess.variant.ThreeCheckBoard)


def after(board: chess.Board, move: chess.Move) -> chess.Board:
    """The position after a move."""
    board = board.copy(stack=False)
    play(board, move)
    return board


def group_of(move: chess.Move) -> chess.Square | None:
    """All drops on one square are one group: where one of them fails, the others mostly fail too."""
    return None if move.drop is None else move.to_square


@dataclass
class MateSearch:
    """A question, does the side to move win by force, with the table of what is known about positions."""

    board: chess.Board
    drawn: Collection[str]  # positions that are a draw when they occur again
    budget: int
    depth: int = MOST_PLIES
    positions: int = 0
    table: dict[Identity, tuple[Numbers, Path]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.attacker = self.board.turn
        self.root = identify(self.board)
        self.limit = clock_limit(self.board)
        self.checks_only = is_won_by_check_only(self.board)
        self.halted = self.budget <= 0

    def run(self) -> tuple[MateAnswer, int]:
        """Answer the question; with a win, the plies of the proof."""
        self.judge(self.board, self.root, ())
        numbers = self.explore(self.board, self.root, (), INFINITE, INFINITE)
        if numbers.is_proven:
            return MateAnswer.WIN, numbers.plies
        if numbers.is_disproven and numbers.plies == UNBOUNDED:
            return MateAnswer.NO_WIN, 0
        return MateAnswer.OPEN, 0

    def explore(self, board: chess.Board, here: Identity, above: Path, tp: int, td: int) -> Numbers:
        """Work on a position until its proof number reaches tp or its disproof number td."""
        known = self.find(here, above)
        if known is not None and (known.is_proven or known.is_disproven):
            return known
        is_attack = board.turn == self.attacker
        self.count()
        moves = self.attacks(board, legal_moves(board)) if is_attack else legal_moves(board)
        children = [Child(move, None if is_attack else group_of(move)) for move in moves]
        path = (*above, here)
        while True:
            tally = (self.tally_attack if is_attack else self.tally_defence)(board, children, path)
            numbers = tally.numbers
            if numbers.proof >= tp or numbers.disproof >= td or self.halted:
                break
            # The number that selects may pass the second best by a quarter; the other one has what the
            # siblings leave of the threshold.
            best, most = tally.best, tally.second + tally.second // 4 + 1
            assert best is not None
            assert best.identity is not None
            if is_attack:
                limits = min(tp, most), max(td - (tally.count - 1), 0)
            else:
                limits = max(tp - (tally.count - 1), 0), min(td, most)
            numbers = self.explore(after(board, best.move), best.identity, path, *limits)
            best.numbers = within_depth(numbers, self.depth - len(path))
        if numbers.is_disproven and numbers.repeats > len(above):
            # What repeats this position or one below it repeats it on every path.
            numbers = disproven(reach=numbers.plies)
        self.table[here] = numbers, above
        return numbers

    def tally_attack(self, board: chess.Board, children: list[Child], path: Path) -> MateTally:
        """The attacker needs one winning move."""
        open_children: list[Child] = []
        repeats, reach = ON_ALL_PATHS, UNBOUNDED
        for child in children:
            numbers = self.look_up(board, child, path)
            if numbers.is_proven:
                return MateTally(proven(numbers.plies + 1, child.move))
            if numbers.is_disproven:
                repeats, reach = min(repeats, numbers.repeats), min(reach, numbers.plies + 1)
            else:
                open_children.append(child)
        if not open_children:
            return MateTally(disproven(repeats, reach))
        count = len(open_children)
        largest = max(child.numbers.disproof for child in open_children)
        ranked = sorted(open_children, key=lambda child: child.numbers.proof)
        numbers = Numbers(ranked[0].numbers.proof, min(largest + count - 1, INFINITE - 1))
        second = ranked[1].numbers.proof if count > 1 else INFINITE
        return MateTally(numbers, ranked[0], second, count)

    def tally_defence(self, board: chess.Board, children: list[Child], path: Path) -> MateTally:
        """The defender needs one move that does not lose. Of a group only the first open one counts."""
        open_children: list[Child] = []
        groups: set[chess.Square] = set()
        longest: tuple[int, chess.Move | None] = (0, None)
        for child in children:
            waits = child.group in groups
            if waits and child.identity is None:
                continue
            numbers = self.look_up(board, child, path)
            if numbers.is_proven:
                if numbers.plies >= longest[0]:
                    longest = numbers.plies, child.move
            elif numbers.is_disproven:
                return MateTally(disproven(numbers.repeats, numbers.plies + 1))
            elif not waits:
                if child.group is not None:
                    groups.add(child.group)
                open_children.append(child)
        if not open_children:
            return MateTally(proven(longest[0] + 1, longest[1]))
        count = len(open_children)
        largest = max(child.numbers.proof for child in open_children)
        ranked = sorted(open_children, key=lambda child: child.numbers.disproof)
        numbers = Numbers(min(largest + count - 1, INFINITE - 1), ranked[0].numbers.disproof)
        second = ranked[1].numbers.disproof if count > 1 else INFINITE
        return MateTally(numbers, ranked[0], second, count)

    def look_up(self, board: chess.Board, child: Child, path: Path) -> Numbers:
        """The numbers of a child: those of the path, of the table, or of a first look."""
        if child.identity is not None:
            return child.numbers
        next_board = after(board, child.move)
        child.identity = identify(next_board)
        if child.identity in path:
            child.numbers = disproven(path.index(child.identity) + 1)
        else:
            known = self.find(child.identity, path)
            if known is None:
                known = self.judge(next_board, child.identity, path)
            child.numbers = within_depth(known, self.depth - len(path))
        return child.numbers

    def find(self, here: Identity, above: Path) -> Numbers | None:
        """What the table has. A disproof by repetition says nothing on another path, nor beyond its reach."""
        if here not in self.table:
            return None
        numbers, path = self.table[here]
        is_elsewhere = numbers.repeats != ON_ALL_PATHS and path != above
        is_short = numbers.plies < self.depth - len(above)
        return OPEN if numbers.is_disproven and (is_elsewhere or is_short) else numbers

    def judge(self, board: chess.Board, here: Identity, above: Path) -> Numbers:
        """The numbers of a position that is met for the first time: its result, or how many moves it has."""
        if self.halted:
            return OPEN
        self.count()
        moves = legal_moves(board)
        value = ending(board, moves)
        is_attack = board.turn == self.attacker
        if value is not None:
            numbers = proven(0, None) if value == (1.0 if is_attack else -1.0) else disproven()
        elif self.is_drawn(board, here):
            numbers = disproven()
        elif is_attack:
            moves = self.attacks(board, moves)
            numbers = Numbers(1, len(moves)) if moves else disproven()
        else:
            groups = {group_of(move) for move in moves if move.drop is not None}
            numbers = Numbers(len(groups) + sum(move.drop is None for move in moves), 1)
        self.table[here] = numbers, above
        return numbers

    def is_drawn(self, board: chess.Board, here: Identity) -> bool:
        """Whether the game ends here by repetition or by the move count."""
        if self.limit is not None and board.halfmove_clock >= self.limit:
            return True
        return here != self.root and here[0] in self.drawn

    def attacks(self, board: chess.Board, moves: list[chess.Move]) -> list[chess.Move]:
        """The attacker's moves: checks where only a check can win, else all."""
        return [move for move in moves if board.gives_check(move)] if self.checks_only else moves

    def count(self) -> None:
        """Count a position whose moves are listed."""
        self.positions += 1
        self.halted = self.halted or self.positions >= self.budget


@dataclass
class ProofPosition:
    """A position of a proof: the attacker's move, or every move of the defender; none where it is over."""

    board: chess.Board
    moves: list[tuple[chess.Move, Identity]] = field(default_factory=list)
    plies: int = 0


Proof = dict[Identity, ProofPosition]
"""The positions of a proof, each once, that of the question first."""


def read_proof(search: MateSearch) -> Proof | None:
    """Write out the shortest of the wins that a search has found; None where none holds in the game."""
    known = read_wins(search)
    if known is None or search.root not in (plies := measure(known, search.attacker)):
        return None
    proof: Proof = {search.root: known[search.root]}
    waiting = deque([search.root])
    while waiting:
        position = proof[here := waiting.popleft()]
        position.plies = plies[here]
        if position.board.turn == search.attacker and position.moves:
            position.moves = [min(position.moves, key=lambda pair: plies.get(pair[1], INFINITE))]
        for _, there in position.moves:
            if there not in proof:
                proof[there] = known[there]
                waiting.append(there)
    texts = {text for text, _ in proof}
    # Near the limit of the clock one position may have two answers; such a proof is not used.
    return proof if len(texts) == len(proof) and keeps_clock(proof, search.limit) else None


def read_wins(search: MateSearch) -> Proof | None:
    """All positions that known wins lead to, the attacker's with all moves that win."""
    known: Proof = {search.root: ProofPosition(search.board)}
    waiting = deque([search.root])
    while waiting:
        position = known[here := waiting.popleft()]
        moves = legal_moves(position.board)
        if ending(position.board, moves) is not None:
            continue
        is_attack = position.board.turn == search.attacker
        for move in moves:
            next_board = after(position.board, move)
            there = identify(next_board)
            if is_attack and not is_won(search, there):
                continue
            position.moves.append((move, there))
            if there not in known:
                known[there] = ProofPosition(next_board)
                waiting.append(there)
        if not is_won(search, here):
            return None
    return known


def is_won(search: MateSearch, here: Identity) -> bool:
    """Whether the table has a position as proven."""
    return here in search.table and search.table[here][0].is_proven


def measure(known: Proof, attacker: chess.Color) -> dict[Identity, int]:
    """The plies of all positions, from the ends upwards: the attacker's first child to be known decides, and
    the defender's last.
    """
    parents: dict[Identity, list[Identity]] = {here: [] for here in known}
    left: dict[Identity, int] = {}
    for here, position in known.items():
        is_attack = position.board.turn == attacker
        left[here] = min(1, len(position.moves)) if is_attack else len(position.moves)
        for _, there in position.moves:
            parents[there].append(here)
    plies = {here: 0 for here in known if left[here] == 0}
    ready = deque(plies)
    while ready:
        here = ready.popleft()
        for parent in parents[here]:
            if left[parent] > 0:
                left[parent] -= 1
                if left[parent] == 0:
                    plies[parent] = plies[here] + 1
                    ready.append(parent)
    return plies


def keeps_clock(proof: Proof, limit: int | None) -> bool:
    """Whether the clock stays below its limit on the longest way to each position that is not the last."""
    clocks = {here: position.board.halfmove_clock for here, position in list(proof.items())[:1]}
    for here in sorted(proof, key=lambda here: -proof[here].plies):
        position = proof[here]
        if position.moves and limit is not None and clocks[here] >= limit:
            return False
        for move, there in position.moves:
            clock = 0 if after(position.board, move).halfmove_clock == 0 else clocks[here] + 1
            clocks[there] = max(clock, clocks.get(there, 0))
    return True
