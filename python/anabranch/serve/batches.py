"""The searches of evaluators in Python: one thread runs many of them at once, and their leaves share batches.

Searches of one kind run together. When the turn is another kind's, those under way are finished first.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from anabranch import _core
from anabranch.many import Outcome, SharedBatches, read_result
from anabranch.result import Root, progress_of
from anabranch.serve.answers import Findings
from anabranch.serve.waiting import Analysis

Next = Callable[[], Analysis | None]
OnFound = Callable[[Analysis, Findings | None], None]
"""Takes what was found about an analysis; `None` for one that was cancelled before it began."""


class _Member:
    """An analysis under way."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.next_report = float("inf")
        if analysis.query.progress is not None:
            self.next_report = time.monotonic() + analysis.query.progress


def search_together(
    first: Analysis, batches: SharedBatches, take: Next, on_found: OnFound, closing: Callable[[], bool]
) -> None:
    """Search an analysis, and those of its kind that come while it is under way, until none is left."""
    members: dict[int, _Member] = {}
    number = 0
    analysis: Analysis | None = first
    try:
        while not closing():
            while analysis is not None:
                number += 1
                members[number] = _Member(analysis)
                _add(batches, number, analysis)
                analysis = take() if len(members) < batches.most else None
            if not members:
                return
            for key in [key for key, member in members.items() if member.analysis.is_cancelled]:
                if not batches.cancel(key):
                    on_found(members.pop(key).analysis, None)
            for key, outcome in batches.step():
                if (member := members.pop(key, None)) is not None:
                    on_found(member.analysis, _read(member.analysis, outcome))
            _report(batches, members, on_found)
            if len(members) < batches.most:
                analysis = take()
    except Exception as error:  # the evaluator's, and so that of all who share its batches
        for member in members.values():
            on_found(member.analysis, error)


def _add(batches: SharedBatches, number: int, analysis: Analysis) -> None:
    query = analysis.query
    order = _core.Order(query.lines, **query.limits.for_core())
    batches.add(number, query.fen, list(query.moves[: analysis.ply]), order)


def _read(analysis: Analysis, outcome: Outcome) -> Findings:
    if isinstance(outcome, Exception):
        return outcome
    kind = analysis.kind
    return read_result(outcome, kind.variant, kind.chess960, analysis.query.lines)


def _report(batches: SharedBatches, members: dict[int, _Member], on_found: OnFound) -> None:
    now = time.monotonic()
    for key, member in members.items():
        analysis = member.analysis
        if now < member.next_report or analysis.query.progress is None:
            continue
        member.next_report = now + analysis.query.progress
        found = batches.report(key)
        if found is not None:
            root = Root(
                found["fen"], analysis.kind.variant, analysis.kind.chess960, found["raw"], found["player"]
            )
            on_found(analysis, progress_of(found["report"], root, found["elapsed"], analysis.query.lines))
