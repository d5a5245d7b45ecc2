"""The command line: one file per command, put together here, with one way to fail.

Commands read options and print; everything they do, a program can do with the package as well. What a
command needs beyond its options is imported when it runs, and only the file of that command.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from anabranch.errors import AnabranchError, GameError, ProofError

INTERRUPTED = 130

COMMANDS = (
    "analyse", "solve", "annotate", "play", "uci", "serve", "match", "suite", "bench", "perft", "settings",
    "games", "network", "openings", "study", "tablebases", "data", "train", "selfplay", "verify-proof",
)  # fmt: skip
"""Each is a function, or a group of commands, in the file of that name, with `_` for a hyphen."""


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with some commands. Only their files are imported."""
    app = typer.Typer(
        name="anabranch",
        help="Monte-Carlo graph search for chess, its variants and other games.",
        epilog="Errors are one sentence on stderr and exit code 2.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        module = name.replace("-", "_")
        command = getattr(import_module(f"anabranch.cli.{module}"), module)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    app.callback()(anabranch)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from anabranch import __version__

        typer.echo(f"anabranch {__version__}")
        raise typer.Exit


def anabranch(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Handle the options before the command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit code: 0 done, 1 a proof that does not hold, 2 an error (one
    sentence on stderr), 130 Ctrl-C.
    """
    try:
        code = run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe. Redirect stdout to devnull so that the flush at exit does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    if code == INTERRUPTED:
        os._exit(code)  # a thread of the core may still be running
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command; its exit code."""
    from anabranch.cli.options import is_placement

    arguments = _renamed(arguments)
    names = [name for name in COMMANDS if name in arguments[:1]] or COMMANDS
    given = {word.split("=")[0] for word in arguments}
    if "--game" in given and given & {"--variant", "-v"}:
        return _refuse("--variant and --game are one option: give one of them")
    try:
        code = make_app(names)(arguments or ["--help"], prog_name="anabranch", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except ProofError as error:
        return _refuse(_lowered(str(error)), 1)
    except GameError as error:  # it may begin with the name of a class
        return _refuse(str(error))
    except (AnabranchError, OSError) as error:
        return _refuse(_lowered(str(error)))
    except Exception as error:
        # Typer's own errors about options have a message for people; any other exception is a bug.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        text = message()
        if "unexpected extra argument" in text and any(map(is_placement, arguments)):
            text = f"{text.rstrip('.')}; put the FEN in quotes"
        return _refuse(_lowered(text)) if text else 2
    return code if isinstance(code, int) else 0


def _renamed(arguments: list[str]) -> list[str]:
    """Arguments of earlier versions, as this one has them.

    >>> _renamed(["bench", "--network", "net.safetensors"]), _renamed(["match", "--patience=5"])
    (['bench', '--evaluator', 'net.safetensors'], ['match', '--timeout=5'])
    """
    words = [re.sub(r"^--patience(?==|$)", "--timeout", word) for word in arguments]
    if words[:1] == ["bench"] and "--network" in words:
        place = words.index("--network")
        takes_file = not "".join(words[place + 1 : place + 2] or "-").startswith("-")
        width = [] if "--width" in words else ["--width", "256"]
        words[place : place + 1] = ["--evaluator"] if takes_file else width
    return words


def _lowered(message: str) -> str:
    """A sentence as it stands after a colon."""
    text = message.lstrip()
    return text[:1].lower() + text[1:]


def _refuse(message: str, code: int = 2) -> int:
    text = " ".join(message.split())
    print(f"anabranch: {text}", file=sys.stderr)
    return code
