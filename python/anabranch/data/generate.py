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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.data.folder import DATA, Samples, journal_path
from anabranch.data.jobs import TIMEOUT, GenerateJob
from anabranch.data.shards import find_shards, game_number, notes_of, remove_parts
from anabranch.data.targets import DEFAULT_TEMPERATURE, POLICY_TEMPERATURE, set_targets, weights_of
from anabranch.data.teacher import Judgement, Teacher, TeacherError
from anabranch.data.units import ShardJob


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


@dataclass(frozen=True)
class Generation(ShardJob[GenerateJob]):
    """A job in its folder."""

    def total(self) -> int:
        """All games."""
        return self.job.games

    def missing(self) -> list[int]:
        """The shards that are still to be made, or to be made longer."""
        games: dict[int, int] = {}
        for shard in find_shards(self.folder):
            stored = json.loads(notes_of(shard).get("job", "{}")).get("games", self.job.games)
            games[shard.number] = max(games.get(shard.number, 0), stored)
        return [n for n in range(self.job.shards) if games.get(n, 0) < self.job.numbers(n).stop]

    def units(self, shard: int) -> dict[int, GameUnit]:
        """The games of a shard."""
        return {number: GameUnit(self.job, number) for number in self.job.numbers(shard)}

    def write(self, shard: int, samples: Mapping[int, Samples], teacher: str) -> None:
        """Write a shard."""
        numbers = self.job.numbers(shard)
        self.write_rows(shard, _unique(samples, numbers), teacher)
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


def _upgrade(stored: dict[str, Any]) -> dict[str, Any]:
    """What earlier versions did not store had its default."""
    return asdict(GenerateJob.read(stored)) if "games_per_shard" in stored else stored


GENERATED = replace(DATA, may_differ=lambda place, stored, wanted: place == ("games",), upgrade=_upgrade)


@contextmanager
def open_generation(job: GenerateJob, folder: Path, timeout: float = TIMEOUT) -> Iterator[Generation]:
    """Hold the folder of a job, new or to be continued. More games extend it."""
    job.check()

    def merge(stored: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
        return wanted | {"games": max(job.games, stored.get("games", 0))}

    with GENERATED.open(folder, asdict(job), merge):
        remove_parts(folder)
        yield Generation(job, folder, timeout)
