"""The package as it is installed: one version, one native module."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import anabranch
import anabranch._core

REPOSITORY = Path(__file__).parents[2]


def test_the_version_is_that_of_the_cargo_workspace() -> None:
    workspace = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert anabranch.__version__ == version("anabranch") == workspace["package"]["version"]


def test_the_native_module_needs_no_particular_python() -> None:
    assert ".abi3." in Path(anabranch._core.__file__).name or anabranch._core.__file__.endswith(".pyd")
