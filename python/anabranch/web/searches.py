"""Searches of one browser: slices of analysis with reports and graphs between them, and moves of games.

Runs in a thread of its own, one search at a time, and ends soon after `stop`: an analysis between two slices,
a move at the next report of the engine. It knows neither sockets nor the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from random import Random
from threading import Event
from typing import Any

from anabranch import _core
from anabranch.annotate import Evaluation
from anabranch.catalogue import is_grid
from anabranch.clock import allocate
from anabranch.defaults import ROLLOUT, resolve
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, VariantError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import NETWORK, resolve_evaluator
from anabranch.human import choose, opinions
from anabranch.limits import Limits
from anabranch.networks.folders import human_networks, installed_networks
from anabranch.networks.shipped import bundled
from anabranch.result import Result
from anabranch.sharing import NODES, sharing_of
from anabranch.strength import Handicap
from anabranch.web import proof, report
from anabranch.web.judge import KnownResults, StoppedError, evaluation, judge_game
from anabranch.web.messages import (
    Analyse,
    Clock,
    Elo,
    Evaluations,
    Game,
    GridAnalyse,
    GridGame,
    GridPlay,
    GridProve,
    Human,
    Judge,
    Machine,
    Play,
    Prove,
    SearchConfig,
    Seconds,
    View,
)

Send = Callable[[dict[str, Any]], None]

FIRST_SLICE = 0.1
SLICE = 0.3
"""Seconds of search between two reports."""
GRAPH_SHARE = 0.2
"""Most of the time that may go into copies of the graph."""
GRAPH_PAUSE = 0.6
"""Least seconds between two copies."""
CLOCK_RESERVE = 0.1
"""Network latency reserve in seconds."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What one browser may use."""

    seconds: float = 300.0
    """Longest search."""
    memory: int = 512 << 20
    """Bytes of all its graphs together."""
    threads: int = 1


