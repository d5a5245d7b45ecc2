"""The service behind every connection: takes the messages of clients, has positions searched, gives answers.

Each position is searched from an empty graph, so an answer is that of a new `Engine`. The service knows
clients as functions that take lines, and not how these travel.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anabranch import __version__
from anabranch.errors import AnabranchError, QueryError
from anabranch.formats.json_lines import dump_line
from anabranch.many import BATCH
from anabranch.result import Progress, Result
from anabranch.serve.answers import Findings, JsonAnswer, error_of, event, line_of
from anabranch.serve.engines import EngineDefaults, EngineStore
from anabranch.serve.query import Action, Query, QueryDefaults, id_of, parse, read_document
from anabranch.serve.signals import Signals
from anabranch.serve.waiting import MOST_UNREAD, Analysis, QueryClient, Waiting
from anabranch.serve.workers import Workers

MOST_WAITING = 10_000
"""Positions of a client that may wait for their search."""
MOST_BEHIND = 4 * MOST_UNREAD
"""Unread answers of a client from which on no message of it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """How to serve.

    >>> ServiceOptions(threads=2).queries.limits.evaluations
    800
    """

    threads: int = 1
    """Searches at once with evaluators of the core; one more if there are several and none has a limit on
    time.
    """
    batch: int = BATCH
    """Evaluations in a shared batch of other evaluators."""
    most_waiting: int = MOST_WAITING
    engines: EngineDefaults = field(default_factory=EngineDefaults)
    queries: QueryDefaults = field(default_factory=QueryDefaults)


