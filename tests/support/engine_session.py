"""A dialogue with our engine in this process: `UciSession.handle(line)` and its sink, without pipes."""

from tests.support.dialogue import Dialogue, NoAnswer, option_value

from anabranch.uci import UciSession


class Session(Dialogue):
    """Our engine."""

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


def answers(session: Session, *lines: str) -> list[str]:
    """The lines of the engine in answer to lines."""
    session.rest()
    since = len(session.transcript)
    session.send(*lines)
    session.rest()
    return [event.text for event in session.transcript[since:] if not event.to_engine]


def set_option(session: Session, name: str, value: object) -> list[str]:
    return answers(session, f"setoption name {name} value {option_value(value)}")


def number_after(lines: list[str], word: str) -> float:
    """The last number after a word."""
    found = [line.split() for line in lines if word in line.split()]
    return float(found[-1][found[-1].index(word) + 1])
