"""The engine behind the protocol: `UciSession.handle` takes a line and never waits.

Everything that takes time or changes the engine is put in a queue, and one thread works through it, so that
commands have their effect in the order in which they came. What must not wait is answered at once: isready,
stop, ponderhit. Lines go out through the function that was given; nothing here knows processes or files
descriptors.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from queue import SimpleQueue
from threading import Lock, Thread

import chess.variant

from anabranch import __version__, _core
from anabranch.clock import Allocation, Spending, allocate
from anabranch.defaults import resolve
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, EvaluatorError, MoveError
from anabranch.evaluators import AnyEvaluator
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.formats.books import Book
from anabranch.formats.scores import value_of
from anabranch.formats.tablebases import default_directory, open_tablebases, read_paths
from anabranch.networks.shipped import bundled
from anabranch.strength import Handicap
from anabranch.uci import console, info
from anabranch.uci.commands import Go, is_move, read_go, read_position, read_setoption
from anabranch.uci.log import Log
from anabranch.uci.options import DEFAULT, Option, Options
from anabranch.uci.thinking import Terms, Thinking

Sink = Callable[[str], None]
MEGABYTE = 1 << 20
LONGEST_ECHO = 80
"""Characters of somebody's line that are repeated in an error."""


class UciSession:
    """A UCI engine without a process.

    >>> said = []
    >>> with UciSession(said.append) as session:
    ...     for line in ("uci", "position startpos moves e2e4", "go nodes 100"):
    ...         _ = session.handle(line)
    ...     _ = session.wait()
    >>> said[-1].split()[0]
    'bestmove'
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._speaking = Lock()
        self._options = Options()
        self._is_debugging = False
        self._log: Log | None = None
        self._thinking: Thinking | None = None
        self._last: Thinking | None = None
        self._spending = Spending()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._pending = 0
        self._counting = Lock()
        # What follows belongs to the thread that works.
        self._engine: Engine | None = None
        self._configured: tuple[object, ...] | None = None
        self._position: tuple[str | None, list[str]] = (None, [])
        self._book: tuple[str, Book] | None = None
        self._tables: tuple[str, _core.Tablebases | None] = ("", None)
        self._random = random.Random()
        self._quitting = False
        self._worker = Thread(target=self._work, name="anabranch-uci", daemon=True)
        self._worker.start()

    # What the outside does

    def handle(self, line: str) -> bool:
        """Take a line; false when it says goodbye. Never waits, never raises."""
        if self._log is not None:
            self._log.write(">>", line.rstrip("\r\n"))
        words = line.split()
        while words and words[0] not in _COMMANDS:
            words = words[1:]  # the protocol wants unknown words passed over
        if not words:
            if line.strip():
                self._complain(f"unknown command: {line.strip()[:LONGEST_ECHO]}")
            return True
        return _COMMANDS[words[0]](self, words[1:]) is not False

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until all that was asked for is done; whether it is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            thinking = self._thinking
            if self._pending == 0 and (thinking is None or thinking.is_over):
                return True
            time.sleep(0.002)
        return False

    def close(self, seconds: float = 2.0) -> None:
        """End whatever goes on."""
        self._quitting = True
        self._stop([])
        self._jobs.put(None)
        self._worker.join(seconds)
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> UciSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Commands; each gets the words after its own

    def _uci(self, _: list[str]) -> None:
        said = [f"id name Anabranch {__version__}", "id author the Anabranch developers"]
        self._say([*said, *(option.declaration for option in self._options.all()), "uciok"])

    def _isready(self, _: list[str]) -> None:
        self._later(self._prepare)
        self._say(["readyok"])

    def _ucinewgame(self, _: list[str]) -> None:
        self._later(self._new_game)

    def _debug(self, words: list[str]) -> None:
        self._is_debugging = words[:1] != ["off"]

    def _setoption(self, words: list[str]) -> None:
        read = read_setoption(words)
        if read is None:
            self._complain("setoption wants: setoption name NAME value VALUE")
            return
        option = self._options.find(read[0])
        if option is None:
            self._complain(f"there is no option {read[0][:LONGEST_ECHO]!r}")
            return
        self._later(lambda: self._set(option, read[1]))

    def _set_position(self, words: list[str]) -> None:
        read = read_position(words)
        if read is None:
            self._complain("position wants: position startpos | fen FEN, then moves MOVE ...")
            return
        self._later(lambda: self._move_to(*read))

    def _go(self, words: list[str]) -> None:
        go = read_go(words)
        self._stop([])  # a search still under way answers before the next begins
        if go.perft is not None:
            self._perft([str(go.perft)])
            return
        thinking = Thinking(go, self._say)
        self._thinking = thinking
        self._later(lambda: self._think(thinking))

    def _stop(self, _: list[str]) -> None:
        if self._thinking is not None:
            self._thinking.stop()
        self._stop_count = time.monotonic()

    _stop_count = 0.0
    """When somebody last said stop."""

    def _ponderhit(self, _: list[str]) -> None:
        if self._thinking is not None:
            self._thinking.ponderhit()

    def _quit(self, _: list[str]) -> bool:
        return False

    # Commands for people

    def _draw(self, _: list[str]) -> None:
        self._later(lambda: self._say(console.draw(self._ready_engine().board())))

    def _eval(self, _: list[str]) -> None:
        def judge() -> None:
            engine = self._ready_engine()
            over = "the game is over"
            self._say([over] if engine.is_over else console.judge(engine))

        self._later(judge)

    def _moves(self, _: list[str]) -> None:
        def tell() -> None:
            engine = self._ready_engine()
            self._say(["the game is over"] if engine.is_over else console.table(engine.result()))

        self._later(tell)

    def _graph(self, words: list[str]) -> None:
        depth = int(words[0]) if words and words[0].isdigit() and len(words[0]) < 6 else None
        rest = words if depth is None else words[1:]

        def export() -> None:
            graph = self._ready_engine().graph(2 if depth is None else depth)
            if not rest:
                self._say(graph.to_dot().splitlines())
                return
            path = " ".join(rest)
            graph.write(path)
            self._say([f"info string {len(graph.nodes)} nodes written to {path}"])

        self._later(export)

    def _perft(self, words: list[str]) -> None:
        try:
            depth = int(words[0]) if words else 1
        except ValueError:
            depth = 0
        if not 1 <= depth <= 20:
            self._complain("perft wants a depth from 1 to 20")
            return
        asked = time.monotonic()

        def count() -> None:
            engine = self._ready_engine()
            begun = time.monotonic()
            counted = console.perft(
                engine.variant,
                engine.chess960,
                engine.position,
                depth,
                lambda: self._stop_count > asked or self._quitting,
            )
            if counted is None:
                self._say(["info string perft was stopped"])
                return
            total, parts = counted
            taken = max(time.monotonic() - begun, 1e-6)
            said = [f"{move}: {number}" for move, number in parts.items()]
            self._say([*said, "", f"Nodes searched: {total}", f"Nodes/second: {int(total / taken)}"])

        self._later(count)

    def _bench(self, words: list[str]) -> None:
        simulations = int(words[0]) if words and words[0].isdigit() and len(words[0]) < 10 else 10_000
        asked = time.monotonic()

        def measure() -> None:
            from anabranch.bench.workload import positions

            engine = self._ready_engine()
            own = Engine(engine.variant, chess960=engine.chess960, evaluator=engine.evaluator)
            nodes, taken = 0, 0.0
            variant = engine.variant if engine.variant in ("chess", "crazyhouse") else None
            for fen in positions(variant, 6) if variant else (engine.position,):
                if self._stop_count > asked or self._quitting:
                    self._say(["info string bench was stopped"])
                    return
                own.forget()
                begun = time.monotonic()
                result = own.search(fen, simulations=max(1, simulations))
                taken += time.monotonic() - begun
                nodes += result.statistics.simulations
                self._say([f"info string {fen}: {result.best_move}"])
            self._say([f"Nodes searched: {nodes}", f"Nodes/second: {int(nodes / max(taken, 1e-6))}"])

        self._later(measure)

    def _help(self, _: list[str]) -> None:
        self._say(console.HELP.splitlines())

    # The thread that works

    def _later(self, job: Callable[[], None]) -> None:
        with self._counting:
            self._pending += 1
        self._jobs.put(job)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except (AnabranchError, OSError) as error:
                self._complain(str(error))
            except Exception as error:
                # A fault of ours must not take the game away.
                self._complain(f"internal error: {type(error).__name__}: {error}")
            finally:
                with self._counting:
                    self._pending -= 1

    def _prepare(self) -> None:
        self._ready_engine()

    def _ready_engine(self) -> Engine:
        """The engine, made when it is first wanted."""
        if self._engine is None:
            self._make_engine()
        assert self._engine is not None
        return self._engine

    def _make_engine(self) -> None:
        """An engine for the variant, with the evaluator that the options ask for, or the next best."""
        options = self._options
        try:
            evaluator = self._open_evaluator()
            engine = Engine(options.variant, chess960=options.is_chess960, evaluator=evaluator)
        except (AnabranchError, OSError) as error:
            self._complain(f"{error}; the engine goes on with its own evaluator")
            engine = Engine(options.variant, chess960=options.is_chess960)
        self._engine, self._configured = engine, None
        self._configure()
        try:
            engine.position = (self._position[0] or "startpos", self._position[1])
        except AnabranchError:
            self._position = (None, [])  # a position of another variant
            engine.position = "startpos"

    def _open_evaluator(self) -> str | _core.Network | AnyEvaluator | None:
        options = self._options
        asked, backend = options.evaluator, options.text("Backend")
        if backend == "material":
            return "material"
        threads = options.number("Threads")
        if backend == "auto":
            return None if asked is None else resolve_evaluator(asked, options.variant, threads=threads)
        if asked is None:
            shipped = bundled(options.variant, "onnx")
            if shipped is None:
                raise EvaluatorError(f"no ONNX network for {options.variant} comes with the package")
            asked = str(shipped)
        return resolve_evaluator(asked, options.variant, runtime=backend, threads=threads)

    def _set(self, option: Option, text: str) -> None:
        old = self._options.text(option.name) if option.kind != "button" else ""
        if option.kind == "button":
            if self._engine is not None:
                self._engine.forget()
            return
        self._options.set(option, text)
        changed = self._options.text(option.name) != old
        match option.name:
            case "Debug Log File":
                self._open_log()
            case "BookFile" if changed:
                self._open_book()
            case "SyzygyPath":
                self._open_tables()
                self._configure()
            case "UCI_Variant" | "UCI_Chess960" if changed:
                self._engine = None
            case "EvalFile" | "WeightsFile" | "Backend" if changed:
                self._change_evaluator()
            case _:
                self._configure()

    def _change_evaluator(self) -> None:
        """Take the evaluator that the options ask for; where that fails, the old one stays in use."""
        if self._engine is None:
            return
        evaluator = self._open_evaluator()
        own = "network" if bundled(self._options.variant) else "material"
        self._engine.configure(evaluator=own if evaluator is None else evaluator)
        self._configure()

    def _configure(self, handicap: Handicap | None = None) -> None:
        """Give the engine the settings that the options ask for."""
        options = self._options
        wanted = (options.revision, self._tables[1], handicap)
        if self._engine is None or (wanted == self._configured and handicap is None):
            return
        evaluator = self._engine.evaluator
        settings = asdict(resolve(options.preset, options.variant, evaluator, options.settings))
        del settings["evaluator"]
        analysis = options.flag("UCI_AnalyseMode")
        settings |= {
            "threads": options.number("Threads"),
            "memory": options.number("Hash") * MEGABYTE,
            "contempt": 0.0 if analysis else value_of(options.number("Contempt"), options.variant),
            "tablebase_men": options.number("SyzygyProbeLimit"),
            "tablebase_fifty": options.flag("Syzygy50MoveRule"),
            "improve": settings["improve"] or (handicap is None and "improve" not in options.settings),
        }
        if handicap is not None:
            settings |= handicap.settings(self._random)
        self._engine.configure(tablebases=self._tables[1], **settings)
        self._configured = wanted

    def _open_log(self) -> None:
        path = self._options.text("Debug Log File")
        old, self._log = self._log, None
        if old is not None:
            old.close()
        if path:
            self._log = Log(path)

    def _open_book(self) -> None:
        path = self._options.text("BookFile")
        self._book = None
        if path:
            self._book = (path, Book(path))

    def _open_tables(self) -> None:
        path = self._options.text("SyzygyPath")
        if path == DEFAULT:
            path = str(default_directory())
        if path == self._tables[0]:
            return
        there = [folder for folder in read_paths(path) if os.path.isdir(folder)]
        for folder in read_paths(path):
            if folder not in there:  # in words that no interface takes for a crash
                self._complain(f"SyzygyPath: there is no folder {folder}")
        tables = open_tablebases(there) if there else None
        self._tables = (path, tables)
        if tables is not None:
            for problem in tables.problems[:20]:
                self._complain(problem)
            found = f"{len(tables.files)} tablebase files, up to {tables.men} men"
            self._say([f"info string {found}"])

    def _new_game(self) -> None:
        self._last = None
        self._spending = Spending()
        if self._engine is not None:
            self._engine.forget()

    def _move_to(self, fen: str | None, moves: list[str]) -> None:
        if strange := next((move for move in moves if not is_move(move)), None):
            raise MoveError(f"the move {strange[:LONGEST_ECHO]!r} is not written like e2e4, e7e8q or N@f7")
        engine = self._ready_engine()
        engine.position = ("startpos" if fen is None else fen, moves)
        self._position = (fen, moves)

    def _think(self, thinking: Thinking) -> None:
        legal: tuple[str, ...] = ()
        try:
            engine = self._ready_engine()
            legal = engine.legal_moves or _moves_of_the_dead(engine)
            terms = self._terms(thinking.go, engine, legal)
            if terms.depth is None and self._plays_from_book(thinking, engine, terms):
                return
            handicap = self._handicap()
            if handicap is not None:
                terms = self._held_back(terms, handicap)
            self._configure(handicap)
            thinking.think(engine, terms)
            self._last = thinking
            if terms.allocation is not None and thinking.spent is not None and handicap is None:
                clock = thinking.go.clock(white=engine.position.split()[1] == "w")
                assert clock is not None
                after = sum(clock) / 1000 - thinking.spent
                self._spending.end(terms.allocation.optimum, thinking.spent, after, thinking.late)
        finally:
            if not thinking.is_over:
                thinking.give_up(legal or self._some_moves())

    def _some_moves(self) -> tuple[str, ...]:
        """Legal moves by somebody else's rules, where our own engine cannot be asked."""
        fen, moves = self._position
        with suppress(ValueError):
            rules = chess.variant.find_variant(self._options.variant)
            board = rules(fen or rules.starting_fen, chess960=self._options.is_chess960)
            for move in moves:
                board.push_uci(move)
            return tuple(move.uci() for move in board.legal_moves)
        return ()

    def _handicap(self) -> Handicap | None:
        options = self._options
        if not options.flag("UCI_LimitStrength") or options.flag("UCI_AnalyseMode"):
            return None
        return Handicap.of(options.number("UCI_Elo"))

    def _held_back(self, terms: Terms, handicap: Handicap) -> Terms:
        """The same with a handicap."""
        stray = handicap.stray(terms.legal_moves, self._random)
        return replace(
            terms,
            simulations=min(terms.simulations or handicap.simulations, handicap.simulations),
            root_moves=terms.root_moves if stray is None else (stray,),
        )

    def _terms(self, go: Go, engine: Engine, legal: tuple[str, ...]) -> Terms:
        """What `go` means in this position with these options."""
        options = self._options
        over = engine.is_over
        root_moves = tuple(move for move in go.searchmoves if move in legal)
        if unknown := [move for move in go.searchmoves if move not in legal]:
            self._complain(f"these moves are not legal here: {' '.join(unknown)[:LONGEST_ECHO]}")
        allocation = self._allocation(go, engine.position.split(), len(root_moves or legal))
        network = engine.evaluator
        shows_wdl = options.flag("UCI_ShowWDL")
        raw = None
        if shows_wdl and isinstance(network, _core.Network) and not over:
            raw = network.evaluate([engine.position])[0][1]
        look = info.Look(
            options.variant,
            options.number("MultiPV"),
            shows_wdl,
            raw,
            options.number("Hash") * MEGABYTE,
        )
        movetime = None
        if go.movetime is not None:
            slack = min(options.number("Move Overhead") / 5, max(0, go.movetime) / 10)
            movetime = max(0.0, go.movetime - slack) / 1000
        return Terms(
            look=look,
            legal_moves=root_moves or legal,
            is_dead=over and bool(legal),
            allocation=allocation,
            movetime=movetime,
            simulations=go.nodes,
            depth=go.depth,
            mate=go.mate,
            root_moves=root_moves,
            last_value=self._last_value(engine),
            verbose=options.flag("VerboseMoveStats"),
            game_over_score=_ending_score(engine) if over else "cp 0",
        )

    def _allocation(self, go: Go, position: list[str], choices: int) -> Allocation | None:
        """Time for a move in the position of these FEN fields."""
        clock = go.clock(white=position[1] == "w")
        if clock is None:
            return None
        left, increment = clock
        overhead = self._options.number("Move Overhead") / 1000
        self._spending.begin(left / 1000)
        given = allocate(
            left / 1000,
            increment / 1000,
            go.movestogo,
            played=int(position[-1]) - 1,
            variant=self._options.variant,
            overhead=overhead,
            lost=self._spending.lost(overhead),
            reserve=self._spending.reserve,
            use=self._spending.use,
        )
        if choices == 1:
            given = Allocation(given.optimum / 10, given.maximum / 10)
        if self._options.flag("Ponder"):
            # Time is won back on the opponent's moves.
            given = Allocation(min(given.maximum, given.optimum * 1.2), given.maximum)
        if self._is_debugging:
            self._say([f"info string optimum {given.optimum:.3f} s maximum {given.maximum:.3f} s"])
        return given

    def _last_value(self, engine: Engine) -> float | None:
        """The value of the position two plies ago, if that is what was searched last."""
        if self._last is None or self._last.final is None:
            return None
        final = self._last.final
        same_side = final.position.split()[1] == engine.position.split()[1]
        return final.value if same_side else None

    def _plays_from_book(self, thinking: Thinking, engine: Engine, terms: Terms) -> bool:
        options, go = self._options, thinking.go
        if self._book is None or not options.flag("OwnBook") or options.flag("UCI_AnalyseMode"):
            return False
        if go.is_endless or go.ponder or go.mate is not None or not terms.legal_moves:
            return False
        move = self._book[1].choose(engine.board(), self._random)
        if move is None or move.uci() not in terms.legal_moves:
            return False
        self._say(["info string book move"])
        only = Terms(look=terms.look, legal_moves=(move.uci(),), simulations=16, root_moves=(move.uci(),))
        thinking.think(engine, only)
        return True

    # Speech

    def _say(self, lines: list[str]) -> None:
        """Say lines, all of them together."""
        with self._speaking:
            for line in lines:
                if self._log is not None:
                    self._log.write("<<", line)
                self._sink(line)

    def _complain(self, sentence: str) -> None:
        text = " ".join(sentence.split())
        self._say([f"info string {text}"])


