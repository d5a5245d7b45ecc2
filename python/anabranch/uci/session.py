"""The dialogue: `UciSession.handle` takes a line and never waits.

Everything that takes time or changes the engine is a job of the worker thread, so that commands have their
effect in the order in which they came. What must not wait is answered at once: isready, stop, ponderhit.
Lines go out through the function that was given; nothing here knows processes or file descriptors.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from anabranch import __version__
from anabranch.engine import Engine
from anabranch.errors import MoveError
from anabranch.human import choose, opinions
from anabranch.limits import Limits
from anabranch.uci import console
from anabranch.uci.commands import LONGEST_ECHO, is_move, read_go, read_position, read_setoption
from anabranch.uci.engine import ConfiguredEngine
from anabranch.uci.options import UciOptions
from anabranch.uci.output import Output, Sink
from anabranch.uci.search import UciSearch
from anabranch.uci.terms import BOOK_SIMULATIONS, Terms, TermsMaker, playable_moves
from anabranch.uci.worker import Worker


class UciSession:
    """A UCI engine without a process.

    >>> lines = []
    >>> with UciSession(lines.append) as session:
    ...     for line in ("uci", "position startpos moves e2e4", "go nodes 100"):
    ...         _ = session.handle(line)
    ...     _ = session.wait()
    >>> lines[-1].split()[0]
    'bestmove'
    """

    def __init__(self, sink: Sink) -> None:
        self._output = Output(sink)
        self._options = UciOptions()
        self._search: UciSearch | None = None
        self._stopped_at = 0.0
        self._quitting = False
        # These belong to the worker.
        self._random = random.Random()
        self._configured = ConfiguredEngine(self._options, self._output, self._random)
        self._terms = TermsMaker(self._options, self._output, self._random)
        self._worker = Worker(self._output.complain)

    @property
    def engine(self) -> Engine:
        """The engine behind it, once all commands have had their effect."""
        self.wait()
        return self._configured.ready()

    def handle(self, line: str) -> bool:
        """Take a line; false for `quit`. Never waits, never raises."""
        self._output.note_input(line.rstrip("\r\n"))
        words = line.split()
        while words and words[0] not in _COMMANDS and words[0] not in console.COMMANDS:
            words = words[1:]  # the protocol wants unknown words passed over
        if not words:
            if line.strip():
                self._output.complain(f"unknown command: {line.strip()[:LONGEST_ECHO]}")
            return True
        if words[0] == "quit":
            return False
        if (command := _COMMANDS.get(words[0])) is not None:
            command(self, words[1:])
        else:
            self._run_console(words[0], words[1:])
        return True

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until all commands have had their effect; whether they have."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            search = self._search
            if self._worker.is_idle and (search is None or search.is_over):
                return True
            time.sleep(0.002)
        return False

    def close(self, seconds: float = 2.0) -> None:
        """End the search or command under way."""
        self._quitting = True
        self._stop([])
        self._worker.close(seconds)
        self._output.close()

    def __enter__(self) -> UciSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Commands; each gets the words after its own

    def _uci(self, _: list[str]) -> None:
        names = [f"id name Anabranch {__version__}", "id author the Anabranch developers"]
        self._output.write([*names, *(option.declaration for option in self._options.all()), "uciok"])

    def _isready(self, _: list[str]) -> None:
        self._worker.submit(self._configured.ready)
        self._output.write(["readyok"])

    def _ucinewgame(self, _: list[str]) -> None:
        def forget() -> None:
            self._terms.new_game()
            self._configured.forget()

        self._worker.submit(forget)

    def _debug(self, words: list[str]) -> None:
        self._terms.is_debugging = words[:1] != ["off"]

    def _setoption(self, words: list[str]) -> None:
        read = read_setoption(words)
        if read is None:
            self._output.complain("setoption wants: setoption name NAME value VALUE")
            return
        option = self._options.find(read[0])
        if option is None:
            self._output.complain(f"there is no option {read[0][:LONGEST_ECHO]!r}")
            return
        self._worker.submit(lambda: self._configured.set(option, read[1]))

    def _position(self, words: list[str]) -> None:
        read = read_position(words)
        if read is None:
            self._output.complain("position wants: position startpos | fen FEN, then moves MOVE ...")
            return
        fen, moves = read

        def place() -> None:
            if strange := next((move for move in moves if not is_move(move)), None):
                raise MoveError(
                    f"the move {strange[:LONGEST_ECHO]!r} is not written like e2e4, e7e8q or N@f7"
                )
            self._configured.place(fen, moves)

        self._worker.submit(place)

    def _go(self, words: list[str]) -> None:
        go = read_go(words)
        self._stop([])  # a search still under way answers before the next begins
        if go.perft is not None:
            self._run_console("perft", [str(go.perft)])
            return
        search = self._search = UciSearch(go, self._output.write)
        self._worker.submit(lambda: self._run(search))

    def _stop(self, _: list[str]) -> None:
        if self._search is not None:
            self._search.stop()
        self._stopped_at = time.monotonic()

    def _ponderhit(self, _: list[str]) -> None:
        if self._search is not None:
            self._search.ponderhit()

    def _run_console(self, name: str, words: list[str]) -> None:
        """A command for people."""
        begun = time.monotonic()

        def is_stopped() -> bool:
            return self._stopped_at > begun or self._quitting

        def run() -> None:
            engine = self._configured.ready()
            for lines in console.COMMANDS[name](engine, words, is_stopped):
                self._output.write(lines)

        self._worker.submit(run)

    # Jobs of the worker

    def _run(self, search: UciSearch) -> None:
        """Search and send `bestmove`, also after an error."""
        legal: tuple[str, ...] = ()
        try:
            engine = self._configured.ready()
            legal = playable_moves(engine)
            handicap = self._terms.handicap()
            terms = self._terms.make(search.go, engine, legal, handicap)
            if self._terms.uses_book(search.go) and self._play_from_book(search, engine, terms):
                return
            temperature = self._terms.policy_temperature(search.go)
            if temperature is not None and self._play_from_policy(search, engine, terms, temperature):
                return
            self._configured.configure(handicap)
            search.run(engine, terms)
            spent = search.spent if handicap is None else None
            self._terms.end(search.go, terms, engine.position, search.final, spent, search.late)
        finally:
            if not search.is_over:
                search.give_up(legal or self._configured.fallback_moves())

    def _play_from_book(self, search: UciSearch, engine: Engine, terms: Terms) -> bool:
        """Answer with a move of the opening book; whether there is one."""
        if self._configured.book is None:
            return False
        found = self._configured.book.choose(engine.board(), self._random)
        if found is None or (move := found.uci()) not in terms.legal_moves:
            return False
        self._output.complain("book move")
        _play_at_once(search, engine, terms, move, BOOK_SIMULATIONS)
        return True

    def _play_from_policy(self, search: UciSearch, engine: Engine, terms: Terms, temperature: float) -> bool:
        """Answer with a move of the policy; whether there is one to choose."""
        if engine.is_over or not terms.legal_moves:
            return False
        if isinstance(engine.evaluator, str):
            self._output.complain(f"the evaluator {engine.evaluator} has no policy, so the engine searches")
            return False
        [opinion] = opinions(engine.evaluator, [engine.board()], engine.variant, chess960=engine.chess960)
        policy = {move: share for move, share in opinion.policy.items() if move in terms.legal_moves}
        move = choose(policy, self._random, temperature)
        self._output.complain(f"policy move, probability {100 * opinion.policy[move]:.1f} %")
        _play_at_once(search, engine, terms, move, 1)
        return True


def _play_at_once(search: UciSearch, engine: Engine, terms: Terms, move: str, simulations: int) -> None:
    """Answer with a move, after a search for its score."""
    limits = Limits(simulations=simulations, root_moves=(move,))
    search.run(engine, Terms(format=terms.format, legal_moves=(move,), limits=limits))


_COMMANDS: dict[str, Callable[[UciSession, list[str]], None]] = {
    "uci": UciSession._uci,
    "isready": UciSession._isready,
    "ucinewgame": UciSession._ucinewgame,
    "debug": UciSession._debug,
    "setoption": UciSession._setoption,
    "position": UciSession._position,
    "go": UciSession._go,
    "stop": UciSession._stop,
    "ponderhit": UciSession._ponderhit,
    "quit": UciSession._stop,
}
