"""Measurements: searches and games whose course is recorded, each a pure function of its description.

They take and return plain values, so they can run on any machine and be stored as they are. The state of a
search at its checkpoints is stored under `looks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import chess

from anabranch.bench.exact import attempt_exact, read_exact_task
from anabranch.bench.suite import attempt, read_task
from anabranch.catalogue import is_grid
from anabranch.engine import Engine
from anabranch.limits import Limits
from anabranch.match.engine_player import read_settings
from anabranch.match.game import ending
from anabranch.match.grid_board import GridBoard
from anabranch.match.openings import board_of
from anabranch.match.player import PlayerSpec
from anabranch.result import Result
from anabranch.study.choices import Choices
from anabranch.study.left_right import LeftRightPosition
from anabranch.study.plan import Measurement
from anabranch.study.policies import count_policies

OF_GRAPH = ("nodes", "bytes", "root_visits", "transposition_nodes", "leak", "node_leak")
"""Statistics of the graph as it is."""
OF_SEARCH = ("simulations", "evaluations", "corrections", "stops")
"""Statistics that count from the beginning of a search."""
CAP = 8
"""Most simulations for each evaluation of a budget: stops at transpositions cost no evaluation."""


def measure(measurement: Measurement) -> dict[str, Any]:
    """Do a measurement."""
    return KINDS[measurement.kind](measurement.variant, measurement.about)


def engine_of(variant: str, preset: str, settings: Mapping[str, str], game: object = None) -> Engine:
    """An engine with settings given as text."""
    changes = read_settings(PlayerSpec(preset, "preset", preset, dict(settings)))
    return Engine(preset=preset, game=variant if game is None else game, **changes)


def _grow(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """One graph that grows: its statistics at every checkpoint, summed over the searches so far.

    With `policies` also the legal moves of its nodes, and those that are listed with a prior.
    """
    engine = engine_of(variant, about["preset"], about["settings"])
    engine.position = about["position"]
    done = dict.fromkeys(OF_SEARCH, 0)
    samples: list[dict[str, Any]] = []
    for checkpoint in about["checkpoints"]:
        left = checkpoint - done[about["equal"]]
        if left > 0:
            limits: dict[str, int] = {about["equal"]: left}
            if about["equal"] == "evaluations":
                limits["simulations"] = CAP * checkpoint
            result = engine.search(lines=0, **limits)  # type: ignore[arg-type]
            for name in done:
                done[name] += getattr(result.statistics, name)
        numbers = {name: getattr(result.statistics, name) for name in OF_GRAPH} | done
        if about.get("policies"):
            policies = count_policies(engine)
            numbers |= {"legal": policies.legal, "listed": policies.listed}
        samples.append({"checkpoint": checkpoint, "finish": result.finish, **numbers})
        if result.finish == "solved":
            break
    return {"looks": samples}


def start_at(variant: str, position: str) -> chess.Board | GridBoard:
    """A position of a variant of chess or of another game."""
    return GridBoard(variant, position) if is_grid(variant) else board_of(variant, position, False)


def _game(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """A game of an engine against itself; as in a match, each side has its own graph."""
    board = start_at(variant, about["position"])
    sides = {color: engine_of(variant, about["preset"], about["settings"]) for color in chess.COLORS}
    moves: list[dict[str, Any]] = []
    while len(moves) < about["plies"]:
        if (board.ending() if isinstance(board, GridBoard) else ending(board)) is not None:
            break
        position = board.position if isinstance(board, GridBoard) else board
        result = sides[board.turn].search(position, evaluations=about["evaluations"], lines=0)
        numbers = result.statistics
        moves.append(
            {
                "ply": len(moves),
                "nodes": numbers.nodes,
                "root_visits": numbers.root_visits,
                "simulations": numbers.simulations,
                "evaluations": numbers.evaluations,
            }
        )
        if isinstance(board, GridBoard):
            board.push(result.best_move)
        else:
            board.push(board.parse_uci(result.best_move))
    return {"moves": moves}


def _proof(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Simulations until a mate is proven; nothing but a proof tallies."""
    engine = engine_of(variant, about["preset"], about["settings"])
    task = read_task(about["position"], engine)
    tried = attempt(engine, task, Limits(simulations=about["simulations"]), mates=True)
    return {
        "mate": task.mate,
        "proven": tried.solved,
        "simulations_to_proof": tried.simulations_to_solution,
        "simulations": tried.simulations,
        "evaluations": tried.evaluations,
    }


def _exact(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Simulations until the known result of a position is proven; that the proof is right is checked."""
    engine = engine_of(variant, about["preset"], about["settings"])
    task = read_exact_task(about["position"], engine)
    tried = attempt_exact(engine, task, Limits(simulations=about["simulations"]))
    return {
        "result": task.result,
        "proven": tried.solved,
        "wrong": tried.wrong,
        "simulations": tried.simulations,
        "nodes": tried.nodes,
    }


def _left_right(_variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """A game of LeftRight, with so many simulations for each step: the steps to the left."""
    game = LeftRightPosition(about["steps"])
    engine = engine_of("", about["preset"], about["settings"], game)
    for _ in range(about["steps"]):
        move = engine.search(simulations=about["simulations"], lines=0).best_move
        engine.play(move)
        game = game.play(move)
    return {"lefts": game.lefts}


def _regret(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """The loss of the chosen move at every checkpoint, where the value of every move is known."""
    best = max(about["values"].values())
    samples = [
        {
            "checkpoint": checkpoint,
            "move": result.best_move,
            "regret": (best - about["values"][result.best_move]) / 2.0,
        }
        for checkpoint, result in _results(variant, about)
    ]
    return {"looks": samples}


def _only(variant: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the only good move is chosen at every checkpoint, and how often it was tried."""
    samples = [
        {
            "checkpoint": checkpoint,
            "found": result.best_move == about["move"],
            "visits": next(row.visits for row in result.moves if row.move == about["move"]),
            "root_visits": result.statistics.root_visits,
            "tried": sum(row.visits > 0 for row in result.moves),
            "legal": len(result.moves),
        }
        for checkpoint, result in _results(variant, about)
    ]
    return {"looks": samples}


def _results(variant: str, about: Mapping[str, Any]) -> Iterator[tuple[int, Result]]:
    """One search that is continued, and its result at every number of evaluations."""
    engine = engine_of(variant, about["preset"], about["settings"])
    engine.position = about["position"]
    done = 0
    for checkpoint in about["checkpoints"]:
        result = engine.search(evaluations=max(1, checkpoint - done), simulations=CAP * checkpoint, lines=0)
        done += result.statistics.evaluations
        yield checkpoint, result


KINDS: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]] = {
    "grow": _grow,
    "game": _game,
    "proof": _proof,
    "exact": _exact,
    "left-right": _left_right,
    "regret": _regret,
    "only": _only,
    "choice": Choices(engine_of).compare,
}