class ClientSearches:
    """The engines of one browser, and the search under way."""

    def __init__(
        self, resources: Resources, tables: _core.Tablebases | None = None, evaluator: str | None = None
    ) -> None:
        self.view: View | None = None
        """What is shown of the graph; any thread may set it."""
        self._resources = resources
        self._tables = tables
        self._evaluator = evaluator
        self._stopped = Event()
        self._wants_last = False
        """Whether a search that is stopped still sends its graph as it is."""
        self._engines: list[Engine | None] = [None, None]
        self._chosen: list[tuple[str | None, int] | None] = [None, None]
        """The installed networks that the engines use, and their threads."""
        self._machine = Machine()
        self._humans: dict[int, str | _core.Network | AnyEvaluator] = {}
        self._random = Random()
        self._known = KnownResults()

    def stop(self, *, last: bool = False) -> None:
        """End the search; with `last` it sends its graph once more. Any thread may call this; it never
        waits.
        """
        self._wants_last = last
        self._stopped.set()
        for engine in self._engines:
            if engine is not None:
                engine.stop()

    def prepare(self, view: View | None = None) -> None:
        """Prepare the next search; later `stop` and view messages apply to it."""
        self._stopped.clear()
        self.view = view

    def analyse(self, request: Analyse | GridAnalyse, send: Send) -> None:
        """Search in slices until it is stopped, and send a report of each; two configurations take turns."""
        self._machine = request.machine
        limit = min(request.seconds or self._resources.seconds, self._resources.seconds)
        sides = [
            _Side(number, self._engine(number, request.game, config), request.lines)
            for number, config in enumerate(request.configs)
        ]
        finish = "stopped"
        while not self._stopped.is_set():
            for side in sides:
                if side.finish is None and not self._stopped.is_set():
                    result, message = side.search(limit)
                    if not result.root.is_grid:
                        self._known.deepest(result)
                    send({"type": "report", "id": request.id, **message})
                    shown = side.snapshot(self.view)
                    if shown is not None:
                        send({"type": "graph", "id": request.id, **shown})
            if all(side.finish is not None for side in sides):
                finish = sides[0].finish or finish
                break
        for side in sides:
            is_wanted = self._wants_last or not self._stopped.is_set()
            shown = side.snapshot(self.view, last=True) if is_wanted else None
            if shown is not None:
                send({"type": "graph", "id": request.id, **shown})
        send({"type": "done", "id": request.id, "finish": finish})

    def judge(self, request: Judge, send: Send) -> None:
        """Judge the moves of a game, and send the evaluation of each position as it is found."""
        self._machine = request.machine
        begin = request.game.model_copy(update={"moves": []})
        engine = self._engine(0, begin, request.config)

        def look(ply: int, result: Result) -> Result:
            if self._stopped.is_set():
                raise StoppedError
            best = self._known.deepest(result)
            found = evaluation(Evaluation.of_result(best), best.statistics.root_visits)
            send({"type": "judging", "id": request.id, "ply": ply, **found})
            return best

        try:
            answer = judge_game(request.game, engine, min(request.seconds, self._resources.seconds), look)
        except StoppedError:
            send({"type": "done", "id": request.id, "finish": "stopped"})
            return
        send({"type": "judged", "id": request.id, **answer})

    def prove(self, request: Prove | GridProve, send: Send) -> None:
        """Look for a forced win or loss. The tree of its proof is sent as far as it can be drawn."""
        engine = self._standing(request.game)
        solution = engine.solve(time=min(request.seconds, self._resources.seconds))
        send({"type": "proof", "id": request.id, **proof.tree_of(solution)})

    def play(self, request: Play | GridPlay, send: Send) -> None:
        """Choose one move."""
        self._machine = request.machine
        engine = self._engine(0, request.game, request.config)
        limits = Limits(time=self._resources.seconds)
        match request.level:
            case Human() as level:
                message = {"type": "move", "id": request.id, "move": self._move_of_people(engine, level)}
                send({**message, "report": None})
                return
            case Elo(elo=elo):
                handicap = Handicap.of(elo)
                engine.configure(**handicap.settings(self._random))
                stray = handicap.stray(engine.legal_moves, self._random)
                if stray is not None:
                    send({"type": "move", "id": request.id, "move": stray, "report": None})
                    return
                limits = replace(limits, simulations=handicap.simulations)
            case Evaluations(evaluations=evaluations):
                limits = replace(limits, evaluations=evaluations)
            case Seconds(seconds=seconds):
                limits = replace(limits, time=min(self._resources.seconds, seconds))
        for clock in (request.level, request.clock):
            if isinstance(clock, Clock):
                limits = replace(limits, time=min(limits.time or 0.0, _share(clock, engine)))
        result = engine.search(
            limits=limits, lines=3, progress=lambda _: self._stop_if_requested(engine), progress_interval=0.1
        )
        if self._stopped.is_set():
            send({"type": "done", "id": request.id, "finish": "stopped"})
            return
        message = {"side": 0, "elapsed": round(result.elapsed, 3), **report.report(result)}
        send({"type": "move", "id": request.id, "move": result.best_move, "report": message})

    def _move_of_people(self, engine: Engine, level: Human) -> str:
        """A move of the policy of an installed network."""
        file = human_networks().get(level.rating)
        if file is None:
            raise AnabranchError(f"no network that plays like {level.rating} is installed on the server")
        if level.rating not in self._humans:
            self._humans[level.rating] = resolve_evaluator(file, threads=self._threads)
        positions = [engine.board()]
        network = self._humans[level.rating]
        [opinion] = opinions(network, positions, engine.variant, chess960=engine.chess960)
        return choose(opinion.policy, self._random, level.temperature)

    def _stop_if_requested(self, engine: Engine) -> None:
        """End a search whose stop came before it had begun."""
        if self._stopped.is_set():
            engine.stop()

    def _standing(self, game: Game | GridGame) -> Engine:
        """An engine in the position, with the settings that it has: only the rules matter."""
        name, chess960 = _rules(game)
        engine = self._engines[0]
        if engine is None or (engine.variant, engine.chess960) != (name, chess960):
            return self._engine(0, game, SearchConfig())
        _stand(engine, game)
        return engine

    @property
    def _threads(self) -> int:
        return min(self._machine.threads or self._resources.threads, self._resources.threads)

    @property
    def _memory(self) -> int:
        """Bytes for one of the two engines."""
        given = self._resources.memory if self._machine.memory is None else self._machine.memory << 20
        return min(given, self._resources.memory) // 2

    def _engine(self, number: int, game: Game | GridGame, config: SearchConfig) -> Engine:
        """An engine that stands in the position, with the settings; its graph is kept where it still fits."""
        name, chess960 = _rules(game)
        engine = self._engines[number]
        tables = self._tables if name == "chess" and self._machine.tablebases else None
        if engine is None or (engine.variant, engine.chess960) != (name, chess960):
            self._engines[number] = None  # frees the memory of the old one first
            engine = Engine(name, chess960=chess960, memory=self._memory, tablebases=tables)
            self._engines[number] = engine
            self._chosen[number] = None
        elif (engine.tablebases is None) != (tables is None):
            engine.configure(tablebases=tables)
        chosen = (config.network, self._threads)
        if chosen != self._chosen[number]:
            self._chosen[number] = None
            self._configure_evaluator(engine, config.network)
            self._chosen[number] = chosen
        if number == 0 and self._engines[1] is not None and self._engines[1].variant != name:
            self._engines[1] = None
        settings = asdict(resolve(config.preset, name, engine.evaluator, config.changes))
        del settings["evaluator"]
        settings |= {"memory": self._memory, "threads": self._threads}
        engine.configure(**settings)
        _stand(engine, game)
        return engine

    def _configure_evaluator(self, engine: Engine, network: str | None) -> None:
        """Give an engine an installed network, or the evaluator of the server."""
        if network is not None:
            file = installed_networks().get(network)
            if file is None:
                raise AnabranchError(f"no network {network!r} is installed on the server")
            engine.configure(evaluator=file, threads=self._threads)
            return
        others = ROLLOUT if is_grid(engine.variant) else "material"
        own = NETWORK if bundled(engine.variant) is not None else others
        engine.configure(evaluator=own)
        if self._evaluator is not None:
            with suppress(VariantError):  # a network for another variant
                engine.configure(evaluator=self._evaluator, threads=self._threads)


