"""Every experiment run once at the scale tiny, for all tests to look at."""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from anabranch.jobs.executor import Processes
from anabranch.study.draw import draw
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.figures import Chart
from anabranch.study.run import run_study

HERE = Processes(0)


class Studies(Mapping[str, Path]):
    """The folder of each experiment, by name. An experiment runs when a test first asks for it, once for all
    processes of a test run, because some take long; no test changes its folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def __getitem__(self, name: str) -> Path:
        folder, done = self._root / name, self._root / f"{name}.done"
        with open(self._root / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                run_study(EXPERIMENTS[name].study("tiny"), folder, HERE)
                done.touch()
        return folder

    def __iter__(self) -> Iterator[str]:
        return iter(EXPERIMENTS)

    def __len__(self) -> int:
        return len(EXPERIMENTS)


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Every experiment, run once at the scale tiny."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "studies"
    root.mkdir(exist_ok=True)
    return Studies(root)


@pytest.fixture(scope="session")
def drawn() -> Callable[[Chart], bytes]:
    """The picture of a chart, drawn once for all tests."""
    return cache(draw)
