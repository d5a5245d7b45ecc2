"""Jobs for tests of executors; a module of its own, because worker processes import it."""

import os
import signal
import threading
import time
from pathlib import Path

from anabranch.errors import SettingError
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.evaluators.open import open_network
from anabranch.networks.planes import encode
from anabranch.networks.shipped import FOLDER


def square(number: int) -> int:
    return number * number


def slow_square(number: int) -> int:
    time.sleep(0.3)
    return number * number


def die_once(job: tuple[str, int]) -> int:
    """The worker that is first given number 3 is killed over it."""
    folder, number = job
    mark = Path(folder) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(job: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return job


def refuse(job: int) -> int:
    raise SettingError(f"number {job} is refused")


def fail(job: int) -> float:
    return 1 / (job - job)


def leave_a_mark() -> None:
    Path(os.environ["MARK"]).touch()


def evaluate_without_end(number: int) -> int:
    """The first job leaves a thread that evaluates a network, and ends."""
    if number > 0:
        time.sleep(100.0)
    network = open_network(FOLDER / "chess-rise.onnx", threads=1)
    assert isinstance(network, OnnxEvaluator)
    planes, _ = encode(["startpos"] * 64)
    is_begun = threading.Event()

    def evaluate() -> None:
        while True:
            network.evaluate(planes)
            is_begun.set()

    threading.Thread(target=evaluate, daemon=True).start()
    is_begun.wait()
    return number