def _rules(game: Game | GridGame) -> tuple[str, bool]:
    """The name of the game, and whether it is Chess960."""
    return (game.name, False) if isinstance(game, GridGame) else (game.variant, game.chess960)


def _stand(engine: Engine, game: Game | GridGame) -> None:
    """Put an engine into the position."""
    engine.position = game.moves if isinstance(game, GridGame) else (game.fen, game.moves)
    if engine.is_over:
        raise AnabranchError("the game is over in this position, so there is nothing to search")


class _Side:
    """One configuration of an analysis."""

    def __init__(self, number: int, engine: Engine, lines: int) -> None:
        self.finish: str | None = None
        self._number = number
        self._engine = engine
        self._lines = lines
        self._elapsed = 0.0
        self._simulations = 0
        self._copied = 0.0
        """When the graph was copied."""
        self._copying = 0.0
        """How long that took."""
        self._fresh = False
        """Whether something was searched since."""

    def search(self, limit: float) -> tuple[Result, dict[str, Any]]:
        """Search one slice; what is known now, and as the page reads it."""
        length = min(SLICE if self._elapsed else FIRST_SLICE, max(0.01, limit - self._elapsed))
        result = self._engine.search(time=length, lines=self._lines)
        self._elapsed += result.elapsed
        self._simulations += result.statistics.simulations
        self._fresh = True
        if result.finish not in ("time", "stopped"):
            self.finish = result.finish
        elif self._elapsed >= limit:
            self.finish = "time"
        return result, {
            "side": self._number,
            "elapsed": round(self._elapsed, 3),
            "speed": round(self._simulations / max(self._elapsed, 1e-3)),
            **report.report(result),
        }

    def snapshot(self, view: View | None, *, last: bool = False) -> dict[str, Any] | None:
        """A copy of the graph, where one is wanted and the last one is old enough."""
        begun = time.monotonic()
        pause = max(GRAPH_PAUSE, self._copying / GRAPH_SHARE)
        is_due = self._fresh if last else begun - self._copied >= pause
        if view is None or not is_due:
            return None
        part = self._engine.graph(depth=view.depth, visits=view.visits, nodes=view.nodes)
        whole = self._engine.graph(nodes=NODES)
        found = report.sharing(sharing_of(whole), whole)
        message = {"side": self._number, **report.graph(part), "sharing": found}
        self._copied = time.monotonic()
        self._copying = self._copied - begun
        self._fresh = False
        return message


def _share(clock: Clock, engine: Engine) -> float:
    played = int(engine.position.split()[-1]) - 1
    given = allocate(
        clock.left, clock.increment, played=played, variant=engine.variant, overhead=CLOCK_RESERVE
    )
    return max(0.02, given.optimum)
