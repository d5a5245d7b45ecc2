"""The loop: play, learn, judge, again.

What is done stands in the journal of the folder, and everything else is a function of plan and journal. So a
run that was killed goes on where it was, and ends with the same networks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anabranch.catalogue import is_grid
from anabranch.errors import SelfPlayError
from anabranch.evaluators.open import DEFAULT_RUNTIME, split_runtime
from anabranch.evaluators.resolve import display_name, network_file
from anabranch.jobs.executor import Executor, cores
from anabranch.jobs.files import checksum
from anabranch.match.player import PlayerSpec
from anabranch.match.runner import check_any_player
from anabranch.match.statistics import Sprt
from anabranch.named_games import is_reference
from anabranch.networks import is_network_path
from anabranch.optional import require
from anabranch.selfplay.folder import DOCUMENT, RunFolder, StepKey, open_run, read_run
from anabranch.selfplay.judge import PROGRAM, MatchVerdict, match_spec, play_match, player_of
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.play import PlayDone, PlayJob, jobs_of, play_games
from anabranch.selfplay.records import PlaySamples
from anabranch.selfplay.rows_records import check_rows
from anabranch.selfplay.schedule import window_at
from anabranch.selfplay.search import open_evaluator
from anabranch.selfplay.window import newest

FIRST = "first"
"""The outsider that is the network that the run began with, or that of the first generation."""
RUN: StepKey = ("begin", 0, "")
"""What a run began with."""
GAMES: StepKey = ("begin", 0, "games")
"""What games began with that nothing is learned from here."""
KEPT = 2
"""Generations whose weights are kept to go on from; networks are kept of all."""
OnSentence = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Limit:
    """When a run ends."""

    minutes: float | None = None
    """Of work in this folder, earlier calls included."""
    generations: int | None = None

    def check(self) -> None:
        """Refuse a run without an end, and numbers that make no sense."""
        if self.minutes is None and self.generations is None:
            raise SelfPlayError("a run needs an end: minutes or generations")
        if self.minutes is not None and not self.minutes > 0.0:
            raise SelfPlayError(f"minutes must be above 0, not {self.minutes}")
        if self.generations is not None and self.generations < 1:
            raise SelfPlayError(f"generations must be at least 1, not {self.generations}")


def nothing_of(game: str) -> str:
    """What plays the first games of a run from nothing: random playouts, in chess counted material.

    >>> nothing_of("hex:size=7"), nothing_of("crazyhouse")
    ('rollout', 'material')
    """
    return "rollout" if is_grid(game) else "material"


class _Over(Exception):  # noqa: N818 - the time is over, which is no error
    """The time is over."""


def run(path: Path, plan: LoopPlan, limit: Limit, executor: Executor, notify: OnSentence) -> RunFolder:
    """Begin or continue a run until a limit is met; its folder as it is then."""
    limit.check()
    plan.check()
    if is_reference(plan.game):
        check_rows(plan.game)
    require("torch", "train")
    with open_run(path, plan) as folder:
        loop = _Loop(folder, limit, executor, notify)
        try:
            loop.run()
        except _Over:
            notify(f"the time is over: {loop.elapsed / 60.0:.1f} minutes")
        finally:
            loop.keep_time()
        return folder


def play_only(
    path: Path, plan: LoopPlan, evaluator: str, executor: Executor, notify: OnSentence
) -> RunFolder:
    """Play the games of one generation with an evaluator, and learn nothing."""
    plan.check()
    with open_run(path, plan) as folder:
        loop = _Loop(folder, Limit(generations=1), executor, notify)
        loop.begin_games(evaluator)
        loop.play(0, evaluator)
        return folder


def player_of_games(path: Path) -> str | None:
    """What plays in a folder that `play_only` began; none where there is no such folder."""
    if not (path / DOCUMENT).exists():
        return None
    record = read_run(path).records("begin").get(GAMES)
    return None if record is None else str(record["evaluator"])


class _Loop:
    def __init__(self, folder: RunFolder, limit: Limit, executor: Executor, notify: OnSentence) -> None:
        self._folder = folder
        self._plan = folder.plan
        self._limit = limit
        self._executor = executor
        self._notify = notify
        self._before = folder.elapsed
        self._begun = time.monotonic()
        self._positions: dict[int, PlaySamples] = {}
        self._shards: tuple[str, ...] = ()

    def run(self) -> None:
        """Generation after generation."""
        self._shards = self._begin()
        generation = 0
        while self._limit.generations is None or generation < self._limit.generations:
            self.play(generation, self._evaluator(generation))
            self._learn(generation)
            self._judge(generation)
            generation += 1

    def begin_games(self, evaluator: str) -> None:
        """Note what plays the games of a folder where nothing is learned, or check that it is the same."""
        stored, path = self._folder.records("begin"), self._folder.path
        if RUN in stored:
            raise SelfPlayError(f"{path} is a run of 'selfplay run'; give another folder")
        open_evaluator(evaluator, self._plan.game)
        file = network_file(evaluator, self._plan.game)
        found = evaluator if file is None else checksum(file)
        runtime, rest = split_runtime(evaluator)
        if runtime not in (None, DEFAULT_RUNTIME):  # its numbers differ
            found = f"{runtime}:{found}"
        if GAMES not in stored:
            name = str(Path(rest).resolve()) if is_network_path(rest) else rest
            name = name if runtime is None else f"{runtime}:{name}"
            self._add(*GAMES, {"evaluator": name, "identity": found})
        elif stored[GAMES]["identity"] != found:
            raise SelfPlayError(
                f"the games of {path} are played by {stored[GAMES]['evaluator']}, and {evaluator} is another "
                "evaluator or has changed since"
            )

    def _begin(self) -> tuple[str, ...]:
        """Note what the run is made of besides its plan, or check that it is still there; its shards."""
        plan, stored = self._plan, self._folder.records("begin")
        if GAMES in stored:
            raise SelfPlayError(f"{self._folder.path} has games of 'selfplay play'; give another folder")
        initial = None if plan.initial is None else network_file(plan.initial, plan.game)
        if plan.initial is not None and initial is None:
            raise SelfPlayError(f"a run can begin from a network, not from {plan.initial}")
        found = None if initial is None else checksum(initial)
        if not stored:
            for outsider in plan.outsiders:
                if outsider != FIRST:
                    check_any_player(player_of("outsider", outsider, 1, plan.simulations), plan.game)
            shards = self._list_shards()
            self._add(*RUN, {"initial": found, "shards": shards, "outsiders": self._outsiders()})
            return tuple(shards)
        record = stored[RUN]
        if record["initial"] != found:
            raise SelfPlayError(f"the network {plan.initial} is not the one that the run began with")
        outsiders = self._outsiders()
        for name, known in record.get("outsiders", {}).items():
            if outsiders[name] != known:
                raise SelfPlayError(f"the outsider {name} is not the network that the run began with")
        return tuple(record["shards"])

    def _outsiders(self) -> dict[str, str]:
        """The checksums of the outsiders that are files."""
        names = [name for name in self._plan.outsiders if name != FIRST and not name.startswith(PROGRAM)]
        files = {name: network_file(name, self._plan.game) for name in names}
        return {name: checksum(file) for name, file in files.items() if file is not None}

    def _list_shards(self) -> list[str]:
        if not self._plan.data:
            return []
        require("pyarrow", "data")
        from anabranch.data.shards import list_shards

        shards = [str(shard.path.resolve()) for shard in list_shards(map(Path, self._plan.data))]
        if not shards:
            raise SelfPlayError(f"there is no shard in {', '.join(self._plan.data)}")
        return shards

    def play(self, generation: int, evaluator: str) -> None:
        """Play the games of a generation that are not played yet."""
        done = {int(key[2]) for key in self._folder.records("play", generation)}
        missing = [job for job in jobs_of(self._plan, evaluator, generation) if job.number not in done]
        if not missing:
            return

        def jobs() -> Iterator[PlayJob]:
            for job in missing:
                if self._is_over():
                    return
                yield job

        with closing(self._executor.run(play_games, jobs())) as results:
            for result in results:
                file = self._folder.positions_file(generation, result.number)
                file.parent.mkdir(parents=True, exist_ok=True)
                result.samples.write(file)
                self._add("play", generation, str(result.number), _play_record(result))
        if len(self._folder.records("play", generation)) < len(jobs_of(self._plan, evaluator, generation)):
            raise _Over
        rows = self._folder.records("play", generation).values()
        games, positions = (sum(row[name] for row in rows) for name in ("games", "positions"))
        name = self._short_name(evaluator)
        self._notify(f"generation {generation}: {games:,} games with {name}, {positions:,} positions")

    def _evaluator(self, generation: int) -> str:
        """What plays the games of a generation: the best network of those before."""
        gates = self._folder.records("gate")
        passed = [key[1] for key, record in gates.items() if record["passed"] and key[1] < generation]
        if passed:
            return str(self._folder.network_file(max(passed)).resolve())
        return self._plan.initial or nothing_of(self._plan.game)

    def _learn(self, generation: int) -> None:
        if self._folder.records("learn", generation):
            return
        self._stop_if_over()
        from anabranch.selfplay.learn import WEIGHTS, learn

        window = self._window(generation)
        before = self._folder.network_folder(generation - 1) / WEIGHTS if generation else None
        new = self._folder.positions(generation)
        folder = self._folder.network_folder(generation)
        learned = learn(self._plan, generation, window, new, before, folder, cores(), self._shards)
        record = {**asdict(learned), "network": checksum(self._folder.network_file(generation))}
        self._add("learn", generation, "", record)
        self._notify(
            f"generation {generation}: learned {learned.steps:,} steps on {learned.unique:,} of "
            f"{learned.positions:,} positions, policy {learned.policy_loss:.4f} "
            f"({learned.policy_gap:.4f} above its targets), value {learned.value_loss:.4f}"
        )
        if generation >= KEPT:
            (self._folder.network_folder(generation - KEPT) / WEIGHTS).unlink(missing_ok=True)

    def _window(self, generation: int) -> PlaySamples:
        """The newest positions; only the generations that have them are read."""
        counts = [self._folder.positions(number) for number in range(generation + 1)]
        size = window_at(self._plan, sum(counts))
        oldest = generation
        while oldest > 0 and sum(counts[oldest:]) < size:
            oldest -= 1
        used = range(oldest, generation + 1)
        kept = {number: self._positions.get(number) for number in used}
        self._positions = {
            number: self._folder.samples(number) if samples is None else samples
            for number, samples in kept.items()
        }
        return newest(list(self._positions.values()), size)

    def _judge(self, generation: int) -> None:
        """The gate, then the outsiders."""
        plan, network = self._plan, str(self._folder.network_file(generation).resolve())
        if not self._folder.records("gate", generation):
            self._add("gate", generation, "", self._gate(generation, network))
        for number, outsider in enumerate(plan.outsiders):
            if plan.outsider_pairs == 0 or ("outsider", generation, outsider) in self._folder.journal.records:
                continue
            if outsider == FIRST and generation == 0 and plan.initial is None:
                continue
            self._stop_if_over()
            player, budget = outsider, round(plan.gate_evaluations * plan.outsider_factor)
            if outsider == FIRST:
                player, budget = self._first(), plan.gate_evaluations
            verdict = self._match(generation, outsider, (network, player, budget), 1000 + number)
            self._add("outsider", generation, outsider, asdict(verdict))
            self._notify(f"generation {generation}: against {outsider} {verdict}")

    def _first(self) -> str:
        return self._plan.initial or str(self._folder.network_file(0).resolve())

    def _gate(self, generation: int, network: str) -> dict[str, Any]:
        plan, best = self._plan, self._evaluator(generation)
        if not plan.gate or (plan.initial is None and best == nothing_of(plan.game)):
            return {"passed": True, "against": None}
        test = Sprt(-plan.gate_elo, 0.0)
        verdict = self._match(generation, "gate", (network, best, plan.gate_evaluations), generation, test)
        against = self._short_name(best)
        word = "passed" if verdict.passed else "failed"
        self._notify(f"generation {generation}: {word} its gate against {against}, {verdict}")
        return {**asdict(verdict), "against": against}

    def _match(
        self, generation: int, name: str, meeting: tuple[str, str, int], tag: int, test: Sprt | None = None
    ) -> MatchVerdict:
        """A match of a network against another evaluator with so many evaluations."""
        plan, (network, other, evaluations) = self._plan, meeting
        players: tuple[PlayerSpec, PlayerSpec] = (
            player_of("new", network, plan.gate_evaluations, plan.simulations),
            player_of("other", other, evaluations, plan.simulations),
        )
        pairs = plan.outsider_pairs if test is None else plan.gate_pairs
        spec = match_spec(plan, players, pairs, tag, test)
        folder = self._folder.match_folder(generation, name)
        return play_match(self._executor, spec, folder, self._stop_if_over)

    def _add(self, what: str, generation: int, number: str, record: dict[str, Any]) -> None:
        key = (what, generation, number)
        self._folder.journal.add(key, {**record, "elapsed": round(self.elapsed, 2)})

    @property
    def elapsed(self) -> float:
        """Seconds at work, earlier calls included."""
        return self._before + time.monotonic() - self._begun

    def keep_time(self) -> None:
        """Note the time since the last record, which an unfinished match would lose."""
        if RUN in self._folder.journal.records and self.elapsed - self._folder.elapsed >= 1.0:
            self._add("time", 0, str(len(self._folder.records("time"))), {})

    def _short_name(self, evaluator: str) -> str:
        """The generation of a network of the run; any other evaluator as it was named."""
        path = Path(evaluator)
        return path.parent.name if self._folder.path in path.parents else display_name(evaluator)

    def _is_over(self) -> bool:
        minutes = self._limit.minutes
        return minutes is not None and self.elapsed >= 60.0 * minutes

    def _stop_if_over(self) -> None:
        if self._is_over():
            raise _Over


def _play_record(done: PlayDone) -> dict[str, Any]:
    return {
        "games": len(done.lengths),
        "positions": len(done.samples),
        "plies": sum(done.lengths),
        "results": [sum(1 for result in done.results if result == kind) for kind in (1.0, 0.0, -1.0)],
        "proven": done.proven,
        "evaluations": done.evaluations,
        "seconds": round(done.seconds, 3),
    }
