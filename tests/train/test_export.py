import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from safetensors import safe_open

from anabranch import _core
from anabranch.data.shards import list_shards
from anabranch.errors import DataError, TrainingError
from anabranch.evaluators.open import verify_network
from anabranch.networks import describe_network
from anabranch.networks.combine import combine_networks
from anabranch.train.evaluate import load_network
from anabranch.train.export import check_difference, export_network, quantise
from anabranch.train.loop import RunOutcome, start
from anabranch.train.options import RunOptions
from anabranch.train.planes import PlaneNetwork
from anabranch.train.positions import read_training_data
from anabranch.train.recipe import Recipe
from anabranch.train.to_onnx import compare_onnx, write_onnx

from .conftest import Shards


def run(data: Path, out: Path, **changes: object) -> RunOutcome:
    recipe = Recipe(
        variant="crazyhouse", policy_width=64, value_width=32, steps=20, batch=64, held_out=0.2, rate=0.01
    )
    recipe = recipe.changed(**changes)
    return start(recipe, list_shards([data]), None, out, RunOptions(), lambda sentence: None)


@pytest.mark.parametrize("variant", ["crazyhouse", "chess"])
def test_sparse_file_says_what_its_source_says(shards: Shards, tmp_path: Path, variant: str) -> None:
    outcome = run(shards(variant), tmp_path / "out", variant=variant)
    file = tmp_path / "net.safetensors"
    sentence = export_network(outcome.checkpoint, file, None, "GPL-3.0-or-later", "tiny", print)
    assert "step 20" in sentence
    network = _core.Network(str(file))
    about = network.metadata
    assert (about["variant"], about["step"], about["licence"]) == (variant, "20", "GPL-3.0-or-later")
    assert about["name"] == "tiny"
    assert json.loads(about["recipe"])["steps"] == 20
    assert len(json.loads(about["canaries"])) == 8
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []
    with safe_open(str(file), "numpy") as content:
        assert content.get_tensor("policy.inputs.weight").shape == (3549, 64)
        assert content.get_tensor("value.inputs.bias").dtype == np.int16


def test_halves_are_trained_apart_and_combined(shards: Shards, tmp_path: Path) -> None:
    data = shards("chess")
    files = {}
    for half, changes in (("policy", {"value_width": 0}), ("value", {"policy_width": 0, "value_width": 64})):
        outcome = run(data, tmp_path / half, variant="chess", **changes)
        files[half] = tmp_path / f"{half}.safetensors"
        export_network(outcome.checkpoint, files[half], None, "GPL-3.0-or-later", None, print)
    both = tmp_path / "both.safetensors"
    combine_networks(files["policy"], files["value"], both, "both")
    fens = read_training_data(list_shards([data]), Recipe("chess")).train.fens.to_pylist()[:20]
    answers = {
        name: _core.Network(str(path)).evaluate(fens) for name, path in (*files.items(), ("both", both))
    }
    for policy, value, combined in zip(answers["policy"], answers["value"], answers["both"], strict=True):
        assert combined == (value[0], value[1], policy[2])
        assert policy[0] == 0.0
        assert {logit for _, logit in value[2]} == {0.0}
    assert len({answer[0] for answer in answers["both"]}) > 10
    about = _core.Network(str(both)).metadata
    assert json.loads(about["policy.recipe"])["value_width"] == 0
    assert json.loads(about["value.recipe"])["policy_width"] == 0
    combine_networks(both, files["value"], tmp_path / "again.safetensors")
    again = _core.Network(str(tmp_path / "again.safetensors")).metadata
    assert {name: text for name, text in about.items() if name != "name"} == again
    with pytest.raises(TrainingError, match="nothing to train"):
        Recipe("chess", policy_width=0, value_width=0).check()


