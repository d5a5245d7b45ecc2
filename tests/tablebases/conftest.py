"""The tables of three and four men, which set-up installs, and python-chess's prober as the judge."""

from collections.abc import Iterator
from pathlib import Path

import chess.syzygy
import pytest
from tests.support.tables import TABLES

from anabranch import _core


@pytest.fixture(scope="session")
def directory() -> Path:
    return TABLES


@pytest.fixture(scope="session")
def tables(directory: Path) -> _core.Tablebases:
    tables = _core.Tablebases([directory])
    assert (tables.men, len(tables.files), tables.problems) == (4, 70, [])
    return tables


@pytest.fixture(scope="session")
def prober(directory: Path) -> Iterator[chess.syzygy.Tablebase]:
    with chess.syzygy.open_tablebase(str(directory)) as tablebase:
        yield tablebase
