"""What all tests share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from anabranch.networks import shipped

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Started in the background, where shells switch Ctrl-C off, for all children too: tests of it need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

EXACT = {"differential", "rules", "search", "unit"}


@pytest.fixture(autouse=True)
def _no_shipped_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of the search were made for `material`, whose numbers never change: it is the default there."""
    folder = request.path.parent.name
    if folder in EXACT and "shipped_network" not in request.keywords:
        monkeypatch.setattr(shipped, "FOLDER", Path("nowhere"))
