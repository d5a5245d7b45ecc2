"""Searches that are stopped from another thread."""

import threading
import time

from anabranch import Engine, Result

LATENCY = 0.25
"""Seconds within which a stop is obeyed, on a machine that has other things to do."""


def search_until_stopped(engine: Engine, position: str, delay: float) -> Result:
    """Stop a search after so many seconds; it must end at once."""
    moments: list[float] = []

    def stop() -> None:
        moments.append(time.monotonic())
        engine.stop()

    timer = threading.Timer(delay, stop)
    timer.start()
    result = engine.search(position, time=20)
    latency = time.monotonic() - moments[0]
    timer.join()
    print(f"stopped after {1000 * latency:.1f} ms")
    assert result.finish == "stopped"
    assert latency < LATENCY
    return result
