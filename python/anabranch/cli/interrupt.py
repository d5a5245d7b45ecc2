"""Work of the core that knows no stop flag, made to give way to Ctrl-C.

It runs in a thread of its own while the main thread stays with Python, where signals arrive. After Ctrl-C the
work is left behind; `main` ends the process without waiting for it.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Do the work; KeyboardInterrupt comes through at once.

    >>> interruptible(lambda: 6 * 7)
    42
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def act() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=act, name="anabranch-work", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if errors:
        raise errors[0]
    return results[0]
