"""What all tests share."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.commands import Commands
from tests.support.fake_engine import FakeEngine, fake_engines

from anabranch.networks import shipped

for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):  # networks of the user have no effect on tests
    os.environ[variable] = tempfile.mkdtemp(prefix="anabranch-tests-")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Started in the background, where shells switch Ctrl-C off, for all children too: tests of it need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def material_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bundled networks the default evaluator is `material`, which is quick and never changes."""
    monkeypatch.setattr(shipped, "FOLDER", Path("nowhere"))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Commands:
    """The command line in this process."""
    return Commands(capsys)


@pytest.fixture
def mock(tmp_path: Path) -> Iterator[FakeEngine]:
    """Makes an engine that misbehaves at its second search."""
    yield from fake_engines(tmp_path, every=2)


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeEngine]:
    """Makes an engine that misbehaves at every ninth search."""
    yield from fake_engines(tmp_path)
