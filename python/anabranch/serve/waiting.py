"""What waits for its search: a queue for each client, by priority and then by arrival.

A client that leaves its answers unread gets no more searches until it has read some; the others go on.
Nothing here searches or locks: the service guards all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from anabranch.engine import Engine
from anabranch.serve.engines import EngineKind
from anabranch.serve.query import Query

MOST_UNREAD = 64
"""Answers that a client may leave unread before its searches wait."""


@dataclass(eq=False, slots=True)
class Analysis:
    """One position of a query, from its arrival to its last answer."""

    query: Query
    ply: int
    client: QueryClient
    kind: EngineKind
    engine: Engine | None = None
    """The engine that searches it alone."""
    is_begun: bool = False
    is_cancelled: bool = False
    is_answered: bool = False
    """Whether its last answer is given."""

    @property
    def is_timed(self) -> bool:
        """Whether its search ends with its time."""
        return self.query.limits.time is not None

    @property
    def position(self) -> tuple[str, list[str]]:
        """Where the game began, and the moves to the position."""
        return self.query.fen or "startpos", list(self.query.moves[: self.ply])


Heap = list[tuple[int, int, Analysis]]


@dataclass(eq=False, slots=True)
class QueryClient:
    """Sends messages and gets answers."""

    deliver: Callable[[str], None]
    """Takes an answer, at once and from any thread."""
    unread: int = 0
    """Answers that were delivered and are not yet read."""
    waiting: int = 0
    """Analyses that have not begun."""
    open: int = 0
    """Analyses without a last answer."""
    is_gone: bool = False
    heaps: tuple[Heap, Heap] = field(default_factory=lambda: ([], []))
    """What waits: for engines of the core, and for shared batches. Some of it may be answered already."""

    @property
    def has_room(self) -> bool:
        """Whether it reads its answers."""
        return self.unread < MOST_UNREAD


class Waiting:
    """The queues of all clients."""

    def __init__(self) -> None:
        self.clients: list[QueryClient] = []
        self._arrivals = 0

    @property
    def size(self) -> int:
        """Analyses that have not begun."""
        return sum(client.waiting for client in self.clients)

    def add(self, analysis: Analysis) -> None:
        """Queue an analysis."""
        self._arrivals += 1
        client = analysis.client
        heappush(client.heaps[analysis.kind.is_outside], (-analysis.query.priority, self._arrivals, analysis))
        client.waiting += 1

    def purge(self, client: QueryClient) -> None:
        """Remove what was cancelled."""
        for heap in client.heaps:
            heap[:] = [entry for entry in heap if not entry[2].is_answered]
            heapify(heap)

    def next(
        self, outside: bool, kind: EngineKind | None = None, *, untimed: bool = False
    ) -> Analysis | None:
        """The analysis whose turn it is, taken out of its queue; none if none may begin. With `kind`, none
        while another kind has its turn; with `untimed`, none while one with a limit on time has it.
        """
        best: Heap | None = None
        for client in self.clients:
            heap = client.heaps[outside]
            if heap and client.has_room and (best is None or heap[0][:2] < best[0][:2]):
                best = heap
        if best is None or (kind is not None and best[0][2].kind is not kind):
            return None
        if untimed and best[0][2].is_timed:
            return None
        analysis = heappop(best)[2]
        analysis.is_begun = True
        analysis.client.waiting -= 1
        return analysis
