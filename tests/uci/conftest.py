"""The engine as tests of the protocol get it; the validator judges what it said when a test is over."""

from collections.abc import Iterator

import pytest
from tests.support.engine_process import EngineProcess
from tests.support.engine_session import Session


@pytest.fixture
def session() -> Iterator[Session]:
    """Our engine in this process."""
    with Session() as session:
        yield session
        session.check()


@pytest.fixture
def engine() -> Iterator[EngineProcess]:
    """Our engine in a process of its own, which must not write to its standard error."""
    with EngineProcess() as engine:
        yield engine
        engine.check()
        assert not engine.error_text
