"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.networks import shipped

EXACT = {"differential", "rules", "search", "unit"}


@pytest.fixture(autouse=True)
def _no_shipped_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of the search were made for `material`, whose numbers never change: it is the default there."""
    folder = request.path.parent.name
    if folder in EXACT and "shipped_network" not in request.keywords:
        monkeypatch.setattr(shipped, "FOLDER", Path("nowhere"))
