"""`anabranch serve`: the analysis server, on standard input and output or on a port of this machine.

The server is `anabranch.serve`'s; this file is options in, lines out.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anabranch.cli.from_settings import with_settings
from anabranch.cli.options import EngineGroup, EngineOptions, option
from anabranch.defaults import MOST_THREADS
from anabranch.errors import LimitError, SettingError, TablebaseError
from anabranch.jobs.executor import cores

if TYPE_CHECKING:
    from anabranch.serve import ServiceOptions

COLLECT_AFTER = 20_000
"""New objects after which Python looks for cycles; a result with 30 moves has some 100."""


@with_settings
def serve(
    *,
    stdio: Annotated[
        bool, option(None, "Read queries from stdin, write answers to stdout.", "--stdio")
    ] = False,
    port: Annotated[int | None, option("PORT", "Serve HTTP on this machine; 0 takes any free port.")] = None,
    given: EngineGroup,
    queue: Annotated[int, option("N", "Positions of a client that may wait.")] = 10_000,
    batch: Annotated[int, option("N", "Evaluations in a shared batch of a network in Python.")] = 32,
    tables: Annotated[
        str | None,
        option("PATHS", "Directories with Syzygy tables.  [default: the fetched ones]", "--tablebases"),
    ] = None,
    schema: Annotated[bool, option(None, "Print the JSON Schema of the messages.", "--schema")] = False,
) -> None:
    """Answer queries for analysis: JSON in, JSON out, a line each, many at once on all threads.

    The options for the engine are the defaults of queries; a query may change all of them but --threads. A
    network given by --evaluator is used for the variant of --variant. The server ends with its input, when
    all queries are answered; over HTTP Ctrl-C ends it.

    Example: echo '{"id": "1", "moves": "e2e4 c7c5"}' | anabranch serve --stdio
    """
    from anabranch import serve as package

    if schema:
        sys.stdout.write(Path(package.__file__).with_name("schema.json").read_text(encoding="utf-8"))
        return
    if stdio == (port is not None):
        raise SettingError("serve takes --stdio or --port")
    options = EngineOptions(**given)
    threads = min(cores(), MOST_THREADS) if options.threads is None else options.threads
    for name, number, least, most in (
        ("--port", port or 0, 0, 65535),
        ("--queue", queue, 1, 1_000_000),
        ("--batch", batch, 1, 65536),
        ("--threads", threads, 1, MOST_THREADS),
    ):
        if not least <= number <= most:
            raise LimitError(f"{name} takes a number from {least} to {most}, not {number}")
    service = package.Service(_service_options(options, threads, queue, batch, tables))
    gc.freeze()  # what is there stays, and answers have no cycles: collections need not be frequent
    gc.set_threshold(COLLECT_AFTER)
    if port is None:
        from anabranch.serve.stdio import serve_lines

        with service:
            serve_lines(service, sys.stdin.buffer, sys.stdout.fileno(), lambda: os._exit(0))
        return
    from anabranch.optional import require

    for module in ("fastapi", "uvicorn"):
        require(module, "web")
    from anabranch.serve.http import serve_http
    from anabranch.web.listener import listen

    listener = listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    with service:
        serve_http(service, listener, lambda: typer.echo(f"Queries go to {address}", err=True))


def _service_options(
    options: EngineOptions, threads: int, queue: int, batch: int, tables: str | None
) -> ServiceOptions:
    """The options of the service, checked by making the engine of a query without fields."""
    from anabranch.formats.tablebases import default_directory, open_tablebases
    from anabranch.serve import ServiceOptions
    from anabranch.serve.engines import EngineDefaults
    from anabranch.serve.query import QueryDefaults

    if tables is None and default_directory().is_dir():
        tables = str(default_directory())
    opened = None if tables is None else open_tablebases(tables)
    if opened is not None and opened.men == 0:
        raise TablebaseError(f"there are no tablebases that can be used in {tables}")
    settings = {
        name: value for name, value in options.changes.items() if name not in ("evaluator", "threads")
    }
    options.make()  # says what is wrong with them
    return ServiceOptions(
        threads=threads,
        batch=batch,
        most_waiting=queue,
        engines=EngineDefaults(
            variant=options.variant,
            evaluator=options.evaluator,
            settings=dict(settings),
            tablebases=opened,
            threads=threads,
        ),
        queries=QueryDefaults(variant=options.variant, chess960=options.chess960, preset=options.preset),
    )