def _moves_of_the_dead(engine: Engine) -> tuple[str, ...]:
    """The moves of a game that nobody can win any more: some interfaces play on, and want one."""
    if not engine.is_over:
        return ()
    board = engine.board()
    return () if board.is_variant_end() else tuple(move.uci() for move in board.legal_moves)


def _ending_score(engine: Engine) -> str:
    """The score of a game that is over: mated, stalemated, or whatever the variant knows."""
    ended = engine.ending
    if ended is None or ended == 0.0:
        return "cp 0"
    return "mate 0" if ended < 0.0 else "mate 1"


_Command = Callable[[UciSession, list[str]], bool | None]

_COMMANDS: dict[str, _Command] = {
    "uci": UciSession._uci,
    "isready": UciSession._isready,
    "ucinewgame": UciSession._ucinewgame,
    "debug": UciSession._debug,
    "setoption": UciSession._setoption,
    "position": UciSession._set_position,
    "go": UciSession._go,
    "stop": UciSession._stop,
    "ponderhit": UciSession._ponderhit,
    "quit": UciSession._quit,
    "d": UciSession._draw,
    "eval": UciSession._eval,
    "moves": UciSession._moves,
    "graph": UciSession._graph,
    "perft": UciSession._perft,
    "bench": UciSession._bench,
    "help": UciSession._help,
}
