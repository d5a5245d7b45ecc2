"""Judges the moves of a game for the page, by the rules of `anabranch.annotate`.

The game is annotated as `anabranch annotate` does it, and the annotations are sent as plain values. Deeper
results of earlier searches are used where there are any. Nothing here searches by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import chess.pgn

from anabranch.annotate import Annotated, Evaluation, annotate_game
from anabranch.engine import Engine
from anabranch.limits import Limits
from anabranch.result import Result, board_of
from anabranch.web.messages import Game

MOST_KNOWN = 4096
"""Results that are remembered."""


class StoppedError(Exception):
    """The browser has stopped the judgement."""


class KnownResults:
    """The deepest result of each position that one browser has searched, the newest positions only."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, str], Result] = {}

    def deepest(self, result: Result) -> Result:
        """Remember a result; the deepest one of its position."""
        key = (result.root.variant, result.position)
        known = self._results.pop(key, None)
        if known is None or _depth(known) <= _depth(result):
            known = result
        self._results[key] = known
        if len(self._results) > MOST_KNOWN:
            del self._results[next(iter(self._results))]
        return known


def _depth(result: Result) -> tuple[bool, int]:
    """A proof is deeper than any number of visits."""
    return result.solved is not None, result.statistics.root_visits


def judge_game(
    game: Game, engine: Engine, seconds: float, look: Callable[[int, Result], Result]
) -> dict[str, Any]:
    """Every move of a game judged. `look` gets each result with its ply, and returns the one to use."""
    engine.position = (game.fen, game.moves)  # an illegal move is an error here
    pgn = chess.pgn.Game()
    board = board_of(game.variant, game.fen, game.chess960)
    pgn.setup(board)
    node: chess.pgn.GameNode = pgn
    for move in game.moves:
        board.push_uci(move)
        node = node.add_variation(board.peek())
    plies = iter(range(len(game.moves) + 1))
    limits = Limits(time=seconds)
    visits: list[int] = []

    def search(standing: Engine) -> Result:
        result = look(next(plies), standing.search(limits=limits, lines=2))
        visits.append(result.statistics.root_visits)
        return result

    annotated = annotate_game(pgn, engine, limits, search=search)
    return {
        "evaluations": [
            evaluation(found, count)
            for found, count in zip(annotated.evaluations, [*visits, 0], strict=False)
        ],
        "moves": _moves(annotated),
        "white": asdict(annotated.white),
        "black": asdict(annotated.black),
    }


def evaluation(found: Evaluation, visits: int) -> dict[str, Any]:
    """An evaluation for White."""
    score = found.score().white()
    cp = score.score(mate_score=100_000)
    return {"value": round(found.value, 5), "cp": cp, "mate": found.mate, "visits": visits}


def _moves(annotated: Annotated) -> list[dict[str, Any]]:
    """What was written at each move: glyphs, a missed mate, better lines."""
    rows = []
    for node, judgement in zip(annotated.game.mainline(), annotated.judgements, strict=True):
        others = [variation for variation in node.parent.variations if variation is not node]
        missed = judgement.missed_mate
        rows.append(
            {
                "loss": round(judgement.loss, 5),
                "name": judgement.name,
                "best": judgement.move == judgement.best,
                "nags": sorted(node.nags),
                "missed": None if missed is None else node.comment.split("] ")[-1],
                "lines": [[step.uci() for step in (other, *other.mainline())] for other in others],
            }
        )
    return rows
