"""Engines that misbehave, for tests of matches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.fake_engine import FakeEngine, fake_engines


@pytest.fixture
def mock(tmp_path: Path) -> Iterator[FakeEngine]:
    """Makes an engine that misbehaves at its second search."""
    yield from fake_engines(tmp_path, every=2)
