"""A dialogue with a UCI engine, whatever carries it: every line of both sides with its time, and waiting for
answers.

What carries the lines is in `process.py` (a program behind pipes) and `session.py` (our engine in process).
What they mean is judged by `validator.py`.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

from tests.support.validator import STRICT, Event, Fault, Rules, Validator


class NoAnswer(AssertionError):  # noqa: N818 (the name describes it)
    """The engine did not answer in time."""


class Dialogue(ABC):
    """The lines of both sides, and a way to send more. Lines are numbered by place in the transcript.

    Use it in a `with` block.
    """

    def __init__(self) -> None:
        self.transcript: list[Event] = []
        self.is_ended = False
        self._condition = threading.Condition()
        self._read = 0

    @abstractmethod
    def carry(self, text: str) -> None:
        """Bring a line to the engine."""

    @abstractmethod
    def close(self) -> None:
        """End the engine, however the test went."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *lines: str) -> float:
        """Send lines; the time just before the last."""
        at = 0.0
        for text in lines:
            with self._condition:
                at = time.monotonic()
                self.transcript.append(Event(at, True, text))
            self.carry(text)
        return at

    def receive(self, text: str) -> None:
        """Note a line of the engine."""
        with self._condition:
            self.transcript.append(Event(time.monotonic(), False, text))
            self._condition.notify_all()

    def end(self) -> None:
        """The engine sends no more."""
        with self._condition:
            self.is_ended = True
            self._condition.notify_all()

    def wait_until(self, wanted: Callable[[str], bool], seconds: float = 20.0) -> Event:
        """The next line of the engine, after those waited for before, that is wanted."""
        deadline = time.monotonic() + seconds
        with self._condition:
            while True:
                while self._read < len(self.transcript):
                    event = self.transcript[self._read]
                    self._read += 1
                    if not event.to_engine and wanted(event.text):
                        return event
                left = deadline - time.monotonic()
                if self.is_ended or left <= 0:
                    raise NoAnswer(f"no answer in {seconds:g} s:\n{self.excerpt()}")
                self._condition.wait(left)

    def wait_for(self, word: str, seconds: float = 20.0) -> Event:
        """The next line that begins with a word."""
        return self.wait_until(lambda text: text.split(" ", 1)[0] == word, seconds)

    def ask(self, *lines: str, answer: str = "bestmove", seconds: float = 20.0) -> str:
        """Send lines, and wait for the answer to the last."""
        self.send(*lines)
        return self.wait_for(answer, seconds).text

    def greet(self, **options: object) -> None:
        """`uci`, options (`_` stands for a space), `isready`."""
        self.ask("uci", answer="uciok")
        for name, value in options.items():
            self.send(f"setoption name {option_name(name)} value {option_value(value)}")
        self.settle()

    def settle(self, seconds: float = 20.0) -> None:
        """`isready` and its answer: all before it has been dealt with."""
        self.ask("isready", answer="readyok", seconds=seconds)

    def rest(self, seconds: float = 60.0) -> None:
        """Wait until the engine has nothing more to do, as far as one can know."""
        self.settle(seconds)

    def said(self, word: str, since: int = 0) -> list[str]:
        """The lines of the engine that begin with a word."""
        events = self.transcript[since:]
        return [event.text for event in events if not event.to_engine and event.text.split(" ", 1)[0] == word]

    def faults(self, rules: Rules = STRICT) -> list[Fault]:
        """What the validator finds."""
        validator = Validator(rules)
        with self._condition:
            events = list(self.transcript)
        for event in events:
            (validator.command if event.to_engine else validator.line)(event.text, event.at)
        return validator.finish()

    def check(self, rules: Rules = STRICT) -> None:
        """Fail where the validator finds a fault."""
        faults = self.faults(rules)
        shown = "\n".join(f"{fault.rule}: {fault.text}" for fault in faults[:20])
        assert not faults, f"{len(faults)} faults:\n{shown}\n\n{self.excerpt()}"

    def excerpt(self, lines: int = 40) -> str:
        """The end of the dialogue, for a reader."""
        events = self.transcript[-lines:]
        return "\n".join(f"{'>' if event.to_engine else '<'} {event.text[:300]}" for event in events)


def option_name(name: str) -> str:
    """`Move_Overhead` for `Move Overhead`; names that begin with `UCI_` keep theirs.

    >>> option_name("Move_Overhead"), option_name("UCI_ShowWDL")
    ('Move Overhead', 'UCI_ShowWDL')
    """
    return name if name.startswith("UCI_") else name.replace("_", " ")


def option_value(value: object) -> str:
    """A value as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
