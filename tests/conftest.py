"""What all tests share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from anabranch.networks import shipped

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Started in the background, where shells switch Ctrl-C off, for all children too: tests of it need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def material_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bundled networks the default evaluator is `material`, which is quick and never changes."""
    monkeypatch.setattr(shipped, "FOLDER", Path("nowhere"))
