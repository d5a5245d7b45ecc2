"""Settings of the process that make training fast on a CPU."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

import torch

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def prepare(threads: int | None) -> None:
    """Set the threads of PyTorch, treat denormal numbers as 0, keep freed memory for the next batch."""
    if threads is not None:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if sys.platform.startswith("linux"):
        # Large tensors are made anew in each step; giving their pages back in between costs more than the
        # arithmetic.
        with suppress(AttributeError, OSError):
            library = ctypes.CDLL(None)
            library.mallopt(_MMAP_THRESHOLD, 2**30)
            library.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
