"""One search from `go` to `bestmove`: who may end it, when it ends, and that it answers exactly once.

Three threads meet here. The one that reads commands calls `stop` and `ponderhit`, which never wait. The one
that works calls `think`, and the search tells it what it finds. A third keeps the time: it ends the search at
the deadline, and where the search does not come back at once (a sweep of a full graph, a slow network) it
answers from the last news. So a move is there in time whatever the search is doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Thread

from anabranch.clock import Allocation, Look, Pace
from anabranch.engine import Engine
from anabranch.errors import AnabranchError
from anabranch.result import Progress
from anabranch.uci import info
from anabranch.uci.commands import Go

GRACE = 0.02
"""Seconds that a search has to come back after a stop."""
ENDLESS = 1e8
"""Seconds that nobody waits."""
BRIEF = 0.04
"""Seconds for which nobody needs to keep the time: the search ends by itself, and threads cost time."""
INSTANT = 0.004
"""Seconds that are not worth a search where there is an earlier one to answer from."""
LEAST = 16
"""Simulations of a search that was stopped before it began."""
SHORTENING = 0.1
"""Seconds for the search for a shorter mate once there is one."""
NEWS = 0.5
"""Seconds between two infos when nothing changes."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a search is bound to, worked out from `go`, the options and the position."""

    look: info.Look
    legal_moves: tuple[str, ...]
    """The moves that may be played; none when the game is over."""
    is_dead: bool = False
    """Whether the game is drawn whatever is played, so that there is nothing to search."""
    allocation: Allocation | None = None
    """Time by the clock."""
    movetime: float | None = None
    """Time by order, in seconds."""
    simulations: int | None = None
    depth: int | None = None
    mate: int | None = None
    root_moves: tuple[str, ...] = ()
    last_value: float | None = None
    """Value of the position a move ago."""
    verbose: bool = False
    offers_ponder: bool = True
    game_over_score: str = "cp 0"


