"""What the tests of the analysis server share: a client in the process, and the schema of its messages."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator

import anabranch.serve
from anabranch.evaluators import Leaf
from anabranch.serve import Service, ServiceOptions
from anabranch.serve.engines import EngineDefaults

SCHEMA = json.loads(Path(anabranch.serve.__file__).with_name("schema.json").read_text(encoding="utf-8"))
ANSWERS = ("result", "progress", "error", "cancelled", "done", "status")
ENVELOPE = ("schema", "type", "id", "ply")
Message = dict[str, Any]


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{name}"})


VALIDATORS = {name: validator(name) for name in (*ANSWERS, "query", "action")}


def check_answer(answer: Message) -> Message:
    """An answer that fits the schema of its type."""
    VALIDATORS[answer["type"]].validate(answer)
    return answer


def found_in(answer: Message) -> Message:
    """What an answer found, without its head and the time that it took."""
    return {name: value for name, value in answer.items() if name not in (*ENVELOPE, "elapsed")}


class OfPositions:
    """An evaluator of Python. It notes the sizes of its batches, and can be made to wait."""

    inputs: Literal["positions"] = "positions"

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.gate = threading.Event()
        self.gate.set()

    def evaluate(self, leaves: Sequence[Leaf]) -> tuple[list[float], list[list[float]]]:
        self.sizes.append(len(leaves))
        assert self.gate.wait(30)
        values = [(sum(map(ord, leaf.fen)) % 41) / 50.0 - 0.4 for leaf in leaves]
        return values, [[(sum(map(ord, move)) % 13) / 4.0 for move in leaf.moves] for leaf in leaves]


class Talk:
    """A client of a service, that waits for answers."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.answers: list[Message] = []
        self._news = threading.Condition()
        self.client = service.connect(self._deliver)

    def _deliver(self, line: str) -> None:
        with self._news:
            self.answers.append(check_answer(json.loads(line)))
            self._news.notify_all()
        self.service.read(self.client)

    def send(self, *messages: Message | str | bytes) -> None:
        for message in messages:
            self.service.receive(self.client, json.dumps(message) if isinstance(message, dict) else message)

    def wait_for(self, count: int = 1, *kinds: str, seconds: float = 30) -> list[Message]:
        """The answers of some types, of all without names, once there are so many."""

        def chosen() -> list[Message]:
            return [answer for answer in self.answers if not kinds or answer["type"] in kinds]

        with self._news:
            assert self._news.wait_for(lambda: len(chosen()) >= count, seconds), self.answers
            return chosen()

    def ask(self, *messages: Message) -> list[Message]:
        """The answers to messages, when all of them are there."""
        before = len(self.answers)
        self.send(*messages)
        self.service.drain(self.client)
        return self.answers[before:]


@contextmanager
def talking(evaluator: Any = "material", threads: int = 2, batch: int = 32) -> Iterator[Talk]:
    options = ServiceOptions(threads=threads, batch=batch, engines=EngineDefaults(evaluator=evaluator))
    with Service(options) as service:
        yield Talk(service)