class Service:
    """The analysis server without a connection.

    >>> import json
    >>> answers = []
    >>> with Service(ServiceOptions()) as service:
    ...     client = service.connect(answers.append)
    ...     _ = service.receive(client, '{"id": "a", "moves": ["e2e4"], "limits": {"simulations": 50}}')
    ...     service.drain(client)
    >>> answer = json.loads(answers[0])
    >>> answer["id"], answer["type"], answer["ply"], answer["statistics"]["simulations"]
    ('a', 'result', 1, 50)
    """

    def __init__(self, options: ServiceOptions | None = None) -> None:
        self._options = options or ServiceOptions()
        self._store = EngineStore(self._options.engines)
        self._signals = Signals()
        self._closed = False
        self._waiting = Waiting()
        self._open: dict[str, dict[int, Analysis]] = {}
        """The analyses without a last answer, by query and ply."""
        self._workers = Workers(
            self._waiting, self._signals, self._on_found, self._options.threads, self._options.batch
        )

    def connect(self, deliver: Callable[[str], None]) -> QueryClient:
        """A new client, whose answers go to `deliver` as lines. That is called from any thread and must not
        wait; `read` is to be called when answers have been read, or no more searches begin.
        """
        client = QueryClient(deliver)
        with self._signals.lock:
            self._waiting.clients.append(client)
        return client

    def disconnect(self, client: QueryClient) -> None:
        """Forget a client, and end its searches."""
        with self._signals.lock:
            if client.is_gone:
                return
            client.is_gone = True
            self._cancel(one for one in self._analyses() if one.client is client)
            self._waiting.clients.remove(client)
            self._signals.notify_all()

    def read(self, client: QueryClient, count: int = 1) -> None:
        """Note that a client has read answers."""
        with self._signals.lock:
            before, client.unread = client.unread, client.unread - count
            if before >= MOST_UNREAD > client.unread:
                self._signals.work.notify_all()
            if before >= MOST_BEHIND > client.unread:
                self._signals.room.notify_all()

    def receive(self, client: QueryClient, message: str | bytes) -> bool:
        """Handle a message of a client. What is wrong with it becomes an answer. Returns false after a
        message that ends the server.
        """
        name = None
        try:
            document = parse(message)
            name = id_of(document)
            read = read_document(document, self._options.queries)
            if isinstance(read, Action):
                return self._act(client, read)
            self._add(client, read)
        except Exception as error:
            if not isinstance(error, AnabranchError):  # a bug, which must not end the server
                traceback.print_exception(error, file=sys.stderr)
            self._answer(client, error_of(name, error))
        return True

    def wait_for_room(self, client: QueryClient) -> None:
        """Wait until a client may send another message."""
        most = self._options.most_waiting
        with self._signals.lock:
            while client.waiting >= most or client.unread >= MOST_BEHIND:
                if client.is_gone or self._closed:
                    return
                self._signals.room.wait()

    def drain(self, client: QueryClient) -> None:
        """Wait until all queries of a client are answered."""
        with self._signals.lock:
            self._signals.drained.wait_for(lambda: client.open == 0 or client.is_gone or self._closed)

    def close(self) -> None:
        """End everything, without further answers."""
        with self._signals.lock:
            self._closed = True
            for client in list(self._waiting.clients):
                self.disconnect(client)
            self._signals.notify_all()
        self._workers.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, client: QueryClient, query: Query) -> None:
        kind = self._store.kind_of(query.key)
        kind.check(query)
        with self._signals.lock:
            if self._closed or client.is_gone:
                return
            if query.id in self._open:
                raise QueryError("id", f"{query.id!r} belongs to a query that is not yet answered")
            group = {ply: Analysis(query, ply, client, kind) for ply in query.plies}
            self._open[query.id] = group
            client.open += len(group)
            for analysis in group.values():
                self._waiting.add(analysis)
            self._workers.start(outside=kind.is_outside)
            self._signals.work.notify_all()

    def _act(self, client: QueryClient, action: Action) -> bool:
        if action.action == "status":
            with self._signals.lock:
                numbers = {"waiting": self._waiting.size, "running": self._workers.running}
            status = event("status", action.id, version=__version__, threads=self._options.threads, **numbers)
            self._answer(client, status)
            return True
        with self._signals.lock:
            if action.action == "cancel":
                group = self._open.get(action.query or "", {})
                chosen = [one for ply, one in group.items() if action.plies is None or ply in action.plies]
            else:
                chosen = self._analyses()
            count = self._cancel(chosen)
        self._answer(client, event("done", action.id, action=action.action, positions=count))
        return action.action != "terminate"

    def _analyses(self) -> list[Analysis]:
        return [analysis for group in self._open.values() for analysis in group.values()]

    def _cancel(self, analyses: Iterable[Analysis]) -> int:
        """Cancel analyses; their number. Called with the lock."""
        count = 0
        clients = set()
        for analysis in list(analyses):
            count += 1
            analysis.is_cancelled = True
            if analysis.is_begun:
                self._workers.stop(analysis)
            else:
                clients.add(analysis.client)
                analysis.client.waiting -= 1
                self._finish(analysis, line_of(analysis.query, analysis.ply, None))
        for client in clients:
            self._waiting.purge(client)
        if clients:
            self._signals.room.notify_all()
            self._signals.work.notify_all()  # what stood behind it may begin
        return count

    def _answer(self, client: QueryClient, answer: JsonAnswer) -> None:
        line = dump_line(answer)
        with self._signals.lock:
            self._deliver(client, line)

    def _deliver(self, client: QueryClient, line: str) -> None:
        if not client.is_gone:
            client.unread += 1
            client.deliver(line)

    def _on_found(self, analysis: Analysis, found: Findings | None) -> None:
        """JsonAnswer with a partial result, or finally."""
        if isinstance(found, Progress) and not isinstance(found, Result):
            if analysis.client.unread < MOST_UNREAD // 2:  # the next one will do
                line = line_of(analysis.query, analysis.ply, found)
                with self._signals.lock:
                    self._deliver(analysis.client, line)
            return
        if isinstance(found, Exception) and not isinstance(found, AnabranchError):
            traceback.print_exception(found, file=sys.stderr)
        line = line_of(analysis.query, analysis.ply, found)
        with self._signals.lock:
            self._finish(analysis, line)

    def _finish(self, analysis: Analysis, line: str) -> None:
        """Give the last answer of an analysis. Called with the lock."""
        analysis.is_answered = True
        query, client = analysis.query, analysis.client
        group = self._open[query.id]
        del group[analysis.ply]
        if not group:
            del self._open[query.id]
        client.open -= 1
        self._deliver(client, line)
        if client.open == 0:
            self._signals.drained.notify_all()