@dataclass(slots=True)
class Thinking:
    """A search that was asked for. Made when `go` is read, so that a stop finds it from then on."""

    go: Go
    say: Callable[[list[str]], None]
    """Says lines, all of them together."""
    begun: float = field(default_factory=time.monotonic)
    final: Progress | None = None
    """What was answered from, for the next search to compare with."""
    spent: float | None = None
    """Seconds of our clock, where nothing but the clock could have ended the search."""
    late: float = 0.0
    """Seconds from the deadline to the answer."""
    _state: Condition = field(default_factory=Condition)
    _engine: Engine | None = None
    _terms: Terms | None = None
    _pace: Pace | None = None
    _latest: Progress | None = None
    _told: tuple[str, float] = ("", 0.0)
    _deadline: float | None = None
    _due: float | None = None
    """The deadline, or where it was set to the past, when that was."""
    _clock_from: float = 0.0
    _stopped: bool = False
    _is_enough: bool = False
    _is_solved: bool = False
    _pondering: bool = False
    _answered: bool = False
    _searched: bool = False

    def __post_init__(self) -> None:
        self._pondering = self.go.ponder
        self._clock_from = self.begun

    # For who reads commands; nothing of this waits

    def stop(self) -> None:
        """End it now."""
        with self._state:
            self._stopped = True
            self._interrupt()

    def ponderhit(self) -> None:
        """The move that was expected has been played: from now on our own clock runs."""
        with self._state:
            if not self._pondering:
                return
            self._pondering = False
            self._clock_from = time.monotonic()
            self._set_deadline()
            self._state.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether it has answered."""
        return self._answered

    def wait(self, seconds: float) -> bool:
        """Wait until it has answered; whether it has."""
        with self._state:
            return self._state.wait_for(lambda: self._answered, seconds)

    # For who works

    def think(self, engine: Engine, terms: Terms) -> None:
        """Search and answer. Returns when the engine is free again."""
        with self._state:
            self._engine, self._terms = engine, terms
            if terms.allocation is not None:
                self._pace = Pace(terms.allocation, terms.last_value)
            self._set_deadline()
        if not terms.legal_moves or terms.is_dead:
            self._wait_for_leave()
            self._answer(None) if terms.legal_moves else self._answer_game_over()
            return
        longest = self._longest()
        if longest > BRIEF:
            Thread(target=self._keep_time, name="anabranch-clock", daemon=True).start()
        elif longest < INSTANT and self._answer_at_once(engine, terms):
            return
        try:
            result = engine.search(
                simulations=LEAST if self._stopped else terms.simulations,
                time=longest,
                mate=terms.mate,
                lines=max(1, terms.look.lines),
                root_moves=terms.root_moves or None,
                progress=self._hear,
                progress_interval=self._interval(),
            )
        except AnabranchError as error:
            self.say([f"info string {error}"])
            self._wait_for_leave()
            self._answer(self._latest)
        else:
            with self._state:
                self._latest = result
            if result.remark is not None:
                self.say([f"info string {result.remark}"])
            self._wait_for_leave()
            self._answer(result)

    def _answer_at_once(self, engine: Engine, terms: Terms) -> bool:
        """Answer from what earlier searches left in the graph; whether they left anything."""
        if terms.root_moves:
            return False
        found = engine.result(max(1, terms.look.lines))
        if not any(row.visits for row in found.moves):
            return False
        with self._state:
            self._searched = True
        self._answer(found)
        return True

    def give_up(self, legal_moves: tuple[str, ...]) -> None:
        """Answer without a search, because something went wrong: the first legal move."""
        with self._state:
            if self._answered:
                return
            self._answered = True
            move = legal_moves[0] if legal_moves else None
            score = [] if move is None else [f"info depth 1 score cp 0 nodes 0 time 0 pv {move}"]
            self.say([*score, f"bestmove {move or '(none)'}"])
            self._state.notify_all()

    # How it does it

    def _interrupt(self) -> None:
        self._state.notify_all()
        if self._engine is not None and not self._searched:
            self._engine.stop()

    def _longest(self) -> float:
        """Seconds after which the search ends by itself, without anybody waking up for it."""
        with self._state:
            terms = self._terms
            if terms is None or self._pondering or self.go.is_endless:
                return ENDLESS
            ends = [] if terms.movetime is None else [terms.movetime]
            if (given := terms.allocation) is not None:
                ends.append(given.optimum if given.maximum < BRIEF else given.maximum)
            return max(1e-4, self._clock_from + min(ends) - time.monotonic()) if ends else ENDLESS

    def _interval(self) -> float:
        if self._pace is None:
            return 0.1
        return min(0.1, max(0.002, self._pace.allocation.optimum / 8))

    def _set_deadline(self) -> None:
        """When the time is up. Called with the state in hand."""
        terms = self._terms
        if terms is None or self._pondering:
            self._deadline = None
            return
        ends = []
        if terms.movetime is not None:
            ends.append(self._clock_from + terms.movetime)
        if self._pace is not None:
            # What was thought on the opponent's time counts: the optimum runs from the start, and only the
            # maximum from the moment when our clock did.
            optimum, maximum = self._pace.allocation.optimum, self._pace.allocation.maximum
            ends.append(min(max(self.begun + optimum, self._clock_from), self._clock_from + maximum))
        self._deadline = self._due = min(ends) if ends else None

    def _hear(self, progress: Progress) -> None:
        """What the search tells on its way."""
        terms = self._terms
        assert terms is not None
        now = time.monotonic()
        with self._state:
            if self._answered:
                return
            self._latest = progress
            best, told = self._told
            if progress.best_move != best or now - told >= NEWS:
                self._told = (progress.best_move, now)
                self._tell(progress, now)
            if terms.depth is not None and _reaches(progress, terms.depth):
                self._is_enough = True
                self._interrupt()
            if self._pace is not None and not self._pondering:
                self._judge(progress, now)
            if progress.solved is not None and not self.go.is_endless and terms.mate is None:
                # The proof in hand is enough to play; a shorter one is worth a moment.
                self._set_deadline_by(now + SHORTENING)

    def _set_deadline_by(self, end: float) -> None:
        if not self._pondering and (self._deadline is None or end < self._deadline) and not self._is_solved:
            self._is_solved = True
            self._deadline = self._due = end
            self._state.notify_all()

    def _judge(self, progress: Progress, now: float) -> None:
        """Move the deadline to where the pace has it."""
        assert self._pace is not None
        assert self._terms is not None
        look = Look(
            now - self.begun,
            progress.statistics.simulations,
            progress.best_move,
            progress.value,
            [(row.move, row.visits) for row in progress.moves],
        )
        until = self.begun + self._pace.until(look)
        latest = self._clock_from + self._pace.allocation.maximum
        deadline = min(until, latest)
        if self._is_solved and self._deadline is not None:
            deadline = min(deadline, self._deadline)
        if self._terms.movetime is not None:
            deadline = min(deadline, self._clock_from + self._terms.movetime)
        if deadline != self._deadline:
            self._deadline = deadline
            self._due = max(deadline, min(now, latest))
            self._state.notify_all()

    def _tell(self, progress: Progress, now: float) -> None:
        assert self._terms is not None
        lines = info.info_lines(progress, self._terms.look, now - self.begun)
        if self._terms.verbose and self._engine is not None:
            lines = [*info.move_table(progress, self._engine.settings), *lines]
        self.say(lines)

    def _waits(self) -> bool:
        """Whether an answer must wait for somebody's leave."""
        return (self.go.is_endless or self._pondering) and not self._stopped

    def _wait_for_leave(self) -> None:
        """Wait until the protocol allows an answer; repeat the news every second meanwhile."""
        with self._state:
            self._searched = True
            while self._waits() and not self._answered:
                if not self._state.wait(1.0) and self._latest is not None and self._waits():
                    self._tell(self._latest, time.monotonic())

    def _keep_time(self) -> None:
        """End the search at the deadline, and answer for it where it does not come back."""
        with self._state:
            while not self._answered and not self._stopped and not self._is_enough:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                if left is not None and left <= 0.0:
                    self._is_enough = True
                    self._interrupt()
                    break
                self._state.wait(left)
            has_answered = self._state.wait_for(lambda: self._answered, GRACE)
            if not has_answered and not self._searched and not self._waits():
                self._answer(self._latest)
            # A stop that came in the moment when the search began may have been lost on it.
            while self._engine is not None and not self._searched:
                self._engine.stop()
                self._state.wait(GRACE)

    def _answer(self, progress: Progress | None) -> None:
        """Say the last info and the move, once."""
        with self._state:
            if self._answered:
                return
            self._answered = True
            self.final = progress
            terms = self._terms
            assert terms is not None
            now = time.monotonic()
            if not self._stopped and self.go.has_only_a_clock:
                self.spent = now - self._clock_from
                self.late = max(0.0, now - self._due) if self._due is not None else 0.0
            if progress is None:
                move = terms.legal_moves[0]
                line = info.bare_line(move, terms.look, now - self.begun)
                self.say([line, f"bestmove {move}"])
            else:
                lines = info.info_lines(progress, terms.look, now - self.begun)
                if terms.verbose and self._engine is not None:
                    lines = [*info.move_table(progress, self._engine.settings), *lines]
                self.say([*lines, _best_move(progress, terms)])
            self._state.notify_all()

    def _answer_game_over(self) -> None:
        with self._state:
            if self._answered:
                return
            self._answered = True
            assert self._terms is not None
            self.say([f"info depth 0 score {self._terms.game_over_score}", "bestmove (none)"])
            self._state.notify_all()


def _best_move(progress: Progress, terms: Terms) -> str:
    line = progress.lines[0].moves if progress.lines else (progress.best_move,)
    if terms.offers_ponder and len(line) > 1 and line[0] == progress.best_move:
        return f"bestmove {progress.best_move} ponder {line[1]}"
    return f"bestmove {progress.best_move}"


def _reaches(progress: Progress, depth: int) -> bool:
    """Whether a search is as deep as was asked for. Where the mean length does not grow any more, the number
    of simulations counts.
    """
    return info.depth_of(progress) >= depth or progress.statistics.simulations >= 32 << min(depth, 40)
