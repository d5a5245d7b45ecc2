"""A dialogue with an engine in a process of its own, over raw pipes.

A thread reads its lines and notes the time at once; another keeps what it writes to its standard error.
At the end of the `with` block the process is killed, however the test went.
"""

import contextlib
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.dialogue import Dialogue, NoAnswer
from tests.support.validator import Event

PACKAGE = Path(__file__).parents[2] / "python"
OURS = [sys.executable, "-m", "anabranch", "uci"]


def our_command() -> list[str]:
    """How our engine is started; UCI_TEST_ENGINE puts another in its place, to try the tests themselves."""
    other = os.environ.get("UCI_TEST_ENGINE")
    return shlex.split(other) if other else list(OURS)


def our_environment() -> dict[str, str]:
    """Ours, with the package of this checkout first."""
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class EngineProcess(Dialogue):
    """An engine program."""

    def __init__(
        self, command: Sequence[str] | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.errors: list[str] = []
        self.process = subprocess.Popen(
            list(command or our_command()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(environment or our_environment()),
        )
        self._threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._keep_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def carry(self, text: str) -> None:
        """Write a line to the pipe."""
        self.write(text.encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes as they are; they do not enter the transcript."""
        assert self.process.stdin is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self.process.stdin.write(rest) :]
        except OSError as error:
            raise NoAnswer(f"the engine has ended: {error}\n{self.excerpt()}\n{self.error_text}") from error

    def send_as(self, text: str, data: bytes) -> None:
        """Write bytes that mean a line of the transcript, in another form."""
        self.transcript.append(Event(time.monotonic(), True, text))
        self.write(data)

    def end_input(self) -> None:
        """Close the engine's input, which means `quit`."""
        self.transcript.append(Event(time.monotonic(), True, "quit"))
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def wait_for_exit(self, seconds: float = 2.0) -> int:
        """The exit code; it fails where the process stays."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise NoAnswer(f"the process is still there after {seconds:g} s\n{self.excerpt()}") from None
        for thread in self._threads:
            thread.join(5)
        return code

    @property
    def error_text(self) -> str:
        """What the engine wrote to its standard error."""
        return "".join(self.errors)

    def memory(self) -> int:
        """The resident memory of the process in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def quit(self, seconds: float = 2.0) -> None:
        """`quit`, after which the process must end by itself, without complaint."""
        self.send("quit")
        code = self.wait_for_exit(seconds)
        assert code == 0, f"exit code {code}\n{self.error_text}"
        assert not self.error_text, self.error_text

    def close(self) -> None:
        """Kill the process and wait for it."""
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        output = self.process.stdout.fileno()
        rest = b""
        while True:
            try:
                piece = os.read(output, 1 << 16)
            except OSError:
                break
            if not piece:
                break
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self.receive(line.decode(errors="replace").removesuffix("\r"))
        if rest:
            self.receive(rest.decode(errors="replace"))
        self.end()

    def _keep_errors(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self.process.stderr.fileno(), 1 << 16):
                self.errors.append(piece.decode(errors="replace"))