@pytest.mark.parametrize("network", ["resnet", "rise"])
def test_onnx_runtime_says_what_torch_says(shards: Shards, tmp_path: Path, network: str) -> None:
    data = shards()
    outcome = run(data, tmp_path / "out", network=network, channels=8, blocks=2)
    built, recipe, _ = load_network(outcome.checkpoint, print)
    assert isinstance(built, PlaneNetwork)
    file = tmp_path / "net.onnx"
    write_onnx(built, file)
    positions = read_training_data(list_shards([data]), recipe).held_out
    check_difference(compare_onnx(built, file, positions.take(np.arange(70))))
    model = onnx.load(str(file))
    assert [put.name for put in model.graph.input] == ["data"]
    assert [put.name for put in model.graph.output] == ["value", "policy"]
    assert model.opset_import[0].version >= 17
    shape = [size.dim_value or size.dim_param for size in model.graph.input[0].type.tensor_type.shape.dim]
    assert shape == ["batch", 64, 8, 8]


@pytest.mark.parametrize("network", ["resnet", "rise"])
def test_onnx_file_is_stamped(shards: Shards, tmp_path: Path, network: str) -> None:
    outcome = run(shards(), tmp_path / "out", network=network, channels=8, blocks=2)
    file = tmp_path / "net.onnx"
    sentence = export_network(outcome.checkpoint, file, None, "GPL-3.0-or-later", "tiny", print)
    assert "step 20" in sentence
    about = describe_network(file)
    assert (about["variant"], about["architecture"], about["step"]) == ("crazyhouse", network, 20)
    assert about["name"] == "tiny"
    assert about["canaries"] > 0
    verify_network(file)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_file_that_differs_is_refused(
    shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run(shards(), tmp_path / "out")

    def damaged(network: object) -> dict[str, np.ndarray]:
        arrays = quantise(network)
        arrays["value.output.bias"] = arrays["value.output.bias"] + np.array([0.3, 0, 0], np.float32)
        return arrays

    monkeypatch.setattr("anabranch.train.export.quantise", damaged)
    with pytest.raises(TrainingError, match="differs too much from its source: value"):
        export_network(
            outcome.checkpoint, tmp_path / "net.safetensors", None, "GPL-3.0-or-later", None, print
        )
    assert not (tmp_path / "net.safetensors").exists()
    with pytest.raises(TrainingError, match="logit"):
        check_difference({"value_max": 0.0, "value_mean": 0.0, "logit_max": float("nan"), "logit_mean": 0.0})


def test_names_and_missing_shards_are_sentences(shards: Shards, tmp_path: Path) -> None:
    data = shards()
    outcome = run(data, tmp_path / "out")
    with pytest.raises(TrainingError, match=r"named \.safetensors, not 'net.onnx'"):
        export_network(outcome.checkpoint, tmp_path / "net.onnx", None, "x", None, print)
    with pytest.raises(TrainingError, match="there is no directory"):
        export_network(outcome.checkpoint, tmp_path / "nowhere" / "net.safetensors", None, "x", None, print)
    other = shards(name="other")
    for shard in list_shards([data]):
        shard.path.unlink()
    with pytest.raises(DataError, match="no position"):
        export_network(outcome.checkpoint, tmp_path / "net.safetensors", None, "x", None, print)
    export_network(outcome.checkpoint, tmp_path / "net.safetensors", [other], "x", None, print)


def test_checkpoint_of_other_shapes_is_refused(shards: Shards, tmp_path: Path) -> None:
    import torch

    outcome = run(shards(), tmp_path / "out")
    content = torch.load(outcome.checkpoint, weights_only=True)
    content["network"]["hidden2"] = torch.zeros(2)
    torch.save(content, outcome.checkpoint)
    with pytest.raises(TrainingError, match="do not fit its recipe"):
        load_network(outcome.checkpoint, print)
    content["recipe"]["strange"] = 1
    torch.save(content, outcome.checkpoint)
    with pytest.raises(TrainingError, match="another version"):
        load_network(outcome.checkpoint, print)
