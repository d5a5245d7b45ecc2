"""Games of a teacher against itself, every position a sample.

A job is a pure function of its spec: game number g of a job has a random source of its own, whoever plays it.
Games begin with random plies from the start of the game and are kept if the teacher finds them playable; some
moves are weaker than the best or random, so that won and lost positions occur; a game that is decided ends
there, but for a share that is played out, so that most positions are undecided and the end is known as well.

Finished games go to a journal at once, finished shards to their folder; what was interrupted goes on there.
Nothing here knows processes: whoever makes a shard, it is the same.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.data.folder import JOB, clear_failed_job
from anabranch.data.shards import find_shards, game_number, notes_of, replace_shard
from anabranch.data.targets import DEFAULT_TEMPERATURE, POLICY_TEMPERATURE, set_targets, weights_of
from anabranch.data.teacher import PATIENCE, Judgement, Teacher, TeacherError
from anabranch.errors import DataError
from anabranch.jobs.journal import Advance, Failures, Samples, fill_journal, journal_path, read_journal

DECIDED = {"chess": 800, "crazyhouse": 1200}
"""Centipawns that decide a game, by variant: in crazyhouse 700 are far from won."""
DEFAULT_DECIDED = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """What to generate. Two equal jobs give the same games with the same teacher."""

    variant: str
    engine: str
    games: int
    nodes: int = 500
    lines: int = 2
    """Moves the teacher scores in each position (MultiPV)."""
    seed: int = 1
    games_per_shard: int = 200
    opening_plies: tuple[int, int] = (2, 10)
    playable: int = 400
    """An opening worse than that for one side, in centipawns, is not played."""
    decided: int | None = None
    """A score that decides a game when it holds for three plies; without one, that of the variant."""
    played_out: float = 0.1
    """Share of games that go on although they are decided."""
    weaker: float = 0.1
    """Share of moves drawn by their scores instead of the best."""
    random_moves: float = 0.03
    """Share of moves drawn from all legal ones."""
    longest: int = 300
    """Plies after which a game is a draw."""
    options: dict[str, str] = field(default_factory=dict)
    """UCI options of the teacher."""

    def __post_init__(self) -> None:
        if self.decided is None:
            object.__setattr__(self, "decided", DECIDED.get(self.variant, DEFAULT_DECIDED))

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Job:
        """The job of a stored document."""
        known = {entry.name for entry in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        return cls(**{**values, "opening_plies": tuple(stored["opening_plies"])})

    def check(self) -> None:
        """Refuse what makes no sense."""
        if self.variant not in _core.variants():
            raise DataError(f"there is no variant {self.variant}")
        for name in ("games", "nodes", "lines", "games_per_shard", "longest"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1")
        for name in ("played_out", "weaker", "random_moves"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} is a share between 0 and 1")
        if self.weaker + self.random_moves > 1.0:
            raise DataError("weaker and random moves together are more than all moves")
        low, high = self.opening_plies
        if not 0 <= low <= high:
            raise DataError("the number of opening plies is a range from 0 or more upwards")
        check_options(self.options)

    @property
    def shards(self) -> int:
        """How many files the job makes."""
        return -(-self.games // self.games_per_shard)

    def numbers(self, shard: int) -> range:
        """The games of a shard."""
        first = shard * self.games_per_shard
        return range(first, min(first + self.games_per_shard, self.games))


def check_options(options: Mapping[str, str]) -> None:
    """Refuse UCI options that would be read as something else."""
    for name, value in options.items():
        if not name.strip() or "\n" in name + value or "\r" in name + value:
            raise DataError(f"the UCI option {name!r} is not one line")


def play_game(job: Job, number: int, teacher: Teacher) -> Samples:
    """The samples of game `number`; none when its opening is not playable."""
    assert job.decided is not None
    source = random.Random(f"{job.seed}/{job.variant}/{number}")
    rules = _core.Session(job.variant, False, {}, False)
    rules.set_position(None, [])
    start = rules.fen()
    moves: list[str] = []
    for _ in range(source.randint(*job.opening_plies)):
        if rules.ending() is not None:
            return []
        moves.append(source.choice(rules.legal_moves()))
        rules.play(moves[-1])
    if rules.ending() is not None:
        return []
    teacher.new_game()
    plays_out = source.random() < job.played_out
    opening = len(moves)
    samples: Samples = []
    decided = 0
    verdict: int | None = None  # for White
    while verdict is None:
        white = len(moves) % 2 == 0
        line = f"fen {start} moves {' '.join(moves)}" if moves else f"fen {start}"
        judgements = teacher.judge(line, job.nodes)
        legal = rules.legal_moves()
        for judgement in judgements:
            if judgement.move not in legal:
                raise TeacherError(f"the engine's move {judgement.move} is illegal in {rules.fen()}")
        score = judgements[0].score
        if len(moves) == opening and abs(score) > job.playable:
            return []
        move = _choose(job, source, judgements, legal)
        samples.append(
            {
                "ply": len(moves),
                "fen": rules.fen(),
                "move": move,
                "moves": [judgement.move for judgement in judgements],
                "scores": [judgement.score for judgement in judgements],
                "score": score,
            }
        )
        decided = decided + 1 if abs(score) >= job.decided else 0
        if decided >= 3 and not plays_out:
            verdict = 1 if (score > 0) == white else -1
            break
        moves.append(move)
        rules.play(move)
        ending = rules.ending()
        if ending is not None:
            verdict = round(ending) if len(moves) % 2 == 0 else -round(ending)
        elif len(moves) - opening >= job.longest:
            verdict = 0
    return _finish(job, start, moves, samples, verdict)


def _choose(job: Job, source: random.Random, judgements: list[Judgement], legal: list[str]) -> str:
    fate = source.random()
    if fate < job.random_moves:
        return source.choice(legal)
    if fate < job.random_moves + job.weaker:
        temperature = 2.0 * POLICY_TEMPERATURE.get(job.variant, DEFAULT_TEMPERATURE)
        weights = weights_of([judgement.score for judgement in judgements], temperature)
        return source.choices(judgements, weights)[0].move
    return judgements[0].move


def _finish(job: Job, start: str, moves: list[str], samples: Samples, verdict: int) -> Samples:
    game = game_number(job.variant, start, moves)
    for sample in samples:
        white = sample["ply"] % 2 == 0
        sample["game"] = game
        sample["result"] = verdict if white else -verdict
        set_targets(job.variant, sample)
    return samples


def hire_teacher(job: Job, patience: float = PATIENCE) -> Teacher:
    """Start the teacher of a job."""
    return Teacher(job.engine, job.variant, {**job.options, "MultiPV": str(job.lines)}, patience)


def make_shard(
    job: Job,
    folder: Path,
    shard: int,
    advance: Advance,
    patience: float = PATIENCE,
    failures: Failures | None = None,
) -> None:
    """Play the games of a shard that its journal does not have yet, then write it."""

    def hire() -> Teacher:
        return hire_teacher(job, patience)

    def play(number: int, teacher: Teacher) -> Samples:
        return play_game(job, number, teacher)

    journal = journal_path(folder, shard)
    numbers = job.numbers(shard)
    done, name = fill_journal(journal, numbers, hire, play, job.engine, advance, failures or Failures())
    if name is None:  # all was in the journal
        with hire() as teacher:
            name = teacher.name
    source = f"{name} nodes={job.nodes} lines={job.lines}"
    rows = [{**row, "source": source} for row in _unique(done, numbers)]
    replace_shard(
        folder, shard, rows, {"variant": job.variant, "teacher": name, "job": json.dumps(asdict(job))}
    )
    if len(numbers) == job.games_per_shard:
        journal.unlink()  # that of a shard that is not full stays: the job may get more games


def _unique(done: dict[int, Samples], numbers: range) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    for number in numbers:
        samples = done.get(number)
        if samples and samples[0]["game"] not in seen:
            seen.add(samples[0]["game"])
            yield from samples


def missing_shards(job: Job, folder: Path) -> list[int]:
    """The numbers of the shards that are still to be made, or to be made longer."""
    games: dict[int, int] = {}
    for shard in find_shards(folder) if folder.is_dir() else []:
        stored = json.loads(notes_of(shard).get("job", "{}"))
        games[shard.number] = max(games.get(shard.number, 0), stored.get("games", job.games))
    return [
        number
        for number in range(job.shards)
        if number not in games or games[number] < job.numbers(number).stop
    ]


def finished_games(job: Job, folder: Path, missing: list[int]) -> int:
    """Games of the job that need not be played."""
    journals = {shard: read_journal(journal_path(folder, shard)) for shard in missing}
    return job.games - sum(
        number not in journals[shard] for shard in missing for number in job.numbers(shard)
    )


def store_job(job: Job, folder: Path) -> None:
    """Write the job beside its shards, or see that the one there is the same. More games extend it; one that
    has come to nothing gives way.
    """
    path = folder / JOB
    if path.exists():
        try:
            if _stored_games(job, path) >= job.games:
                return
        except DataError:
            if not clear_failed_job(folder):
                raise
    elif folder.is_dir() and find_shards(folder):
        raise DataError(f"{folder} holds shards of something else; take another folder")
    store_document(asdict(job), path)


def _stored_games(job: Job, path: Path) -> int:
    """The games of the job in a file, which is the same but for their number."""
    try:
        stored = Job.read(json.loads(path.read_text()))
    except (ValueError, TypeError, KeyError):
        raise DataError(f"{path} does not hold the job of a generation") from None
    if asdict(stored) | {"games": 0} != asdict(job) | {"games": 0}:
        raise DataError(f"{path.parent} holds another job; go on with its options, or take another folder")
    return stored.games


def store_document(document: Mapping[str, Any], path: Path) -> None:
    """Write JSON: beside, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=2) + "\n")
    part.replace(path)


@dataclass(frozen=True, slots=True)
class Generation:
    """The work of a job, for any number of processes."""

    job: Job
    folder: Path
    patience: float = PATIENCE

    def make(self, shard: int, advance: Advance, failures: Failures) -> None:
        """Make a shard."""
        make_shard(self.job, self.folder, shard, advance, self.patience, failures)


__all__ = ["Generation", "Job", "make_shard", "missing_shards", "play_game", "store_job"]
