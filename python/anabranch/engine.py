"""The engine: position in, result out, graph kept between moves. All that programs and the command line
know of the search.

It chooses the loop for the evaluator, and turns reports into results. It decides nothing about the search.
Its position is in `anabranch.game`, its settings and its evaluator are in `anabranch.configured`.
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, Unpack, overload

import chess

from anabranch import _core
from anabranch.catalogue import base_name
from anabranch.configured import ConfiguredGame, check_fit, read_evaluator, source_of
from anabranch.defaults import changes_of_saved
from anabranch.errors import (
    AnabranchError,
    EvaluatorError,
    GameOverError,
    GraphFileError,
    LimitError,
    PositionError,
    VariantError,
)
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import NETWORK
from anabranch.formats.tablebases import TablebasePaths
from anabranch.graph import SearchGraph, graph_of
from anabranch.limits import LimitKeywords, Limits, check_count, check_seconds, one_of
from anabranch.loop import Loop
from anabranch.many import (
    BATCH,
    MOST_BATCH,
    InBatches,
    ManyRequest,
    OnDone,
    OnThreads,
    SharedBatches,
    run_many,
)
from anabranch.named_games import OBJECT, ROWS
from anabranch.positions import Position
from anabranch.result import Progress, Result, Root, progress_of, result_of
from anabranch.settings import Settings
from anabranch.solution import Solution, solution_of

ProgressCallback = Callable[[Progress], object]


class Engine(ConfiguredGame):
    """A search on one game, with a position and the graph below it.

    >>> engine = Engine("chess", preset="mcgs-combined", seed=7)
    >>> result = engine.search("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", simulations=500)
    >>> result.best_move, result.solved.mate
    ('a1a8', 1)
    >>> engine = Engine("connect-four", evaluator="uniform")
    >>> engine.search("4 3 4 3 4 3", simulations=1000).best_move
    '4'

    `variant` is a variant of chess or a game of `anabranch.games()`, by name; `game` is another word for it,
    or a game that is written in Python (see `anabranch.rows` and `anabranch.objects`), which may also be
    named, `"module:Class"`: then the module is imported, so names from elsewhere should go through
    `anabranch.named_games.check_loaded` first.
    The parameters of a game are part of its name, or keywords: `Engine("hex:size=7")`,
    `Engine("hex", size=7)`.
    `evaluator` is the name of a built-in one or of a bundled network, the path of a network file (see
    `anabranch.evaluators.resolve`), a `torch.nn.Module`, an object with a method `evaluate`, or a function
    (see `anabranch.evaluators`). Without one, the network of the package is used, `"network"` by
    name; variants that have none use `"material"`, games on a grid `"rollout"`.
    `tablebases` are directories with Syzygy tables (see `anabranch.formats.tablebases`). Everything else
    given by name is a setting. One thread at a time uses an engine; `stop` may be called from any.
    """

    _elapsed = 0.0
    _finish = "idle"

    def search(
        self,
        position: Position | None = None,
        limits: Limits | None = None,
        *,
        lines: int = 3,
        progress: ProgressCallback | None = None,
        progress_interval: float = 0.5,
        **keywords: Unpack[LimitKeywords],
    ) -> Result:
        """Search until the first limit is met, the position is solved or `stop` is called.

        `position` is a FEN, "startpos", either with moves ("FEN moves e2e4 ...", or a pair), or a
        `chess.Board`; in games on a grid moves alone will do ("4 4 3", or a list). Without one the search
        goes on in the position of the engine. The limits are a `Limits`, or its fields as keywords:
        `simulations`, `evaluations`, `time` in seconds, `mate` (a proven mate in so many moves),
        `root_moves`. With `root_moves` the search chooses among these moves only, and proves what they prove;
        the graph is the same, and the next search without them sees all of it. `progress` is called every
        `progress_interval` seconds, and as soon as another move would be chosen. `stop` and Ctrl-C end the
        search within 50 ms, whatever is being evaluated; after Ctrl-C (KeyboardInterrupt) `result` has what
        was found.

        >>> Engine().search("startpos moves e2e4", simulations=100).statistics.simulations
        100
        >>> Engine().search(limits=Limits(simulations=100, root_moves=["e2e4"])).best_move
        'e2e4'
        """
        request = _Request(one_of(limits, keywords, position), lines, progress, progress_interval)
        self._begin()
        return self._search(position, request)

    async def search_async(
        self,
        position: Position | None = None,
        limits: Limits | None = None,
        *,
        lines: int = 3,
        progress: ProgressCallback | None = None,
        progress_interval: float = 0.5,
        **keywords: Unpack[LimitKeywords],
    ) -> Result:
        """Search like `search`, in a thread, while the event loop goes on. Cancelling it stops the search.

        `progress` is called in the event loop.

        >>> import asyncio
        >>> asyncio.run(Engine().search_async("startpos", simulations=100)).finish
        'limit'
        """
        import asyncio  # a tenth of a second that an engine for a GUI can do without

        loop = asyncio.get_running_loop()
        in_loop: ProgressCallback | None = None
        if progress is not None:
            in_loop = partial(loop.call_soon_threadsafe, progress)  # type: ignore[arg-type]
        request = _Request(one_of(limits, keywords, position), lines, in_loop, progress_interval)
        self._begin()
        try:
            work = loop.run_in_executor(None, self._search, position, request)
        except BaseException:  # the executor takes no more work, and nothing else releases the engine
            self._busy.release()
            raise
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stop()
            while not work.done():
                await asyncio.wait([work])
            if work.cancelled():  # the executor dropped it before it began
                self._busy.release()
            else:
                work.exception()
            raise

    @overload
    def search_many(
        self,
        positions: Iterable[Position],
        limits: Limits | None = None,
        *,
        lines: int = 3,
        batch: int = BATCH,
        progress: OnDone | None = None,
        return_exceptions: Literal[False] = False,
        **keywords: Unpack[LimitKeywords],
    ) -> Generator[Result]: ...

    @overload
    def search_many(
        self,
        positions: Iterable[Position],
        limits: Limits | None = None,
        *,
        lines: int = 3,
        batch: int = BATCH,
        progress: OnDone | None = None,
        return_exceptions: bool,
        **keywords: Unpack[LimitKeywords],
    ) -> Generator[Result | AnabranchError]: ...

    def search_many(
        self,
        positions: Iterable[Position],
        limits: Limits | None = None,
        *,
        lines: int = 3,
        batch: int = BATCH,
        progress: OnDone | None = None,
        return_exceptions: bool = False,
        **keywords: Unpack[LimitKeywords],
    ) -> Generator[Result | AnabranchError]:
        """Search many positions, each for itself; their results in the same order, as they are found.

        Positions and limits are as for `search`, and each result is that of a new engine with these
        settings: its search starts from an empty graph and the seed. So the number of threads changes
        nothing but the time. With an evaluator of the core there are up to `threads` searches at
        once; with one of Python their leaves share batches of about `batch` evaluations. `memory` holds
        for each of the searches at once. With the limit `time` these share the machine.

        `positions` is any iterable; it is read some hundred positions ahead at most. `progress` is called
        after each result with their number, and that of all positions where they have a length. A position
        that is refused raises its error when its turn comes, with its index; with `return_exceptions` the
        error takes the place of the result. `stop`, Ctrl-C, an exception and closing the iterator end all
        searches, and give up those under way. The position and the graph of the engine stay as they are; it
        is in use until the iterator ends.

        >>> for result in Engine().search_many(["startpos", "startpos moves e2e4"], evaluations=100):
        ...     print(result.position.split()[1], result.statistics.evaluations)
        w 100
        b 100
        """
        found = one_of(limits, keywords, positions)
        try:
            if isinstance(positions, (str, chess.Board)):
                raise TypeError
            iterator = iter(positions)
        except TypeError:
            raise PositionError(
                f"search_many takes a list or another iterable of positions, not {positions!r}"
            ) from None
        request = ManyRequest(
            limits=found,
            lines=check_count("lines", lines, 0) or 0,
            batch=check_count("batch", batch, 1, most=MOST_BATCH) or 1,
            total=len(positions) if isinstance(positions, Sized) else None,
            progress=progress,
            return_exceptions=return_exceptions,
        )
        return self._search_many(iterator, request)

    def solve(
        self,
        position: Position | None = None,
        *,
        time: float | None = None,
        positions: int | None = None,
        shortest: bool = False,
        checks_only: bool = False,
    ) -> Solution:
        """Look for a forced win or loss of the side to move, with the rules and the game's history alone.

        The graph, the evaluator and the settings play no part. It ends with a proof, after `time` seconds or
        so many `positions`, or when `stop` is called. With `shortest` it goes on, within the same limits, for
        a line that no other shortens. With `checks_only` the attacker gives check with every
        move, so that much less is tried and less is found. `position` is as for `search`. Ctrl-C raises
        KeyboardInterrupt within 50 ms.

        >>> solution = Engine().solve("7k/8/8/8/8/8/R7/1R5K w - - 0 1", positions=100_000, shortest=True)
        >>> solution.result, solution.mate, solution.is_shortest, len(solution.line.moves)
        ('win', 2, True, 3)
        >>> Engine().solve("startpos", positions=1000).result is None
        True
        """
        if time is None and positions is None:
            raise LimitError("solving needs a limit: time or positions")
        seconds = None if time is None else check_seconds("time", time, exclusive=True)
        most = check_count("positions", positions, 1)
        self._begin()
        try:
            if position is not None:
                self._set_position(position)
            begun = clock.monotonic()
            report = self._session.solve(most, seconds, checks_only=checks_only, shortest=shortest)
            root = Root(self._session.fen(), self.variant, self.chess960, player=self._session.player())
            return solution_of(report, root, clock.monotonic() - begun, checks_only)
        finally:
            self._busy.release()

    def stop(self) -> None:
        """End the search under way, if there is one. Any thread may call this at any time; it never waits.

        >>> from threading import Timer
        >>> engine = Engine()
        >>> Timer(0.05, engine.stop).start()
        >>> engine.search(simulations=10**9).finish
        'stopped'
        """
        self._session.stop()

    def result(self, lines: int = 3) -> Result:
        """The result of the graph as it is now: after a search that was interrupted, for example.

        >>> engine = Engine()
        >>> _ = engine.search(simulations=50)
        >>> engine.result().statistics.simulations
        50
        """
        with self._exclusive():
            if self._session.ending() is not None:
                raise GameOverError(f"the game is already over in this position ({self._session.fen()})")
            self._session.clear_stop()
            self._session.tidy()  # the numbers are those of the graph below the position
            return self._result(check_count("lines", lines, 0) or 0)

    def graph(self, depth: int | None = None, visits: int = 1, nodes: int = 2000) -> SearchGraph:
        """The part of the graph within `depth` moves whose nodes have at least so many `visits`; the most
        visited `nodes` of it. With 0 visits, what proofs have added is in it too.

        >>> engine = Engine()
        >>> _ = engine.search(simulations=200)
        >>> len(engine.graph(nodes=10).nodes)
        10
        """
        most = check_count("depth", depth, 0)
        least = min(check_count("visits", visits, 0) or 0, 2**32 - 1)
        limit = check_count("nodes", nodes, 1) or 1
        with self._exclusive():
            rows, edges = self._session.export(most, least, limit)
        return graph_of(rows, edges, self._variant)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write position, settings and graph to a file. It appears whole or not at all.

        >>> from tempfile import TemporaryDirectory
        >>> engine = Engine()
        >>> _ = engine.search("startpos moves e2e4", simulations=100)
        >>> with TemporaryDirectory() as folder:
        ...     engine.save(f"{folder}/open.search")
        ...     again = Engine.load(f"{folder}/open.search")
        >>> again.result().moves == engine.result().moves
        True
        """
        with self._exclusive(), _naming(path):
            self._session.save(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        evaluator: str | os.PathLike[str] | _core.Network | AnyEvaluator | None = None,
        tablebases: TablebasePaths | _core.Tablebases | None = None,
        game: object = None,
    ) -> Self:
        """An engine at the position of a saved one, with its graph and settings.

        A Python evaluator or a network is not in the file: where one was used that does not come with
        this version of the package, give it again. Another evaluator than that of the file starts a new
        graph. Results of tablebases for nodes of the graph are in the file; give the tablebases again to
        probe them further.

        >>> from tempfile import TemporaryDirectory
        >>> engine = Engine()
        >>> engine.play("e2e4")
        >>> with TemporaryDirectory() as folder:
        ...     engine.save(f"{folder}/open.search")
        ...     Engine.load(f"{folder}/open.search").position == engine.position
        True
        """
        with _naming(path):
            variant, chess960 = _core.saved_variant(path)
        if base_name(variant) in (OBJECT, ROWS) and game is None:
            needed = f"the graph in {os.fsdecode(path)} is one of {variant.partition(':')[2]}"
            raise VariantError(f"{needed}: the game must be given again, game=... or --game")
        engine = cls(
            "chess" if game is not None else variant, "default", chess960, tablebases=tablebases, game=game
        )
        if evaluator is None or evaluator == NETWORK:
            given = engine._evaluator
        else:
            given, _ = read_evaluator(evaluator, {})
        external, network = source_of(given)
        with _naming(path):
            missing = engine._session.load(path, network)
        engine._settings = Settings(**engine._session.settings())
        engine._changes = changes_of_saved(engine._session, given, missing)
        is_same_kind = external or (network is not None and engine._settings.evaluator == "network")
        if is_same_kind and missing is None and external == engine._session.is_external():
            check_fit(given, engine._session, engine._adapter)
            engine._evaluator = given
        elif evaluator is not None:
            engine.configure(evaluator=evaluator if given is None else given)
        else:
            engine._evaluator = None
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Engine {self._variant}, evaluator {self.evaluator!r}>"

    # Internals

    def _begin(self) -> None:
        """Take the engine for a search; from here on `stop` ends that search."""
        self._acquire()
        self._session.clear_stop()

    def _search(self, position: Position | None, request: _Request) -> Result:
        """Search, and release the engine. Called after `_begin`."""
        begun = clock.monotonic()
        try:
            if position is not None:
                self._set_position(position)
            self._finish = "stopped"  # unless it ends otherwise
            try:
                self._finish = self._run(request, begun)
            finally:
                self._elapsed = clock.monotonic() - begun
            is_urgent = self._finish in ("stopped", "time")
            return self._result(request.lines, "sample" if is_urgent else "whole")
        finally:
            self._busy.release()

    def _search_many(
        self, positions: Iterator[Position], request: ManyRequest
    ) -> Generator[Result | AnabranchError]:
        self._begin()
        try:
            evaluator = self._outside_evaluator()
            if evaluator is None:
                yield from run_many(self._session, OnThreads(self._session, request), positions, request)
            else:
                driver = InBatches(self._session, request, evaluator, self._thread)
                yield from run_many(self._session, driver, positions, request)
        finally:
            self._busy.release()

    def _shared_batches(self, batch: int) -> SharedBatches:
        """Searches with an evaluator of Python that share batches, for `anabranch.serve`. The engine is for
        nothing else until they are closed.
        """
        evaluator = self._outside_evaluator()
        if evaluator is None:
            raise EvaluatorError("an evaluator of the core has no shared batches")
        self._session.clear_stop()
        return SharedBatches(self._session, evaluator, self._thread, batch)

    def _run(self, request: _Request, begun: float) -> str:
        on_report = None
        if (progress := request.progress) is not None:
            root, lines = self._root(), request.lines
            first = self._session.legal_moves()[:1]

            def on_report(report: dict[str, Any]) -> None:
                report["best_move"] = report["best_move"] or first[0]
                progress(progress_of(report, root, clock.monotonic() - begun, lines))

        if (evaluator := self._outside_evaluator()) is not None:
            loop = Loop(self._session, evaluator, request.limits)
            return loop.run(self._thread, on_report, request.interval, request.lines)
        return self._session.run(
            progress=on_report, interval=request.interval, lines=request.lines, **request.limits.for_core()
        )

    def _root(self) -> Root:
        fen, network, raw = self._session.fen(), self._evaluator, None
        if isinstance(network, _core.Network) and self._session.ending() is None:
            raw = network.evaluate([fen])[0][1]
        return Root(fen, self._variant, self._chess960, raw, self._session.player())

    def _result(self, lines: int, meters: Literal["sample", "whole"] = "whole") -> Result:
        report = self._session.report(lines, meters)
        report["best_move"] = report["best_move"] or self._session.legal_moves()[0]
        return result_of(report, self._root(), self._elapsed, lines, self._finish)


class _Request:
    """The arguments of a search, checked."""

    def __init__(
        self, limits: Limits, lines: int, progress: ProgressCallback | None, interval: float
    ) -> None:
        self.limits = limits
        self.lines = check_count("lines", lines, 0) or 0
        self.progress = progress
        self.interval = check_seconds("progress_interval", interval, exclusive=False)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors about a file of a graph name it."""
    try:
        yield
    except GraphFileError as error:
        text = str(error).replace("the graph file", f"the graph file {os.fsdecode(path)}", 1)
        raise type(error)(text) from error
