"""`anabranch network` and `anabranch analyse --network`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.cli import run
from anabranch.evaluators.stamp import stamp_onnx
from anabranch.networks import Metadata


@pytest.fixture
def network(make_network: Any) -> Path:
    path: Path = make_network("crazyhouse", "v1")
    stamp_onnx(path, Metadata(variant="crazyhouse", inputs="v1", architecture="tiny", step=5000))
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert run([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert (captured.err == "") == (code == 0 or "verify" in arguments)
    return captured.out + captured.err


def test_info(capsys: pytest.CaptureFixture[str], network: Path) -> None:
    said = call(capsys, "network", "info", network)
    for words in ("variant       crazyhouse", "inputs        v1", "step          5,000", "canaries      4"):
        assert words in said
    facts = json.loads(call(capsys, "network", "info", network, "--json"))
    assert (facts["family"], facts["step"], facts["architecture"]) == ("onnx", 5000, "tiny")
    assert len(facts["sha256"]) == 64


def test_info_of_a_file_without_metadata(capsys: pytest.CaptureFixture[str], make_network: Any) -> None:
    said = call(capsys, "network", "info", make_network())
    assert "sha256        none" in said
    assert "notes         it has no metadata and no hash" in said


def test_verify_names_each_problem(capsys: pytest.CaptureFixture[str], network: Path, tmp_path: Path) -> None:
    assert call(capsys, "network", "verify", network) == f"{network}: sound\n"
    damaged, empty = tmp_path / "damaged.onnx", tmp_path / "empty.onnx"
    content = bytearray(network.read_bytes())
    content[len(content) // 2] ^= 64
    damaged.write_bytes(content)
    empty.write_bytes(b"")
    said = call(capsys, "network", "verify", damaged, network, empty, code=2).splitlines()
    assert said == [
        f"refused: {damaged} is refused: its bytes do not have the SHA-256 that it states, so it is damaged",
        f"{network}: sound",
        f"refused: {empty} is empty",
    ]
    found = json.loads(call(capsys, "network", "verify", network, empty, "--json", code=2))
    assert [row["problem"] for row in found] == [None, f"{empty} is empty"]


def test_bench(capsys: pytest.CaptureFixture[str], network: Path) -> None:
    said = call(capsys, "network", "bench", network, "--seconds", "0.1", "--batch-size", "4")
    assert "runtime alone" in said
    assert "in a search" in said
    assert "ratio" in said
    measured = json.loads(call(capsys, "network", "bench", network, "--seconds", "0.1", "--json"))
    assert (measured["batch_size"], measured["threads"], measured["provider"]) == (16, 1, "cpu")
    assert measured["ratio"] > 0


def test_analyse_with_a_network(capsys: pytest.CaptureFixture[str], network: Path, tmp_path: Path) -> None:
    common = ("analyse", "--network", network, "--evaluations", "40")
    found = json.loads(call(capsys, *common, "--variant", "crazyhouse", "--threads", "1", "--json"))
    assert found["statistics"]["evaluations"] == 40
    saved = tmp_path / "saved"
    call(capsys, *common, "--variant", "crazyhouse", "--save", saved)
    found = json.loads(call(capsys, *common, "--load", saved, "--json"))
    assert found["statistics"]["root_visits"] > 60  # it went on
    assert "is for crazyhouse, and this engine plays chess" in call(capsys, *common, code=2)
    assert "cannot both be given" in call(capsys, *common, "--evaluator", "hash", code=2)
    none = tmp_path / "none.onnx"
    assert (
        call(capsys, "analyse", "--network", none, code=2) == f"anabranch: there is no network file {none}\n"
    )


@pytest.mark.parametrize("options", [["--batch-size", "0"], ["--seconds", "0"], ["--threads", "0"]])
def test_bench_refuses_nonsense(
    capsys: pytest.CaptureFixture[str], network: Path, options: list[str]
) -> None:
    assert call(capsys, "network", "bench", network, *options, code=2).startswith("anabranch: ")
