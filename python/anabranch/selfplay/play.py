"""Games of self-play: a number of them is a job, whose result depends on the job alone.

A game begins with moves that are drawn without a search. Some positions get a full search and are recorded,
the others a cheap one. A position that the search solves ends the game with its exact result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anabranch.catalogue import is_grid
from anabranch.named_games import is_reference
from anabranch.networks.grid import inputs_of
from anabranch.selfplay.chess_records import ChessWriter
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import GridWriter, PlaySamples, SampleWriter
from anabranch.selfplay.rows_records import RowsWriter, game_of_rows
from anabranch.selfplay.schedule import cheap_evaluations_at, evaluations_at
from anabranch.selfplay.search import GameSearch
from anabranch.selfplay.targets import Floats, policy_target, root_statistics, surprise_of

PER_JOB = 16
"""Games of a job."""
LATE = 0.25
"""Share of the temperature after the first plies."""
MOVES = {"chess": 35, "crazyhouse": 70}
"""Legal moves of an average position, where the policy does not tell."""


class PlayJob(NamedTuple):
    """Some games of a generation."""

    plan: LoopPlan
    evaluator: str
    """What plays: a name or the path of a network."""
    generation: int
    number: int
    """Of the job in its generation."""
    games: int
    """How many."""


@dataclass(frozen=True, slots=True)
class PlayDone:
    """What came of a job."""

    number: int
    samples: PlaySamples
    lengths: tuple[int, ...]
    """Plies of the games."""
    results: tuple[float, ...]
    """For the first player."""
    proven: int
    """Games that ended with a proof."""
    evaluations: int
    seconds: float
    """Processor time."""


def jobs_of(plan: LoopPlan, evaluator: str, generation: int) -> list[PlayJob]:
    """The jobs of a generation."""
    begins = range(0, plan.games, PER_JOB)
    return [
        PlayJob(plan, evaluator, generation, number, min(PER_JOB, plan.games - begin))
        for number, begin in enumerate(begins)
    ]


def play_games(job: PlayJob) -> PlayDone:
    """Play the games of a job."""
    begun = time.process_time()
    writer = writer_of(job.plan.game)
    lengths, results, proven, evaluations = [], [], 0, 0
    for number in range(job.games):
        source = np.random.default_rng([job.plan.seed, job.generation, job.number, number])
        ended = _play(job, source, writer)
        writer.end_game(ended.result)
        lengths.append(ended.plies)
        results.append(ended.result)
        proven += ended.is_proven
        evaluations += ended.evaluations
    seconds = time.process_time() - begun
    return PlayDone(
        job.number, writer.samples(), tuple(lengths), tuple(results), proven, evaluations, seconds
    )


class _Ended(NamedTuple):
    result: float
    plies: int
    is_proven: bool
    evaluations: int


def _play(job: PlayJob, source: np.random.Generator, writer: SampleWriter) -> _Ended:
    plan, generation = job.plan, job.generation
    full, cheap = evaluations_at(plan, generation), cheap_evaluations_at(plan, generation)
    game = GameSearch(
        plan.game,
        job.evaluator,
        seed=int(source.integers(2**62)),
        backup=plan.backup,
        c_init=plan.c_init,
        dirichlet_alpha=plan.alpha * 10.0 / usual_moves(plan.game),
    )
    session = game.session
    random_plies = int(source.integers(plan.random_plies + 1))
    plies = play_opening(game, random_plies, plan.opening, source)
    while (ending := session.ending()) is None and plies < plan.longest:
        is_full = bool(source.random() < plan.full_share)
        budget = full if is_full else cheap
        noise = plan.noise if is_full else 0.0
        report = game.search(budget, round(plan.simulations * budget), noise)
        solved = report["solved"] is not None
        if is_full or (solved and plan.proofs):
            root = game.statistics(report)
            policy = policy_target(root, plan.target, budget, plan.proofs)
            exact = plan.proofs and root.solved is not None
            value = root.solved if exact and root.solved is not None else root.value
            moves = writer.names(session, [row["move"] for row in report["moves"]])
            writer.add(session.fen(), moves, policy, value, exact, surprise_of(policy, root.prior))
        else:
            root = root_statistics(report)
            policy = policy_target(root, plan.target, cheap, plan.proofs)
        if solved and plan.proofs and root.solved is not None:
            for text, worth in game.proven(plan.harvest):
                writer.add_exact(text, worth)
            first = root.solved if session.player() == 0 else -root.solved
            return _Ended(first, plies, True, game.evaluations)
        temperature = plan.temperature * (1.0 if plies < plan.temperature_plies else LATE)
        session.play(report["moves"][draw_move(policy, temperature, source)]["move"])
        plies += 1
    result = 0.0 if ending is None else ending if session.player() == 0 else -ending
    return _Ended(result, plies, False, game.evaluations)


def writer_of(game: str) -> SampleWriter:
    """What collects the positions of a game."""
    if is_reference(game):
        return RowsWriter(game_of_rows(game))
    return GridWriter(inputs_of(game)) if is_grid(game) else ChessWriter()


def usual_moves(game: str) -> int:
    """About as many moves as are legal at a time: on a grid the policy, by its kinds of moves from a cell.

    >>> usual_moves("connect-four"), usual_moves("crazyhouse")
    (7, 70)
    """
    if is_reference(game):
        return max(2, len(game_of_rows(game).texts))
    if not is_grid(game):
        return MOVES[game]
    inputs = inputs_of(game)
    return max(2, inputs.actions // (3 if inputs.actions == 3 * inputs.area else 1))


def play_opening(game: GameSearch, plies: int, kind: str, source: np.random.Generator) -> int:
    """Play so many moves without a search, none of which ends the game, uniformly random or drawn from the
    evaluator's policy; how many were played.
    """
    session = game.session
    played: list[str] = []
    for _ in range(plies):
        if kind == "policy":
            report = game.search(1)
            drawn = draw_move(game.statistics(report).prior, 1.0, source)
            session.play(report["moves"][drawn]["move"])
        else:
            moves = session.legal_moves()
            session.play(moves[int(source.integers(len(moves)))])
        if session.ending() is not None:
            session.set_position(None, played)
            break
        played = session.game()[1]
    return len(played)


def draw_move(policy: Floats, temperature: float, source: np.random.Generator) -> int:
    """A move by its share, sharpened or flattened by the temperature."""
    if temperature <= 0.0:
        return int(policy.argmax())
    with np.errstate(divide="ignore"):
        logits = np.log(policy) / temperature
    powers = np.exp(logits - logits.max())
    return int(source.choice(len(policy), p=powers / powers.sum()))
