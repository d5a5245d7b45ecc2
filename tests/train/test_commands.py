"""`anabranch train` refuses in one sentence."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli import run
from anabranch.optional import lacking

from .conftest import Shards


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["train", *arguments]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    return answer.err


def test_bad_options(shards: Shards, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = str(shards()), str(tmp_path / "out")
    new = ["run", "--out", out, "--variant", "crazyhouse", "--data", data]
    assert "needs --variant and --data" in refused(capsys, "run", "--out", out)
    assert "not for atomic" in refused(capsys, "run", "--out", out, "--variant", "atomic", "--data", data)
    assert "of crazyhouse, not of chess" in refused(
        capsys, "run", "--out", out, "--variant", "chess", "--data", data
    )
    assert "not a folder" in refused(capsys, *new[:-1], str(tmp_path / "none"))
    assert "no network giant" in refused(capsys, *new, "--network", "giant")
    assert "multiple of 32" in refused(capsys, *new, "--policy-width", "100")
    assert "between 0 and 1" in refused(capsys, *new, "--result-share", "1.5")
    assert "must be above 0" in refused(capsys, *new, "--rate", "nan")
    assert "cannot be given together" in refused(capsys, *new, "--steps", "5", "--epochs", "2")
    assert "at least 1" in refused(capsys, *new, "--report-every", "0")
    assert not Path(out).exists()


def test_bad_resume_export_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = str(tmp_path)
    assert "no checkpoint" in refused(capsys, "run", "--out", nothing, "--resume")
    assert "--rate cannot be given" in refused(capsys, "run", "--out", nothing, "--resume", "--rate", "0.1")
    assert "not the folder" in refused(capsys, "run", "--out", f"{nothing}/none", "--resume")
    assert "no checkpoint" in refused(capsys, "export", f"{nothing}/x.pt", f"{nothing}/x.safetensors")
    assert "no checkpoint" in refused(capsys, "evaluate", nothing)


def test_without_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without_torch(name: str, *rest: Any) -> Any:
        return None if name == "torch" else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without_torch)
    expected = str(lacking("training needs the package torch", "train"))
    assert expected in refused(capsys, "run", "--out", str(tmp_path))
