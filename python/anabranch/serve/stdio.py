"""The analysis server on standard input and output: a message a line in, an answer a line out.

It ends with its input, when all queries are answered, or at the message `terminate`. A client that does not
read its answers is not read from either.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from anabranch.serve.query import LARGEST_LINE
from anabranch.serve.service import Service
from anabranch.serve.waiting import QueryClient


def serve_lines(
    service: Service, source: BinaryIO, target: int, gone: Callable[[], object] | None = None
) -> None:
    """Serve one client until its input ends. `target` is the descriptor for answers. When its reader has
    gone, everything is given up and `gone` is called.
    """
    answers: SimpleQueue[str | None] = SimpleQueue()
    client = service.connect(answers.put)
    writer = Thread(target=_write, args=(service, client, answers, target, gone), name="anabranch-writer")
    writer.start()
    try:
        for line in bounded_lines(source):
            service.wait_for_room(client)
            if client.is_gone or not service.receive(client, line):
                break
        service.drain(client)
    finally:
        answers.put(None)
        writer.join()
        service.disconnect(client)


def bounded_lines(source: BinaryIO, most: int = LARGEST_LINE) -> Iterator[bytes]:
    """The lines of a stream that are not empty. Of a line that is too long, only its beginning is kept, one
    byte longer than is allowed.
    """
    while line := source.readline(most + 1):
        rest = line
        while len(rest) > most and not rest.endswith(b"\n"):
            rest = source.readline(most + 1)
        if line.strip():
            yield line.rstrip(b"\r\n")


def _write(
    service: Service,
    client: QueryClient,
    answers: SimpleQueue[str | None],
    target: int,
    gone: Callable[[], object] | None,
) -> None:
    while (line := answers.get()) is not None:
        content = memoryview(f"{line}\n".encode("utf-8", "replace"))
        try:
            while content:
                content = content[os.write(target, content) :]
        except OSError:  # nobody reads
            service.disconnect(client)
            if gone is not None:
                gone()
            return
        service.read(client)
