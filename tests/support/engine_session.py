"""A dialogue with our engine in this process: `UciSession.handle(line)` and its sink, without pipes."""

from __future__ import annotations

from tests.support.dialogue import Dialogue, NoAnswer

from anabranch.uci import UciSession


class Session(Dialogue):
    """Our engine. Use it in a `with` block."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = True
        self.session = UciSession(self.receive)

    def carry(self, text: str) -> None:
        """Hand over a line."""
        self.goes_on = self.session.handle(text)

    def rest(self, seconds: float = 60.0) -> None:
        """Wait until the engine has nothing more to do."""
        if not self.session.wait(seconds):
            raise NoAnswer(f"the engine is still busy after {seconds:g} s:\n{self.excerpt()}")

    def close(self) -> None:
        """End the session."""
        self.session.close()
        self.end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
