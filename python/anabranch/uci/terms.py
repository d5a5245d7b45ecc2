"""What `go` means: its limits, the time for the move, the handicap and the opening book, worked out from the
command, the options and the position.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from anabranch.clock import Allocation, ClockHistory, allocate
from anabranch.engine import Engine
from anabranch.limits import Limits
from anabranch.result import Progress
from anabranch.strength import Handicap
from anabranch.uci.commands import LONGEST_ECHO, Go
from anabranch.uci.info import InfoFormat
from anabranch.uci.options import MEGABYTE, UciOptions
from anabranch.uci.output import Output

ENDLESS = 1e8
"""Seconds of a search that only `stop` ends."""
BOOK_SIMULATIONS = 16
"""Simulations of a search for a book move: enough for a score."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How to search and to answer."""

    format: InfoFormat
    legal_moves: tuple[str, ...]
    """The moves that may be played; none when the game is over."""
    limits: Limits
    """All but the time, which is worked out when the search begins."""
    solves: bool = False
    """Whether the solver looks for a mate before the search does."""
    is_dead: bool = False
    """Whether the game is drawn whatever is played, so that there is nothing to search."""
    allocation: Allocation | None = None
    """Time by the clock."""
    movetime: float | None = None
    """Time by `movetime`, in seconds."""
    depth: int | None = None
    last_value: float | None = None
    """Value of the position a move ago."""
    verbose: bool = False
    game_over_score: str = "cp 0"


class TermsMaker:
    """Makes the terms of each search of a game, and remembers how the clock was used."""

    def __init__(self, options: UciOptions, output: Output, random: Random) -> None:
        self.is_debugging = False
        self._options = options
        self._output = output
        self._random = random
        self.new_game()

    def new_game(self) -> None:
        """Forget the clock and the search of the last game."""
        self._last: Progress | None = None
        self._history = ClockHistory()

    def make(self, go: Go, engine: Engine, legal: tuple[str, ...], handicap: Handicap | None) -> Terms:
        """The terms of `go` in the position of the engine."""
        options, is_over = self._options, engine.is_over
        root_moves = tuple(move for move in go.searchmoves if move in legal)
        if unknown := [move for move in go.searchmoves if move not in legal]:
            self._output.complain(f"these moves are not legal here: {' '.join(unknown)[:LONGEST_ECHO]}")
        movetime = None
        if go.movetime is not None:
            slack = min(options.number("Move Overhead") / 5, max(0, go.movetime) / 10)
            movetime = max(0.0, go.movetime - slack) / 1000
        terms = Terms(
            format=self._format(),
            legal_moves=root_moves or legal,
            limits=Limits(simulations=go.nodes, time=ENDLESS, mate=go.mate, root_moves=root_moves),
            solves=go.mate is not None and not root_moves and engine.settings.solver,
            is_dead=is_over and bool(legal),
            allocation=self._allocation(go, engine.position.split(), len(root_moves or legal)),
            movetime=movetime,
            depth=go.depth,
            last_value=self._last_value(engine),
            verbose=options.flag("VerboseMoveStats"),
            game_over_score=_ending_score(engine) if is_over else "cp 0",
        )
        return terms if handicap is None else self._weaken(terms, handicap)

    def end(
        self, go: Go, terms: Terms, position: str, final: Progress | None, spent: float | None, late: float
    ) -> None:
        """A search has answered. `spent` is time of the clock where nothing else could have ended it."""
        self._last = final
        clock = go.clock(white=position.split()[1] == "w")
        if terms.allocation is not None and spent is not None and clock is not None:
            self._history.end(terms.allocation.optimum, spent, sum(clock) / 1000 - spent, late)

    def handicap(self) -> Handicap | None:
        """What limits the strength, if anything does."""
        options = self._options
        if not options.flag("UCI_LimitStrength") or options.flag("UCI_AnalyseMode"):
            return None
        return Handicap.of(options.number("UCI_Elo"))

    def uses_book(self, go: Go) -> bool:
        """Whether a move may come from the opening book."""
        options = self._options
        if not options.flag("OwnBook") or options.flag("UCI_AnalyseMode"):
            return False
        return not (go.is_endless or go.ponder) and go.mate is None and go.depth is None

    def policy_temperature(self, go: Go) -> float | None:
        """The temperature of a move that is drawn from the policy without search; none for a search."""
        if self._options.flag("UCI_AnalyseMode") or go.is_endless or go.ponder or go.mate is not None:
            return None
        return self._options.policy_temperature

    def _weaken(self, terms: Terms, handicap: Handicap) -> Terms:
        stray = handicap.stray(terms.legal_moves, self._random)
        limits = terms.limits
        most = min(limits.simulations or handicap.simulations, handicap.simulations)
        root_moves = limits.root_moves if stray is None else (stray,)
        limits = replace(limits, simulations=most, root_moves=root_moves)
        return replace(terms, limits=limits, solves=False)

    def _format(self) -> InfoFormat:
        options = self._options
        memory = options.number("Hash") * MEGABYTE
        return InfoFormat(options.variant, options.number("MultiPV"), options.flag("UCI_ShowWDL"), memory)

    def _allocation(self, go: Go, position: list[str], choices: int) -> Allocation | None:
        """Time for a move in the position of these FEN fields."""
        clock = go.clock(white=position[1] == "w")
        if clock is None:
            return None
        left, increment = clock
        overhead = self._options.number("Move Overhead") / 1000
        self._history.begin(left / 1000)
        given = allocate(
            left / 1000,
            increment / 1000,
            go.movestogo,
            played=int(position[-1]) - 1,
            variant=self._options.variant,
            overhead=overhead,
            lost=self._history.lost(overhead),
            reserve=self._history.reserve,
            use=self._history.use,
        )
        if choices == 1:
            given = Allocation(given.optimum / 10, given.maximum / 10)
        if self._options.flag("Ponder"):
            # Time is won back on the opponent's moves.
            given = Allocation(min(given.maximum, given.optimum * 1.2), given.maximum)
        if self.is_debugging:
            self._output.complain(f"optimum {given.optimum:.3f} s maximum {given.maximum:.3f} s")
        return given

    def _last_value(self, engine: Engine) -> float | None:
        """The value of the position two plies ago, if that is what was searched last."""
        if self._last is None:
            return None
        same_side = self._last.position.split()[1] == engine.position.split()[1]
        return self._last.value if same_side else None


def playable_moves(engine: Engine) -> tuple[str, ...]:
    """The legal moves; of a dead draw too, because some interfaces play on and need one."""
    if not engine.is_over:
        return engine.legal_moves
    board = engine.board()
    return () if board.is_variant_end() else tuple(move.uci() for move in board.legal_moves)


def _ending_score(engine: Engine) -> str:
    """The score of a game that is over: mated, stalemated, or as the rules of the variant have it."""
    ended = engine.ending
    if ended is None or ended == 0.0:
        return "cp 0"
    return "mate 0" if ended < 0.0 else "mate 1"
