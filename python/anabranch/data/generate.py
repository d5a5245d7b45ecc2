"""Games of a teacher against itself, every position a sample.

A job is a pure function of its spec: game number g of a job has a random source of its own, whoever plays it. Games
begin with random plies from the start of the game and are kept if the teacher finds them playable; some moves are
weaker than the best or random, so that won and lost positions occur; a game that is decided ends there, but for a
share that is played out, so that most positions are undecided and the end of the game is known as well.

Finished games go to a journal at once, finished shards to their folder; what was interrupted goes on there.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.data.shards import find_shards, write_shard
from anabranch.data.targets import (
    DEFAULT_SCALE,
    DEFAULT_TEMPERATURE,
    POLICY_TEMPERATURE,
    VALUE_SCALE,
    value_of,
    weights_of,
)
from anabranch.data.teacher import MATE, Judgement, Teacher, TeacherError
from anabranch.errors import DataError


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
    decided: int = 700
    """A score that decides a game when it holds for three plies."""
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

    @property
    def shards(self) -> int:
        """How many files the job makes."""
        return -(-self.games // self.games_per_shard)


def play_game(job: Job, number: int, teacher: Teacher) -> list[dict[str, Any]]:
    """The samples of game `number`; none when its opening is not playable."""
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
    samples: list[dict[str, Any]] = []
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


def _finish(
    job: Job, start: str, moves: list[str], samples: list[dict[str, Any]], verdict: int
) -> list[dict[str, Any]]:
    digest = hashlib.sha256(f"{job.variant} {start} {' '.join(moves)}".encode()).digest()
    game = int.from_bytes(digest[:8], "little")
    scale = VALUE_SCALE.get(job.variant, DEFAULT_SCALE)
    temperature = POLICY_TEMPERATURE.get(job.variant, DEFAULT_TEMPERATURE)
    for sample in samples:
        white = sample["ply"] % 2 == 0
        sample["game"] = game
        sample["result"] = verdict if white else -verdict
        sample["weights"] = weights_of(sample["scores"], temperature)
        sample["value"] = value_of(sample["score"], scale)
    return samples


def make_shard(job: Job, folder: Path, shard: int, advance: Callable[[int, int], object]) -> None:
    """Play the games of a shard that its journal does not have yet, then write it. `advance` hears of every game:
    its samples, and 1 if it was dropped because the teacher failed.
    """
    first = shard * job.games_per_shard
    numbers = range(first, min(first + job.games_per_shard, job.games))
    journal = folder / f".{shard:06d}.journal"
    done = _read_journal(journal)
    teacher: Teacher | None = None
    name = ""
    try:
        with journal.open("a", encoding="utf-8") as file:
            for number in numbers:
                if number in done:
                    continue
                samples: list[dict[str, Any]] = []
                failed = 0
                try:
                    if teacher is None:
                        teacher = Teacher(job.engine, job.variant, {**job.options, "MultiPV": str(job.lines)})
                        name = teacher.name
                    samples = play_game(job, number, teacher)
                except TeacherError:
                    failed = 1
                    if teacher is not None:
                        teacher.close()
                    teacher = None
                done[number] = samples
                file.write(json.dumps([number, samples], separators=(",", ":")) + "\n")
                file.flush()
                advance(len(samples), failed)
    finally:
        if teacher is not None:
            teacher.close()
    source = f"{name or job.engine} nodes={job.nodes} lines={job.lines}"
    rows = list(_unique(done, numbers))
    for row in rows:
        row["source"] = source
    notes = {"variant": job.variant, "teacher": name or job.engine, "job": json.dumps(asdict(job))}
    write_shard(folder, shard, rows, notes)
    journal.unlink()


def _unique(done: dict[int, list[dict[str, Any]]], numbers: range) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    for number in numbers:
        samples = done.get(number)
        if samples and samples[0]["game"] not in seen:
            seen.add(samples[0]["game"])
            yield from samples


def _read_journal(path: Path) -> dict[int, list[dict[str, Any]]]:
    """The games of a journal; a last line that was cut short does not count and is cut off."""
    done: dict[int, list[dict[str, Any]]] = {}
    if not path.exists():
        return done
    good = 0
    with path.open("rb") as file:
        for line in file:
            try:
                number, samples = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            done[number] = samples
            good += len(line)
    os.truncate(path, good)
    return done


def missing_shards(job: Job, folder: Path) -> list[int]:
    """The numbers of the shards that are still to be made."""
    have = {shard.number for shard in find_shards(folder)} if folder.is_dir() else set()
    return [number for number in range(job.shards) if number not in have]


def store_job(job: Job, folder: Path) -> None:
    """Write the job beside its shards, or see that the one there is the same."""
    path = folder / "job.json"
    text = json.dumps(asdict(job), indent=2)
    if path.exists():
        have = {**json.loads(path.read_text()), "games": job.games}
        if have != json.loads(text):
            raise DataError(f"{folder} holds another job; go on with its options, or take another folder")
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text + "\n")
    part.replace(path)


__all__ = ["MATE", "Job", "make_shard", "missing_shards", "play_game", "store_job"]
