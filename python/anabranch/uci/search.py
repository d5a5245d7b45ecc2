"""One search of the UCI engine, from `go` to `bestmove`.

Three threads meet here. The one that reads commands calls `stop` and `ponderhit`, which never wait. The
worker calls `run`. A third keeps the time: it ends the search at the deadline, and where the search does not
return at once (a sweep of a full graph, a slow network) it answers from the last report. So a move is there
in time whatever the state of the search is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Condition, Thread

from anabranch.engine import Engine
from anabranch.errors import AnabranchError
from anabranch.result import Progress, Result
from anabranch.uci import info, mates
from anabranch.uci.commands import Go
from anabranch.uci.deadline import BRIEF, SHORTENING, Deadline
from anabranch.uci.terms import Terms

STOP_TIMEOUT = 0.02
"""Seconds that a search has to return after a stop."""
INSTANT = 0.004
"""Below this time in seconds, answer from the previous search."""
LEAST = 16
"""Simulations of a search that was stopped before it began."""
REPEAT = 0.5
"""Seconds between two infos when nothing changes."""


class UciSearch:
    """A search for `go`. Made when the command is read, so that a stop finds it from then on."""

    def __init__(self, go: Go, write: Callable[[list[str]], None]) -> None:
        self.go = go
        self.final: Progress | None = None
        """The result behind the answer."""
        self.spent: float | None = None
        """Seconds of our clock, where nothing but the clock could have ended the search."""
        self.late = 0.0
        """Seconds from the deadline to the answer."""
        self._write = write
        """Writes lines, all of them together."""
        self._begun = time.monotonic()
        self._state = Condition()
        self._deadline = Deadline(go, self._begun)
        self._engine: Engine | None = None
        self._terms: Terms | None = None
        self._latest: Progress | None = None
        self._shown: tuple[str, float] = ("", 0.0)
        self._stopped = False
        self._is_enough = False
        self._answered = False
        self._searched = False

    # For the thread that reads commands; nothing of this waits

    def stop(self) -> None:
        """End it now."""
        with self._state:
            self._stopped = True
            self._interrupt()

    def ponderhit(self) -> None:
        """The move that was expected has been played: from now on our own clock runs."""
        with self._state:
            if self._deadline.is_pondering:
                self._deadline.ponderhit(time.monotonic())
                self._state.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether it has answered."""
        return self._answered

    # For the worker

    def run(self, engine: Engine, terms: Terms) -> None:
        """Search and answer. Returns when the engine is free again."""
        with self._state:
            self._engine, self._terms = engine, terms
            self._deadline.start(terms)
            longest = self._deadline.longest(time.monotonic())
        if not terms.legal_moves or terms.is_dead:
            self._wait_for_permission()
            self._answer(None) if terms.legal_moves else self._answer_game_over()
            return
        if longest > BRIEF:
            Thread(target=self._keep_time, name="anabranch-clock", daemon=True).start()
        elif longest < INSTANT and self._answer_at_once(engine, terms):
            return
        try:
            result = self._solve(engine, terms) if terms.solves and not self._stopped else None
            if result is None:
                result = self._search(engine, terms)
        except AnabranchError as error:
            self._write([f"info string {error}"])
            self._wait_for_permission()
            self._answer(self._latest)
        else:
            with self._state:
                self._latest = result
            if result.remark is not None:
                self._write([f"info string {result.remark}"])
            self._wait_for_permission()
            self._answer(result)

    def _search(self, engine: Engine, terms: Terms) -> Result:
        limits = replace(terms.limits, time=self._deadline.longest(time.monotonic()))
        return engine.search(
            limits=replace(limits, simulations=LEAST) if self._stopped else limits,
            lines=max(1, terms.format.lines),
            progress=self._on_progress,
            progress_interval=self._deadline.report_interval,
        )

    def _solve(self, engine: Engine, terms: Terms) -> Result | None:
        """What the solver proves, for `go mate`; nothing where the search has to go on."""
        limits, moves = terms.limits, terms.limits.mate
        assert moves is not None
        # A stop needs a move to answer with.
        few = replace(
            limits,
            simulations=min(limits.simulations or LEAST, LEAST),
            time=min(self._deadline.longest(time.monotonic()), SHORTENING),
        )
        first = engine.search(limits=few, lines=max(1, terms.format.lines))
        with self._state:
            self._latest = first
        if self._must_end() or (first.mate is not None and 0 < first.mate <= moves):
            return first
        most = mates.solver_positions(limits, terms.depth)
        solution = engine.solve(time=mates.solver_time(self._time_left()), positions=most)
        if solution.result is None:
            return first if self._must_end() else None
        found = mates.progress_of_solution(solution, first)
        with self._state:
            if not self._answered:
                self._latest = found
                self._write(self._info(found, time.monotonic()))
        if self._must_end() or mates.is_enough(solution, moves):
            return found
        seconds = mates.shortening_time(solution, self._time_left(), is_limited=most is not None)
        shorter = engine.solve(time=max(seconds, 1e-4), positions=most, shortest=True)
        return mates.progress_of_solution(shorter, first) if shorter.is_shortest else found

    def _must_end(self) -> bool:
        return self._stopped or self._is_enough or self._answered

    def _time_left(self) -> float:
        """Seconds to the deadline."""
        now, end = time.monotonic(), self._deadline.at
        left = self._deadline.longest(now)
        return left if end is None else min(left, max(end - now, 0.0))

    def give_up(self, legal_moves: tuple[str, ...]) -> None:
        """Answer without a search, because something went wrong: the first legal move."""
        move = legal_moves[0] if legal_moves else None
        score = [] if move is None else [f"info depth 1 score cp 0 nodes 0 time 0 pv {move}"]
        with self._state:
            self._finish([*score, f"bestmove {move or '(none)'}"])

    def _answer_at_once(self, engine: Engine, terms: Terms) -> bool:
        """Answer from what earlier searches left in the graph; whether they left anything."""
        if terms.limits.root_moves:
            return False
        found = engine.result(max(1, terms.format.lines))
        if not any(row.visits for row in found.moves):
            return False
        with self._state:
            self._searched = True
        self._answer(found)
        return True

    def _interrupt(self) -> None:
        self._state.notify_all()
        if self._engine is not None and not self._searched:
            self._engine.stop()

    def _on_progress(self, progress: Progress) -> None:
        terms = self._terms
        assert terms is not None
        now = time.monotonic()
        with self._state:
            if self._answered:
                return
            self._latest = progress
            best, shown = self._shown
            if progress.best_move != best or now - shown >= REPEAT:
                self._shown = (progress.best_move, now)
                self._write(self._info(progress, now))
            if terms.depth is not None and _reaches(progress, terms.depth):
                self._is_enough = True
                self._interrupt()
            if self._deadline.update(progress, now):
                self._state.notify_all()

    def _info(self, progress: Progress, now: float) -> list[str]:
        assert self._terms is not None
        lines = info.info_lines(progress, self._terms.format, now - self._begun)
        if self._terms.verbose and self._engine is not None:
            lines = [*info.move_table(progress, self._engine.settings), *lines]
        return lines

    def _must_wait(self) -> bool:
        """Whether the protocol allows no answer yet."""
        return (self.go.is_endless or self._deadline.is_pondering) and not self._stopped

    def _wait_for_permission(self) -> None:
        """Wait until the protocol allows an answer; repeat the last info every second meanwhile."""
        with self._state:
            self._searched = True
            while self._must_wait() and not self._answered:
                if not self._state.wait(1.0) and self._latest is not None and self._must_wait():
                    self._write(self._info(self._latest, time.monotonic()))

    def _keep_time(self) -> None:
        """End the search at the deadline, and answer for it where it does not return."""
        with self._state:
            while not self._answered and not self._stopped and not self._is_enough:
                end = self._deadline.at
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0.0:
                    self._is_enough = True
                    self._interrupt()
                    break
                self._state.wait(left)
            has_answered = self._state.wait_for(lambda: self._answered, STOP_TIMEOUT)
            if not has_answered and not self._searched and not self._must_wait():
                self._answer(self._latest)
            # A stop that came in the moment when the search began may have been lost on it.
            while self._engine is not None and not self._searched:
                self._engine.stop()
                self._state.wait(STOP_TIMEOUT)

    def _answer(self, progress: Progress | None) -> None:
        """Write the last info and the move."""
        with self._state:
            if self._answered:
                return
            self.final = progress
            terms = self._terms
            assert terms is not None
            now = time.monotonic()
            if not self._stopped and self.go.has_only_a_clock:
                self.spent = now - self._deadline.clock_from
                self.late = self._deadline.lateness(now)
            if progress is None:
                move = terms.legal_moves[0]
                self._finish([info.bare_line(move, terms.format, now - self._begun), f"bestmove {move}"])
            else:
                self._finish([*self._info(progress, now), _best_move(progress)])

    def _answer_game_over(self) -> None:
        with self._state:
            assert self._terms is not None
            self._finish([f"info depth 0 score {self._terms.game_over_score}", "bestmove (none)"])

    def _finish(self, lines: list[str]) -> None:
        """Write the answer, once. Called with the state locked."""
        if not self._answered:
            self._answered = True
            self._write(lines)
            self._state.notify_all()


def _best_move(progress: Progress) -> str:
    line = progress.lines[0].moves if progress.lines else (progress.best_move,)
    if len(line) > 1 and line[0] == progress.best_move:
        return f"bestmove {progress.best_move} ponder {line[1]}"
    return f"bestmove {progress.best_move}"


def _reaches(progress: Progress, depth: int) -> bool:
    """Whether a search is as deep as `go depth` demands. Where the mean length does not grow any more, the
    number of simulations counts.
    """
    return info.depth_of(progress) >= depth or progress.statistics.simulations >= 32 << min(depth, 40)
