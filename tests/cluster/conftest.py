"""A Ray cluster of two nodes on this machine. `make test-cluster` installs Ray."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes of one core each; the second is `cluster.second`."""
    # Workers find the jobs of tests, and send nothing about us anywhere.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.second = made.add_node(num_cpus=1)
    try:
        yield made
    finally:
        made.shutdown()
