"""How long work reports its progress: one callback for all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

OnProgress: TypeAlias = Callable[[float, float | None, str], object]
"""Called with the amount done, the total where that is known, and a few words about it."""


def no_progress(done: float, total: float | None, words: str) -> None:
    """Report nothing."""
