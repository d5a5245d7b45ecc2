"""Commands run in a terminal of their own, a pseudo-terminal: stdin, stdout and stderr are one screen, and
Ctrl-C is a key, whose signal goes to the command and to all processes that it has started.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# A process that leads a session may take its stdin as the terminal of the session; then it is the command.
_ENTER = (
    "import fcntl, os, sys, termios; "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
_ALL = (
    "import json, sys; from anabranch.cli import run\n"
    "for call in json.loads(sys.argv[1]): print(f'<left with {run(call)}>', flush=True)"
)
CTRL_C = b"\x03"
PATIENCE = 240.0


class Seen(NamedTuple):
    """What became of a command."""

    code: int
    text: str
    """All that was written to the screen, without the marks for colours and places."""


def plain(text: bytes) -> str:
    """The text without escape sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode(errors="replace")).replace("\r\n", "\n")


def in_terminal(*arguments: str, cwd: Path | None = None, interrupt_at: str | None = None) -> Seen:
    """Run `anabranch` in a terminal to its end; if asked, press Ctrl-C when a text has appeared."""
    return _run(["-m", "anabranch", *arguments], cwd, interrupt_at)


def all_in_terminal(calls: Sequence[Sequence[str]], cwd: Path) -> list[Seen]:
    """Run commands in a terminal one after the other, in one process: each start of one takes a second."""
    code, text = _run(["-c", _ALL, json.dumps(calls)], cwd)
    assert code == 0, text
    pieces = re.split(r"<left with (\d+)>\n", text)
    return [Seen(int(code), said) for said, code in zip(pieces[::2], pieces[1::2], strict=False)]


def _run(arguments: Sequence[str], cwd: Path | None, interrupt_at: str | None = None) -> Seen:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-c", _ENTER, sys.executable, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**environment, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    seen, is_pressed = b"", interrupt_at is None
    deadline = time.monotonic() + PATIENCE
    try:
        with contextlib.suppress(OSError):  # Linux's way to say that nobody is at the other end any more
            while time.monotonic() < deadline:
                if not select.select([ours], [], [], 0.1)[0]:
                    continue
                piece = os.read(ours, 65536)
                if not piece:
                    break
                seen += piece
                if not is_pressed and interrupt_at is not None and interrupt_at in plain(seen):
                    os.write(ours, CTRL_C)
                    is_pressed = True
        code = process.wait(max(1.0, deadline - time.monotonic()))
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert is_pressed, f"{interrupt_at!r} did not appear:\n{plain(seen)}"
    return Seen(code, plain(seen))
