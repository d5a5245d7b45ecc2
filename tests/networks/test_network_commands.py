"""`anabranch network` and `anabranch analyse --network`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands

from anabranch.evaluators.stamp import stamp_onnx
from anabranch.networks import Metadata
from anabranch.networks.shipped import bundled


@pytest.fixture
def network(make_network: Any) -> Path:
    path: Path = make_network("crazyhouse", "v1")
    stamp_onnx(path, Metadata(variant="crazyhouse", inputs="v1", architecture="tiny", step=5000))
    return path


def test_info(cli: Commands, network: Path) -> None:
    said = cli.shows("network", "info", network)
    for words in ("variant       crazyhouse", "inputs        v1", "step          5,000", "canaries      4"):
        assert words in said
    facts = cli.json("network", "info", network)
    assert (facts["family"], facts["step"], facts["architecture"]) == ("onnx", 5000, "tiny")
    assert len(facts["sha256"]) == 64


def test_info_of_a_file_without_metadata(cli: Commands, make_network: Any) -> None:
    said = cli.shows("network", "info", make_network())
    assert "sha256        none" in said
    assert "notes         it has no metadata and no hash" in said


def test_verify_names_each_problem(cli: Commands, network: Path, tmp_path: Path) -> None:
    assert cli.shows("network", "verify", network) == f"{network}: sound\n"
    damaged, empty = tmp_path / "damaged.onnx", tmp_path / "empty.onnx"
    content = bytearray(network.read_bytes())
    content[len(content) // 2] ^= 64
    damaged.write_bytes(content)
    empty.write_bytes(b"")
    said = "".join(cli.run("network", "verify", damaged, network, empty, code=2)).splitlines()
    assert said == [
        f"{damaged} is refused: its bytes do not have the SHA-256 that it states, so it is damaged",
        f"{network}: sound",
        f"{empty} is empty",
    ]
    found = json.loads(cli.run("network", "verify", network, empty, "--json", code=2).out)
    assert [row["problem"] for row in found] == [None, f"{empty} is empty"]


def test_only_halves_that_fit_are_combined(cli: Commands, network: Path, tmp_path: Path) -> None:
    chess, crazyhouse = bundled("chess"), bundled("crazyhouse")
    assert chess is not None
    assert crazyhouse is not None
    out = tmp_path / "new.safetensors"
    assert cli.shows("network", "combine", chess, chess, "--out", out) == f"{out}\n"
    before, after = cli.json("network", "info", chess), cli.json("network", "info", out)
    # The halves of the package's network are of two runs, and keep the metadata of their own.
    assert [after[f"{half}.sha256"] for half in ("policy", "value")] == [
        before[f"{half}.sha256"] for half in ("policy", "value")
    ]
    said = cli.run("network", "combine", chess, crazyhouse, "--out", out, code=2).err
    assert "do not fit: their variant is chess and crazyhouse" in said
    assert (
        "not a network of the family sparse"
        in cli.run("network", "combine", chess, network, "--out", out, code=2).err
    )


def test_bench(cli: Commands, network: Path) -> None:
    said = cli.shows("network", "bench", network, "--seconds", "0.1", "--batch-size", "4")
    assert "runtime alone" in said
    assert "in a search" in said
    assert "ratio" in said
    measured = cli.json("network", "bench", network, "--seconds", "0.1")
    assert (measured["batch_size"], measured["threads"], measured["provider"]) == (16, 1, "cpu")
    assert measured["ratio"] > 0


def test_analyse_with_a_network(cli: Commands, network: Path, tmp_path: Path) -> None:
    common = ("analyse", "--network", network, "--evaluations", "40")
    found = cli.json(*common, "--variant", "crazyhouse", "--threads", "1")
    assert found["statistics"]["evaluations"] == 40
    saved = tmp_path / "saved"
    cli.shows(*common, "--variant", "crazyhouse", "--save", saved)
    found = cli.json(*common, "--load", saved)
    assert found["statistics"]["root_visits"] > 60  # it went on
    assert "is for crazyhouse, and this engine plays chess" in cli.refuses(*common)
    assert "cannot both be given" in cli.refuses(*common, "--evaluator", "hash")
    none = tmp_path / "none.onnx"
    assert cli.refuses("analyse", "--network", none) == f"anabranch: there is no network file {none}\n"


@pytest.mark.parametrize("options", [["--batch-size", "0"], ["--seconds", "0"], ["--threads", "0"]])
def test_bench_refuses_nonsense(cli: Commands, network: Path, options: list[str]) -> None:
    cli.refuses("network", "bench", network, *options)
