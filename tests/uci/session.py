"""A dialogue with our engine in this process: `UciSession.handle(line)` and its sink, without pipes."""

from __future__ import annotations

from anabranch.uci import UciSession
from tests.uci.dialogue import Dialogue


class Session(Dialogue):
    """Our engine. Use it in a `with` block."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = True
        self.session = UciSession(self.hear)

    def carry(self, text: str) -> None:
        """Hand over a line."""
        self.goes_on = self.session.handle(text)

    def close(self) -> None:
        """End the session."""
        self.session.close()
        self.end()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
