"""`anabranch train` refuses in one sentence."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands

from anabranch.optional import lacking

from .conftest import Shards


def test_bad_options(shards: Shards, tmp_path: Path, cli: Commands) -> None:
    data, out = str(shards()), str(tmp_path / "out")
    new = ["run", "--out", out, "--variant", "crazyhouse", "--data", data]
    assert "needs --variant and --data" in cli.refuses("train", "run", "--out", out)
    assert "not for atomic" in cli.refuses(
        "train", "run", "--out", out, "--variant", "atomic", "--data", data
    )
    assert "of crazyhouse, not of chess" in cli.refuses(
        "train", "run", "--out", out, "--variant", "chess", "--data", data
    )
    assert "not a folder" in cli.refuses("train", *new[:-1], str(tmp_path / "none"))
    assert "no network giant" in cli.refuses("train", *new, "--network", "giant")
    assert "multiple of 32" in cli.refuses("train", *new, "--policy-width", "100")
    assert "between 0 and 1" in cli.refuses("train", *new, "--result-share", "1.5")
    assert "must be above 0" in cli.refuses("train", *new, "--rate", "nan")
    assert "cannot be given together" in cli.refuses("train", *new, "--steps", "5", "--epochs", "2")
    assert "at least 1" in cli.refuses("train", *new, "--report-every", "0")
    assert not Path(out).exists()


def test_bad_resume_export_evaluate(tmp_path: Path, cli: Commands) -> None:
    nothing = str(tmp_path)
    assert "no checkpoint" in cli.refuses("train", "run", "--out", nothing, "--resume")
    assert "--rate cannot be given" in cli.refuses(
        "train", "run", "--out", nothing, "--resume", "--rate", "0.1"
    )
    assert "not the folder" in cli.refuses("train", "run", "--out", f"{nothing}/none", "--resume")
    assert "no checkpoint" in cli.refuses("train", "export", f"{nothing}/x.pt", f"{nothing}/x.safetensors")
    assert "no checkpoint" in cli.refuses("train", "evaluate", nothing)


def test_without_the_extra(tmp_path: Path, cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def without_torch(name: str, *rest: Any) -> Any:
        return None if name == "torch" else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without_torch)
    expected = str(lacking("training needs the package torch", "train"))
    assert expected in cli.refuses("train", "run", "--out", str(tmp_path))
