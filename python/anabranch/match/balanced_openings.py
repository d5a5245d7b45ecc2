"""Balanced openings: plies drawn at random or from the network's policy, kept when all judges find the
position balanced, each position once.

Candidate number n has a random source of its own, and judges forget between candidates. So the result is a
pure function of the description, whatever the number of workers and of interruptions. Judges are players as
in a match.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import chess

from anabranch.errors import MatchError
from anabranch.jobs.executor import Processes
from anabranch.jobs.folder import locked
from anabranch.match.openings import Opening, board_of, key_of, rules_of, write_openings
from anabranch.match.player import Fault, MoveLimits, Player, PlayerSpec
from anabranch.match.players import make_player
from anabranch.networks.shipped import bundled_network

Source = Literal["random", "policy"]
PATIENCE = 30.0
ATTEMPTS = 1000
"""Candidates in a row of which none is kept, after which it is given up."""


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """The description of openings to be made. Equal descriptions give equal positions."""

    variant: str
    positions: int
    judges: tuple[PlayerSpec, ...]
    source: Source = "policy"
    temperature: float = 1.5
    """Of the policy: above 1 flatter, below sharper."""
    plies: tuple[int, int] = (4, 8)
    bound: int = 130
    """Centipawns that a judge may see for either side."""
    chess960: bool = False
    """Whether games begin from one of the 960 first ranks."""
    seed: int = 1

    def __post_init__(self) -> None:
        rules_of(self.variant)
        if self.positions < 1:
            raise MatchError("openings are at least one position")
        if not self.judges:
            raise MatchError("balanced openings need a judge")
        if self.source not in ("random", "policy"):
            raise MatchError(f"plies are drawn at 'random' or from the 'policy', not by {self.source!r}")
        if not 0.0 < self.temperature < math.inf:
            raise MatchError(f"a temperature is above 0, not {self.temperature}")
        if not 0 <= self.plies[0] <= self.plies[1]:
            raise MatchError("the number of plies is a range from 0 or more upwards")
        if self.bound < 0:
            raise MatchError("a bound is a number of centipawns from 0 on")
        for judge in self.judges:
            if not judge.budget.is_set:
                raise MatchError(f"the judge {judge.name} has no limit")


class Candidate(NamedTuple):
    """A candidate that was judged."""

    number: int
    fen: str | None
    """The position if it is kept."""
    moves: tuple[str, ...]
    scores: tuple[int, ...]
    """The scores of the judges for the side to move, up to the first that is out of bounds."""


class CandidateJob(NamedTuple):
    """A candidate to be drawn and judged."""

    spec: OpeningsSpec
    number: int


_judges: dict[str, Player] = {}


def close_judges() -> None:
    """End the programs that judges of this process have started."""
    for judge in _judges.values():
        judge.close()
    _judges.clear()


def judge_candidate(job: CandidateJob) -> Candidate:
    """Draw a candidate and let the judges score it, until one finds it out of balance."""
    spec, number = job
    board = draw(spec, number)
    moves = tuple(move.uci() for move in board.move_stack)
    if board.is_game_over():
        return Candidate(number, None, moves, ())
    position = board.copy(stack=False)
    scores: list[int] = []
    for judge in spec.judges:
        score = _ask(judge, spec.variant, spec.chess960, position)
        scores.append(score)
        if abs(score) > spec.bound:
            return Candidate(number, None, moves, tuple(scores))
    return Candidate(number, position.fen(), moves, tuple(scores))


def _ask(judge: PlayerSpec, variant: str, chess960: bool, position: chess.Board) -> int:
    key = repr((judge, variant, chess960))
    player = _judges.get(key)
    if player is None:
        player = _judges[key] = make_player(judge, variant, chess960, patience=PATIENCE)
    try:
        player.new_game(0)
        score = player.play(position, MoveLimits(judge.budget)).score
    except Fault as fault:
        raise MatchError(f"the judge {judge.name} failed: {fault}") from fault
    if score is None:
        raise MatchError(f"the judge {judge.name} gives no scores")
    return score


def draw(spec: OpeningsSpec, number: int) -> chess.Board:
    """The position of a candidate, with the moves that led to it; the game may be over in it."""
    source = random.Random(f"openings/{spec.seed}/{spec.variant}/{number}")
    kind = rules_of(spec.variant)
    board = kind.from_chess960_pos(source.randrange(960)) if spec.chess960 else kind()
    for _ in range(source.randint(*spec.plies)):
        if board.is_game_over():
            break
        board.push(_draw_move(spec, board, source))
    return board


def _draw_move(spec: OpeningsSpec, board: chess.Board, source: random.Random) -> chess.Move:
    # Sorted, because the order in which moves are generated may change.
    if spec.source == "random":
        return source.choice(sorted(board.legal_moves, key=chess.Move.uci))
    _, _, policy = bundled_network(spec.variant).evaluate([board.fen(en_passant="fen")])[0]
    moves, logits = zip(*sorted(policy), strict=True)
    weights = [math.exp((logit - max(logits)) / spec.temperature) for logit in logits]
    return board.parse_uci(source.choices(moves, weights)[0])


def make_openings(
    spec: OpeningsSpec,
    path: Path,
    workers: int = 0,
    show: Callable[[int, int], object] = lambda kept, tried: None,
) -> list[Opening]:
    """Make a suite and write it. What is known of candidates goes to a journal beside it, so that the same
    call goes on where it was interrupted. `show` hears how many are kept, of how many tried.
    """
    if path.suffix.lower() not in (".epd", ".fen", ".txt", ".pgn"):
        raise MatchError(f"openings are written as .epd, .fen or .pgn, not as {path.suffix or 'that'}")
    if spec.source == "policy":
        bundled_network(spec.variant)
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = path.with_name(f".{path.name}.journal")
    lock = path.with_name(f".{path.name}.lock")
    with locked(lock), journal.open("a", encoding="utf-8") as file:
        known, good = _read_journal(journal, spec)
        os.truncate(journal, good)
        if not good:
            file.write(json.dumps(_head(spec)) + "\n")
            file.flush()
        try:
            selection = _judge(spec, known, file, workers, show)
            write_openings(
                path, selection.openings, spec.variant, spec.chess960, describe(spec, selection.tried)
            )
        except Exception:
            if not known:  # nothing that a corrected command could not do without
                journal.unlink()
                lock.unlink()
            raise
    journal.unlink()
    lock.unlink(missing_ok=True)
    return selection.openings


def _judge(
    spec: OpeningsSpec,
    known: dict[int, Candidate],
    journal: IO[str],
    workers: int,
    show: Callable[[int, int], object],
) -> _Selection:
    """Judge candidates until there are enough; each goes to the journal and to `known`."""
    selection = _Selection(spec, known)
    show(len(selection.openings), selection.tried)

    def take(candidate: Candidate) -> bool:
        journal.write(json.dumps(list(candidate)) + "\n")
        journal.flush()
        selection.add(candidate)
        show(len(selection.openings), selection.tried)
        return not selection.is_full

    missing = (number for number in count() if number not in known)
    if not selection.is_full:
        jobs = (CandidateJob(spec, number) for number in missing)
        with closing(Processes(workers).run(judge_candidate, jobs, close_judges)) as candidates:
            all(take(candidate) for candidate in candidates)
    return selection


def _head(spec: OpeningsSpec) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(json.dumps(asdict(spec)))
    del head["positions"]  # candidates do not depend on how many are wanted
    return head


def _read_journal(path: Path, spec: OpeningsSpec) -> tuple[dict[int, Candidate], int]:
    """What is known of candidates, and the bytes of the lines that hold it."""
    known: dict[int, Candidate] = {}
    good = 0
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    for line in lines:
        if good == 0 and json.loads(line) != _head(spec):
            if len(lines) == 1:
                break  # a suite without a candidate, of which nothing would be lost
            raise MatchError(f"{path} belongs to other openings; finish those, or remove the file")
        if good:
            number, fen, moves, scores = json.loads(line)
            known[number] = Candidate(number, fen, tuple(moves), tuple(scores))
        good += len(line)
    return known, good


class _Selection:
    """Candidates in the order of their numbers, each position once, until there are enough."""

    def __init__(self, spec: OpeningsSpec, known: dict[int, Candidate]) -> None:
        self._spec = spec
        self._seen: dict[str, Opening] = {}
        self.known = known
        self.tried = 0
        """Candidates that were needed so far; later ones that are known do not count yet."""
        self._kept = 0
        """Candidates up to the last one that was kept."""
        self._look()

    @property
    def openings(self) -> list[Opening]:
        return list(self._seen.values())

    @property
    def is_full(self) -> bool:
        return len(self._seen) >= self._spec.positions

    def add(self, candidate: Candidate) -> None:
        self.known[candidate.number] = candidate
        self._look()

    def _look(self) -> None:
        while self.tried in self.known and not self.is_full:
            fen = self.known[self.tried].fen
            self.tried += 1
            if fen is not None:
                opening = Opening(fen, f"{self._spec.variant}-{len(self._seen) + 1:03d}")
                if self._seen.setdefault(key_of(opening), opening) is opening:
                    self._kept = self.tried
            if self.tried - self._kept >= ATTEMPTS:
                raise MatchError(
                    f"{len(self._seen)} positions are found, and none of the next {ATTEMPTS} candidates is a "
                    f"new one within {self._spec.bound} centipawns; ask for fewer"
                )


def describe(spec: OpeningsSpec, tried: int) -> list[str]:
    """How openings were made, for the head of their file."""
    low, high = spec.plies
    drawn = "at random" if spec.source == "random" else f"from the policy at temperature {spec.temperature:g}"
    start = "one of the 960 first ranks" if spec.chess960 else "the start of the game"
    judges = "; ".join(f"{judge.name} ({judge.target}, {judge.budget})" for judge in spec.judges)
    return [
        f"{spec.positions} positions of {spec.variant}, made by 'anabranch openings make', seed {spec.seed}.",
        f"{low} to {high} plies from {start}, drawn {drawn}; kept when every judge saw at most",
        f"{spec.bound} centipawns for either side: {judges}.",
        f"Each position once. {tried} candidates were drawn.",
    ]


def with_titles(spec: OpeningsSpec) -> OpeningsSpec:
    """The same description, with the names that the judges report."""
    named = []
    for judge in spec.judges:
        player = make_player(judge, spec.variant, spec.chess960, patience=PATIENCE)
        try:
            player.new_game(0)
        except Fault as fault:
            raise MatchError(f"the judge {judge.name} failed: {fault}") from fault
        finally:
            player.close()
        named.append(replace(judge, name=player.title))
    return replace(spec, judges=tuple(named))


def out_of_balance(
    openings: Iterable[Opening], variant: str, chess960: bool, judges: Sequence[PlayerSpec], bound: int
) -> list[tuple[Opening, str, int]]:
    """The openings that a judge finds out of balance, with its name and score."""
    found = []
    try:
        for opening in openings:
            position = board_of(variant, opening.fen, chess960)
            for judge in judges:
                score = _ask(judge, variant, chess960, position)
                if abs(score) > bound:
                    found.append((opening, judge.name, score))
                    break
    finally:
        close_judges()
    return found
