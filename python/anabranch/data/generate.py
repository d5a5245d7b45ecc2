"""Games of a teacher against itself, every position a sample.

A job is a pure function of its spec: game number g of a job has a random source of its own, whoever plays it.
Games begin with random plies from the start of the game and are kept if the teacher finds them playable; some
moves are weaker than the best or random, so that won and lost positions occur; a game that is decided ends
there, but for a share that is played out, so that most positions are undecided and the end is known as well.

Finished games go to a journal at once, finished shards to their folder; what was interrupted goes on there.
How games are given to workers is in `anabranch.data.units`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.data.folder import DATA, JOURNAL, Samples, journal_path
from anabranch.data.shards import find_shards, game_number, notes_of, remove_parts
from anabranch.data.targets import DEFAULT_TEMPERATURE, POLICY_TEMPERATURE, set_targets, weights_of
from anabranch.data.teacher import PATIENCE, Judgement, Teacher, TeacherError, TeacherSpec
from anabranch.data.units import check_teacher_job, teacher_of, write_samples
from anabranch.errors import DataError

DECIDED = {"chess": 800, "crazyhouse": 1200}
"""Centipawns that decide a game, by variant: in crazyhouse 700 are far from won."""
DEFAULT_DECIDED = 1000


@dataclass(frozen=True, slots=True)
class GenerateJob:
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
    def read(cls, stored: Mapping[str, Any]) -> GenerateJob:
        """The job of a stored document."""
        known = {entry.name for entry in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        return cls(**{**values, "opening_plies": tuple(stored["opening_plies"])})

    def check(self) -> None:
        """Refuse what makes no sense."""
        check_teacher_job(self, "games", "games_per_shard", "longest")
        for name in ("played_out", "weaker", "random_moves"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name} is a share between 0 and 1")
        if self.weaker + self.random_moves > 1.0:
            raise DataError("weaker and random moves together are more than all moves")
        low, high = self.opening_plies
        if not 0 <= low <= high:
            raise DataError("the number of opening plies is a range from 0 or more upwards")

    @property
    def shards(self) -> int:
        """How many files the job makes."""
        return -(-self.games // self.games_per_shard)

    def numbers(self, shard: int) -> range:
        """The games of a shard."""
        first = shard * self.games_per_shard
        return range(first, min(first + self.games_per_shard, self.games))


def play_game(job: GenerateJob, number: int, teacher: Teacher) -> Samples:
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


def _choose(job: GenerateJob, source: random.Random, judgements: list[Judgement], legal: list[str]) -> str:
    fate = source.random()
    if fate < job.random_moves:
        return source.choice(legal)
    if fate < job.random_moves + job.weaker:
        temperature = 2.0 * POLICY_TEMPERATURE.get(job.variant, DEFAULT_TEMPERATURE)
        weights = weights_of([judgement.score for judgement in judgements], temperature)
        return source.choices(judgements, weights)[0].move
    return judgements[0].move


def _finish(job: GenerateJob, start: str, moves: list[str], samples: Samples, verdict: int) -> Samples:
    game = game_number(job.variant, start, moves)
    for sample in samples:
        white = sample["ply"] % 2 == 0
        sample["game"] = game
        sample["result"] = verdict if white else -verdict
        set_targets(job.variant, sample)
    return samples


@dataclass(frozen=True, slots=True)
class GameUnit:
    """A game to be played."""

    job: GenerateJob
    number: int

    def make(self, teacher: Teacher) -> Samples:
        """Play it."""
        return play_game(self.job, self.number, teacher)


@dataclass(frozen=True, slots=True)
class Generation:
    """A job in its folder."""

    job: GenerateJob
    folder: Path
    patience: float = PATIENCE
    portion: int = 1

    @property
    def teacher(self) -> TeacherSpec:
        """The teacher of the job."""
        return teacher_of(self.job, self.patience)

    def units(self, shard: int) -> dict[int, GameUnit]:
        """The games of a shard."""
        return {number: GameUnit(self.job, number) for number in self.job.numbers(shard)}

    def write(self, shard: int, samples: Mapping[int, Samples], teacher: str) -> None:
        """Write a shard."""
        numbers = self.job.numbers(shard)
        write_samples(self.job, self.folder, shard, _unique(samples, numbers), teacher)
        if len(numbers) == self.job.games_per_shard:
            journal_path(self.folder, shard).unlink(missing_ok=True)
        # The journal of a shard that is not full stays: the job may get more games.


def _unique(done: Mapping[int, Samples], numbers: range) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    for number in numbers:
        samples = done.get(number)
        if samples and samples[0]["game"] not in seen:
            seen.add(samples[0]["game"])
            yield from samples


def missing_shards(job: GenerateJob, folder: Path) -> list[int]:
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


def finished_games(job: GenerateJob, folder: Path, missing: list[int]) -> int:
    """Games of the job that need not be played."""
    journals = {shard: JOURNAL.read(journal_path(folder, shard)) for shard in missing}
    return job.games - sum(
        number not in journals[shard] for shard in missing for number in job.numbers(shard)
    )


def _upgrade(stored: dict[str, Any]) -> dict[str, Any]:
    """What earlier versions did not store had its default."""
    return asdict(GenerateJob.read(stored)) if "games_per_shard" in stored else stored


GENERATED = replace(DATA, may_differ=lambda place, stored, wanted: place == ("games",), upgrade=_upgrade)


@contextmanager
def open_generation(job: GenerateJob, folder: Path, patience: float = PATIENCE) -> Iterator[Generation]:
    """Hold the folder of a job, new or to be continued. More games extend it."""
    job.check()

    def merge(stored: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
        return wanted | {"games": max(job.games, stored.get("games", 0))}

    with GENERATED.open(folder, asdict(job), merge):
        remove_parts(folder)
        yield Generation(job, folder, patience)


__all__ = ["GenerateJob", "Generation", "missing_shards", "open_generation", "play_game"]
