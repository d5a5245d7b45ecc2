"""A UCI program behind two raw pipes.

It knows lines and deadlines, and the greeting that all such programs share, but neither moves nor scores. A
generic client would cost more than the thinking of an engine at some hundred nodes. What goes wrong raises
`ProgramError` with a word for it; the program is of no use afterwards and has to be started again.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Literal, Self

from anabranch.errors import AnabranchError, ProgramMissingError, VariantError

Trouble = Literal["start", "crash", "hang", "endless", "garbage"]
"""It could not be started; it ended; it gave no answer in time, endless output, or nonsense."""

MOST = 1 << 22
"""Maximum bytes without a complete answer."""
_PIECE = 1 << 16


class ProgramError(AnabranchError, RuntimeError):
    """The program failed."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble: Trouble = trouble


def find_program(name: str) -> str:
    """The program of that name or path. Debian keeps games where PATH may not look."""
    path = shutil.which(name) or shutil.which(name, path="/usr/games:/usr/local/games")
    if path is None:
        raise ProgramMissingError(f"there is no program {name}")
    return path


class Program:
    """One process. It ends with this one, because its input ends then."""

    def __init__(self, command: Sequence[str], most: int = MOST) -> None:
        self._most = most
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [find_program(command[0]), *command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us
            )
        except OSError as error:
            raise ProgramError("start", f"{command[0]} cannot be started: {error.strerror}") from error

    @property
    def process_id(self) -> int:
        """The number of its process."""
        return self._process.pid

    def greet(self, variant: str, options: Mapping[str, str], timeout: float) -> str:
        """Send `uci`, set the variant and options, wait until it is ready; the name of the program.

        A program that cannot play the variant raises `VariantError`: another attempt will not help.
        """
        greeting = self.ask("uci\n", (b"uciok",), timeout)
        known = options_of(greeting)
        name = name_of(greeting)
        if variant != "chess" and "uci_variant" not in known:
            raise VariantError(f"{name} plays chess only, not {variant}")
        wanted = {"UCI_Variant": variant} if "uci_variant" in known else {}
        wanted.update(options)
        offered = [value.lower() for value in known.get("uci_variant", ())]
        if offered and wanted["UCI_Variant"].lower() not in offered:
            raise VariantError(f"{name} does not play {wanted['UCI_Variant']}")
        if wanted.get("UCI_Chess960") == "true" and "uci_chess960" not in known:
            raise VariantError(f"{name} does not play Chess960")
        commands = "".join(f"setoption name {key} value {value}\n" for key, value in wanted.items())
        self.ask(commands + "isready\n", (b"readyok",), timeout)
        return name

    def ask(self, commands: str, ends: Sequence[bytes], timeout: float) -> bytes:
        """Send commands; the output of the program up to the line that begins with the last of `ends`, after
        lines that begin with the others.
        """
        assert self._process.stdin is not None
        deadline = time.monotonic() + timeout
        try:
            self._process.stdin.write(commands.encode())
        except OSError as error:
            raise ProgramError("crash", "the engine has ended") from error
        answer = b""
        for end in ends:
            answer = self._read_to(end, deadline, timeout)
        return answer

    def close(self) -> None:
        """End the process and its children: the engine may be a child of a wrapper script."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read_to(self, end: bytes, deadline: float, timeout: float) -> bytes:
        """Everything up to the whole line that begins with a word."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        answer = bytearray(self._rest)
        mark = b"\n" + end
        looked = 0  # up to here there is no mark
        while True:
            at = 0 if answer.startswith(end) else answer.find(mark, looked) + 1
            if at or answer.startswith(end):
                stop = answer.find(b"\n", at)
                if stop >= 0:
                    self._rest = bytes(answer[stop + 1 :])
                    return bytes(answer[: stop + 1])
                looked = max(at - 1, 0)
            else:
                looked = max(len(answer) - len(mark), 0)
            if len(answer) > self._most:
                raise ProgramError("endless", "the engine talks without end")
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                raise ProgramError("hang", f"the engine gave no answer in {timeout:g} s")
            piece = os.read(output, _PIECE)
            if not piece:
                raise ProgramError("crash", "the engine has ended")
            answer += piece

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def name_of(greeting: bytes) -> str:
    r"""The name that a program gives.

    >>> name_of(b"id name Mock 1\nuciok\n")
    'Mock 1'
    """
    for line in greeting.splitlines():
        if line.startswith(b"id name "):
            return line[8:].decode(errors="replace").strip()
    return "unknown"


def options_of(greeting: bytes) -> dict[str, list[str]]:
    r"""A program's options by name, in small letters, because they may be written either way; of each the
    values to choose from, where it names some.

    >>> options_of(b"option name Mood type combo default Calm var Calm var Odd\noption name Hash type spin\n")
    {'mood': ['Calm', 'Odd'], 'hash': []}
    """
    options = {}
    for line in greeting.splitlines():
        if line.startswith(b"option name "):
            name, _, kind = line[12:].decode(errors="replace").partition(" type ")
            values = (value.partition(" default ")[0].strip() for value in kind.split(" var ")[1:])
            options[name.strip().lower()] = list(values)
    return options
