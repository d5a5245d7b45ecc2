"""The examples of the guides run in a folder of their own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that an example writes do not stay."""
    monkeypatch.chdir(tmp_path)
