"""Every experiment run once at the scale tiny, for all tests to look at."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from anabranch.jobs.executor import Processes
from anabranch.study.draw import draw
from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.figures import Chart
from anabranch.study.run import run_study

HERE = Processes(0)


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each experiment, by name."""
    root = tmp_path_factory.mktemp("studies")
    for name, experiment in EXPERIMENTS.items():
        run_study(experiment.study("tiny"), root / name, HERE)
    return {name: root / name for name in EXPERIMENTS}


@pytest.fixture(scope="session")
def drawn() -> Callable[[Chart], bytes]:
    """The picture of a chart, drawn once for all tests."""
    return cache(draw)
