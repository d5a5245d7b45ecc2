"""Balanced openings: plies drawn at random or from the network's policy, kept when all judges find the
position balanced, each position once.

Candidate number n has a random source of its own, and judges forget between candidates. So the result is a
pure function of the description, whatever the number of workers and of interruptions. Judges are players as
in a match.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal, NamedTuple

import chess

from anabranch.errors import MatchError
from anabranch.jobs.executor import Executor, Processes
from anabranch.jobs.folder import locked
from anabranch.jobs.journal import JournalFormat
from anabranch.jobs.progress import OnProgress, no_progress
from anabranch.match.openings import Opening, board_of, key_of, rules_of, write_openings
from anabranch.match.player import Fault, MoveLimits, PlayerSpec
from anabranch.match.players import close_players, keep_player, make_player
from anabranch.networks.shipped import bundled_network

Source = Literal["random", "policy"]
TIMEOUT = 30.0
HERE = Processes(0)
ATTEMPTS = 1000
"""Candidates in a row of which none is kept, after which it is given up."""


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """The description of openings to be made. Equal descriptions give equal positions."""

    variant: str
    positions: int = 500
    """How many."""
    judges: tuple[PlayerSpec, ...] = ()
    source: Source = "policy"
    """Plies are drawn at 'random' or from the network's 'policy'."""
    temperature: float = 1.5
    """Of the policy; above 1 is flatter."""
    plies: tuple[int, int] = (4, 8)
    """Plies from the start of the game."""
    bound: int = 130
    """The most centipawns of a judge for either side."""
    chess960: bool = False
    """Whether games begin from one of the 960 first ranks."""
    seed: int = 1
    """Of all random choices."""

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


def judge_candidate(job: CandidateJob) -> Candidate:
    """Draw a candidate and let the judges score it, until one finds it out of balance."""
    spec, number = job
    board = draw(spec, number)
    moves = tuple(move.uci() for move in board.move_stack)
    if board.is_game_over():
        return Candidate(number, None, moves, ())
    position = board.copy(stack=False)
    scores = judge_position(position, spec.judges, spec.variant, spec.chess960, spec.bound)
    is_kept = abs(scores[-1]) <= spec.bound
    return Candidate(number, position.fen() if is_kept else None, moves, scores)


def judge_position(
    position: chess.Board, judges: Iterable[PlayerSpec], variant: str, chess960: bool, bound: int
) -> tuple[int, ...]:
    """The scores of the judges, up to the first that is out of bounds."""
    scores: list[int] = []
    for judge in judges:
        scores.append(_score(judge, variant, chess960, position))
        if abs(scores[-1]) > bound:
            break
    return tuple(scores)


def _score(judge: PlayerSpec, variant: str, chess960: bool, position: chess.Board) -> int:
    player = keep_player(judge, variant, chess960, timeout=TIMEOUT)
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
    executor: Executor = HERE,
    on_progress: OnProgress = no_progress,
) -> tuple[list[Opening], int]:
    """Make openings and write them; returns them with the number of candidates.

    Candidates that were judged are kept in a journal beside the file, so that the same call continues after
    an interruption.
    """
    if path.suffix.lower() not in (".epd", ".fen", ".txt", ".pgn"):
        raise MatchError(f"openings are written as .epd, .fen or .pgn, not as {path.suffix or 'that'}")
    if spec.source == "policy":
        bundled_network(spec.variant)
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = path.with_name(f".{path.name}.journal")
    lock = path.with_name(f".{path.name}.lock")
    with locked(lock):
        try:
            selection = _select(spec, journal, executor, on_progress)
            write_openings(
                path, selection.openings, spec.variant, spec.chess960, describe(spec, selection.tried)
            )
        except Exception:
            if len(JOURNAL.read(journal)) < 2:  # no candidate that would be lost
                journal.unlink(missing_ok=True)
                lock.unlink()
            raise
    journal.unlink()
    lock.unlink(missing_ok=True)
    return selection.openings, selection.tried


def _select(spec: OpeningsSpec, path: Path, executor: Executor, on_progress: OnProgress) -> _Selection:
    """Judge candidates until there are enough."""
    head: dict[str, Any] = json.loads(json.dumps(asdict(spec)))
    del head["positions"]  # candidates do not depend on how many are wanted
    stored = JOURNAL.read(path)
    if stored.get(HEAD, head) != head:
        if len(stored) > 1:
            raise MatchError(f"{path} belongs to other openings; finish those, or remove the file")
        path.unlink()
    with JOURNAL.open(path) as journal:
        journal.add(HEAD, head)
        known = {one.number: one for one in journal.records.values() if isinstance(one, Candidate)}
        selection = _Selection(spec, known)

        def report() -> None:
            on_progress(len(selection.openings), spec.positions, f"{selection.tried:,} candidates")

        report()
        jobs = (CandidateJob(spec, number) for number in count() if number not in known)
        with closing(executor.run(judge_candidate, jobs, close_players)) as candidates:
            while not selection.is_full:
                candidate = next(candidates)
                journal.add(candidate.number, candidate)
                selection.add(candidate)
                report()
    return selection


HEAD = -1
"""The key of the description in a journal of candidates."""


def _parse(line: Any) -> tuple[int, Candidate | dict[str, Any]]:
    if isinstance(line, dict):
        return HEAD, line
    number, fen, moves, scores = line
    return number, Candidate(number, fen, tuple(moves), tuple(scores))


JOURNAL = JournalFormat("a candidate", _parse, lambda key, record: record, MatchError)


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
        self._advance()

    @property
    def openings(self) -> list[Opening]:
        return list(self._seen.values())

    @property
    def is_full(self) -> bool:
        return len(self._seen) >= self._spec.positions

    def add(self, candidate: Candidate) -> None:
        self.known[candidate.number] = candidate
        self._advance()

    def _advance(self) -> None:
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
        player = make_player(judge, spec.variant, spec.chess960, timeout=TIMEOUT)
        try:
            player.new_game(0)
        except Fault as fault:
            raise MatchError(f"the judge {judge.name} failed: {fault}") from fault
        finally:
            player.close()
        named.append(replace(judge, name=player.title))
    return replace(spec, judges=tuple(named))


class CheckJob(NamedTuple):
    """An opening to be judged."""

    number: int
    opening: Opening
    variant: str
    chess960: bool
    judges: tuple[PlayerSpec, ...]
    bound: int


def check_opening(job: CheckJob) -> tuple[CheckJob, str, int]:
    """The last judge that scored an opening, and its score: one that is out of bounds, if there is any."""
    position = board_of(job.variant, job.opening.fen, job.chess960)
    scores = judge_position(position, job.judges, job.variant, job.chess960, job.bound)
    return job, job.judges[len(scores) - 1].name, scores[-1]


def out_of_balance(
    openings: Iterable[Opening],
    variant: str,
    chess960: bool,
    judges: Sequence[PlayerSpec],
    bound: int,
    executor: Executor = HERE,
) -> list[tuple[Opening, str, int]]:
    """The openings that a judge finds out of balance, with its name and score."""
    jobs = [
        CheckJob(number, opening, variant, chess960, tuple(judges), bound)
        for number, opening in enumerate(openings)
    ]
    with closing(executor.run(check_opening, jobs, close_players)) as results:
        found = sorted(results, key=lambda result: result[0].number)
    return [(job.opening, judge, score) for job, judge, score in found if abs(score) > bound]
