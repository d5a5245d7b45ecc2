"""`anabranch play`: the web board. Opens a socket, prints the address with its token, starts the browser.

The server is `anabranch.web`'s; this file is options in, address out.
"""

from __future__ import annotations

from threading import Thread
from typing import Annotated

import typer

from anabranch.cli.options import EvaluatorOption, option
from anabranch.defaults import MOST_THREADS
from anabranch.errors import LimitError, TablebaseError
from anabranch.jobs.executor import cores
from anabranch.optional import require

PORT = 8640


def play(
    port: Annotated[int, option("PORT", "Port; 0 takes any free one.")] = PORT,
    browser: Annotated[bool, option(None, "Open the page in the browser.", "--browser/--no-browser")] = True,
    host: Annotated[
        str, option("ADDRESS", "Listen at this address, so that other machines can connect.")
    ] = "127.0.0.1",
    seconds: Annotated[float, option("SECONDS", "Longest search of a browser.")] = 300.0,
    memory: Annotated[int, option("MB", "Memory for the graphs of one browser.")] = 512,
    clients: Annotated[int, option("N", "Most browsers at a time.")] = 8,
    tables: Annotated[
        str | None,
        option("PATHS", "Directories with Syzygy tables.  [default: the fetched ones]", "--tablebases"),
    ] = None,
    threads: Annotated[
        int | None, option("N", "Threads that evaluate, for each search.  [default: the usable cores]")
    ] = None,
    evaluator: EvaluatorOption = None,
) -> None:
    """Open the web board: play, analyse, and see the search graph.

    The server listens on this machine only, and every request needs the token of the printed address. Ctrl-C
    ends it. A network given by --evaluator is used for its own variant; others use the bundled networks.

    Example: anabranch play --port 8000 --no-browser
    """
    used = min(cores(), MOST_THREADS) if threads is None else threads
    for name, number, least, most in (
        ("--port", port, 0, 65535),
        ("--seconds", seconds, 1, 86400),
        ("--memory", memory, 16, 1 << 20),
        ("--clients", clients, 1, 100),
        ("--threads", used, 1, MOST_THREADS),
    ):
        if not least <= number <= most:
            raise LimitError(f"{name} takes a number from {least} to {most}, not {number:g}")
    for module in ("fastapi", "uvicorn", "websockets"):
        require(module, "web")
    from anabranch.web.access import AccessControl
    from anabranch.web.listener import listen
    from anabranch.web.searches import Resources
    from anabranch.web.server import ServerOptions, serve

    if host in ("0.0.0.0", "::", ""):
        raise LimitError("--host takes one address of this machine, because the server must know its name")
    from anabranch.evaluators.resolve import resolve_evaluator
    from anabranch.formats.tablebases import default_directory, open_tablebases

    if evaluator is not None:
        resolve_evaluator(evaluator)  # says what is wrong with it
    if tables is None and default_directory().is_dir():
        tables = str(default_directory())
    opened = None if tables is None else open_tablebases(tables)
    if opened is not None and opened.men == 0:
        raise TablebaseError(f"there are no tablebases that can be used in {tables}")
    listener = listen(host, port)
    access = AccessControl.of(host, listener.getsockname()[1])
    address = f"http://{access.hosts[0]}/?token="

    def started() -> None:
        typer.echo(f"The board is at {address}{access.token}")
        typer.echo("Ctrl-C ends the server.")
        if browser:
            import webbrowser

            Thread(target=webbrowser.open, args=(address + access.new_ticket(),), daemon=True).start()

    options = ServerOptions(Resources(seconds, memory << 20, used), clients, opened, evaluator)
    serve(listener, access, options, started)
