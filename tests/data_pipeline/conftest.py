"""Teachers for tests: small UCI engines that answer by the position alone, and that can misbehave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.fake_engine import FakeEngine, fake_engines


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[FakeEngine]:
    """Makes an engine that misbehaves at every ninth search."""
    yield from fake_engines(tmp_path)
