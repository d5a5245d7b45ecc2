"""What a search has found in the words of the protocol: info lines, and the table of moves Nibbler reads.

Nothing here searches or prints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anabranch.formats.scores import wdl
from anabranch.result import Line, Progress
from anabranch.settings import Settings


@dataclass(frozen=True, slots=True)
class InfoFormat:
    """What info lines show."""

    variant: str
    lines: int
    """Most principal variations."""
    shows_wdl: bool
    memory: int
    """Cap of the graph in bytes."""


def info_lines(progress: Progress, form: InfoFormat, elapsed: float) -> list[str]:
    """One line for each principal variation, the move to play first."""
    numbers = progress.statistics
    time_ms = max(0, int(elapsed * 1000))
    nodes = numbers.simulations
    common = (
        f"nodes {nodes} nps {int(nodes / max(elapsed, 1e-3))} hashfull "
        f"{min(1000, numbers.bytes * 1000 // max(1, form.memory))} tbhits {numbers.tablebase_hits} "
        f"time {time_ms}"
    )
    depth = depth_of(progress)
    shown = []
    for place, line in enumerate(ordered(progress, form), 1):
        seldepth = max(depth, numbers.max_depth, len(line.moves))
        text = f"info depth {depth} seldepth {seldepth} multipv {place} score {score(line)}"
        if form.shows_wdl:
            text += " wdl {} {} {}".format(*line.wdl)
        shown.append(f"{text} {common} pv {' '.join(line.moves)}")
    return shown


def bare_line(move: str, form: InfoFormat, elapsed: float) -> str:
    """The line of a move that nothing is known about."""
    chances = " wdl {} {} {}".format(*wdl(0.0, None, form.variant)) if form.shows_wdl else ""
    time_ms = max(0, int(elapsed * 1000))
    return f"info depth 1 seldepth 1 multipv 1 score cp 0{chances} nodes 0 nps 0 time {time_ms} pv {move}"


def depth_of(progress: Progress) -> int:
    """The depth of a search: the mean length of its simulations, at least 1."""
    return max(1, round(progress.statistics.mean_depth))


def ordered(progress: Progress, form: InfoFormat) -> Sequence[Line]:
    """The lines to show: the move to play, then the other most visited ones by their value.

    None is shown as worth more than the one before it: a move that promises more on fewer visits is not to be
    believed yet, or it would be the one to play.
    """
    lines = progress.lines[: form.lines]
    if not lines or lines[0].moves[:1] != (progress.best_move,):
        # Nothing has been searched yet: a move without a judgement of its own.
        return [Line((progress.best_move,), progress.value, 0, "unknown", None, progress.root)]
    shown = [lines[0]]
    for line in sorted(lines[1:], key=worth, reverse=True):
        is_more = worth(line) > worth(shown[-1])
        shown.append(replace(line, value=shown[-1].value, state="unknown", plies=None) if is_more else line)
    return shown


def worth(line: Line) -> tuple[int, float]:
    """How good a line is, for sorting."""
    match line.mate:
        case None:
            rank = {"tb-win": 1, "tb-loss": -1}.get(line.state, 0)
            return rank, 0.0 if line.state in ("draw", "tb-draw") else line.value
        case mate:
            return (2, -mate) if mate > 0 else (-2, -mate)


def score(line: Line) -> str:
    """The score of a line: mate where it is proven, else centipawns."""
    return f"mate {line.mate}" if line.mate is not None else f"cp {line.centipawns}"


def move_table(progress: Progress, settings: Settings) -> list[str]:
    """Statistics of every move, the best last, in the form that lc0 gave and Nibbler reads."""
    rows = sorted(progress.moves, key=lambda row: (row.visits, row.prior))
    total = sum(row.visits for row in rows)
    growth = math.log((total + settings.c_base + 1.0) / settings.c_base) + settings.c_init
    shown = []
    for row in rows:
        q = progress.value if row.q is None else row.q
        u = growth * row.prior * math.sqrt(max(1, total)) / (1 + row.visits)
        raw = "-.----" if row.raw is None else f"{row.raw:7.4f}"
        shown.append(
            f"info string {row.move:<5} ({row.child_visits:>4}) N: {row.visits:>7} (+ 0) "
            f"(P: {100 * row.prior:5.2f}%) (WL: {q:8.5f}) (D: 0.000) (M: 0.0) "
            f"(Q: {q:8.5f}) (U: {u:7.5f}) (S: {q + u:8.5f}) (V: {raw})"
            + ("" if row.state == "unknown" else " (T)")
        )
    visits = progress.statistics.root_visits
    shown.append(
        f"info string node  ({len(rows):>4}) N: {visits:>7} (+ 0) (P: 100.0%) (WL: {progress.value:8.5f}) "
        f"(D: 0.000) (M: 0.0) (Q: {progress.value:8.5f}) (V: {progress.value:7.4f})"
    )
    return shown
