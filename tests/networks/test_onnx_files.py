"""Network files: what is refused and why, and what a stamp brings."""

import contextlib
import io
import json
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from anabranch.errors import NetworkError
from anabranch.evaluators.open import open_network, verify_network
from anabranch.evaluators.stamp import stamp_onnx
from anabranch.networks import Canary, Metadata, describe_network, read_onnx
from anabranch.networks.container import read_texts, seal_of, with_texts
from anabranch.networks.metadata import Metadata as Texts

METADATA = Metadata(
    variant="chess", architecture="tiny", step=1200, licence="GPL-3.0-or-later", more={"data": "by hand"}
)


@pytest.fixture
def stamped(make_network: Any) -> Path:
    path: Path = make_network()
    stamp_onnx(path, METADATA)
    return path


def refusal(path: Path, content: bytes | None = None) -> str:
    """The sentence with which a file is refused: one line that names the file."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NetworkError) as caught:
        verify_network(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def test_a_stamp_says_what_the_network_is(stamped: Path) -> None:
    file = read_onnx(stamped)
    assert file.metadata == METADATA
    assert file.sha256 == seal_of(stamped.read_bytes())
    assert len(file.canaries) == 4
    assert all(len(canary.logits) == 6 for canary in file.canaries)
    facts = describe_network(stamped)
    assert (facts["step"], facts["licence"], facts["data"]) == (1200, "GPL-3.0-or-later", "by hand")
    assert facts["notes"] == []
    verify_network(stamped)
    model = onnx.load(str(stamped))
    assert {entry.key: entry.value for entry in model.metadata_props}["anabranch.variant"] == "chess"


def test_a_stamp_leaves_the_weights_alone(make_network: Any, tmp_path: Path) -> None:
    source = make_network()
    before = source.read_bytes()
    target = tmp_path / "stamped.onnx"
    stamp_onnx(source, METADATA, target)
    assert source.read_bytes() == before
    model = onnx.load(str(target))
    del model.metadata_props[:]
    assert model.SerializeToString(deterministic=True) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.onnx", "stamped.onnx"]
    again = stamp_onnx(target, METADATA)
    assert again.content == target.read_bytes()
    assert again.sha256 == read_onnx(target).sha256


def test_metadata_of_others_are_kept(make_model: Any, tmp_path: Path) -> None:
    model = make_model()
    helper.set_model_props(model, {"author": "somebody"})
    path = tmp_path / "net.onnx"
    onnx.save(model, str(path))
    stamp_onnx(path, METADATA)
    assert read_texts(path.read_bytes())["author"] == "somebody"


def test_stamps_that_are_wrong(make_network: Any, tmp_path: Path) -> None:
    path = make_network()
    before = path.read_bytes()
    for metadata, reason in (
        (Metadata(variant="crazyhouse"), "it takes 52 planes, and crazyhouse v3 has 64"),
        (Metadata(variant="draughts"), "no variant named"),
        (Metadata(variant="chess", inputs="v1"), "there are no planes"),
        (Metadata(variant="chess", value="wdl"), "its value has 1 columns, and its metadata say wdl"),
        (Metadata(variant="chess", value="odd"), "value 'odd', which is not scalar or wdl"),
    ):
        with pytest.raises(NetworkError, match=reason):
            stamp_onnx(path, metadata)
    assert path.read_bytes() == before
    with pytest.raises(NetworkError, match="cannot be written"):
        stamp_onnx(path, METADATA, tmp_path / "nowhere" / "net.onnx")


@pytest.mark.parametrize(
    ("variant", "version"), [("chess", "v3"), ("crazyhouse", "v3"), ("crazyhouse", "v1")]
)
def test_files_without_metadata_are_told_by_their_shapes(
    make_network: Any, variant: str, version: str
) -> None:
    path = make_network(variant, version)
    facts = describe_network(path)
    assert (facts["variant"], facts["inputs"], facts["sha256"]) == (variant, version, None)
    assert "no hash" in facts["notes"][0]
    verify_network(path)


class TestDamage:
    def test_truncated_anywhere(self, stamped: Path) -> None:
        content = stamped.read_bytes()
        source = random.Random(1)
        for length in [1, 2, 7, 100, len(content) - 1, *(source.randrange(len(content)) for _ in range(25))]:
            refusal(stamped, content[:length])

    def test_truncated_without_metadata(self, make_network: Any) -> None:
        path = make_network()
        content = path.read_bytes()
        source = random.Random(2)
        for length in (1, 50, len(content) // 2, *(source.randrange(len(content)) for _ in range(10))):
            refusal(path, content[:length])

    def test_any_flipped_bit(self, stamped: Path) -> None:
        content = stamped.read_bytes()
        source = random.Random(3)
        places = [*range(40), *range(len(content) - 60, len(content))]
        places += [source.randrange(len(content)) for _ in range(150)]
        for place in places:
            flipped = bytearray(content)
            flipped[place] ^= 1 << source.randrange(8)
            stamped.write_bytes(flipped)
            with pytest.raises(NetworkError, match=r"net\.onnx"):
                read_onnx(stamped)

    def test_a_flipped_weight_is_named_for_what_it_is(self, stamped: Path) -> None:
        content = bytearray(stamped.read_bytes())
        content[len(content) // 2] ^= 1
        assert "SHA-256" in refusal(stamped, bytes(content))

    def test_flipped_bits_without_a_hash_do_no_harm(self, make_network: Any) -> None:
        """Some cannot be found without a hash; none may end in anything but a network or a sentence."""
        path = make_network()
        content = path.read_bytes()
        source = random.Random(5)
        graph = len(content) - 600  # names and shapes stand at the end
        for number in range(60):
            flipped = bytearray(content)
            place = source.randrange(graph, len(content)) if number % 2 else source.randrange(len(content))
            flipped[place] ^= 1 << source.randrange(8)
            path.write_bytes(flipped)
            with contextlib.suppress(NetworkError):
                verify_network(path)

    def test_something_added(self, stamped: Path) -> None:
        refusal(stamped, stamped.read_bytes() + b"\x00")
        refusal(stamped, stamped.read_bytes() + b"\x32\x01x")

    def test_empty(self, tmp_path: Path) -> None:
        assert "is empty" in refusal(tmp_path / "net.onnx", b"")

    @pytest.mark.parametrize("content", [b"hello", b"\xff" * 100, b"\x00" * 100, b"<!DOCTYPE html>", b"{}"])
    def test_garbage(self, tmp_path: Path, content: bytes) -> None:
        refusal(tmp_path / "net.onnx", content)

    def test_random_garbage(self, tmp_path: Path) -> None:
        source = random.Random(4)
        for _ in range(50):
            refusal(tmp_path / "net.onnx", source.randbytes(source.randrange(1, 400)))

    @pytest.mark.parametrize("protocol", [2, 3, 4, 5])
    def test_a_pickle_in_disguise(self, tmp_path: Path, protocol: int) -> None:
        content = pickle.dumps({"weights": [1.0]}, protocol)
        assert "is a pickle" in refusal(tmp_path / "net.onnx", content)

    def test_a_torch_archive_in_disguise(self, tmp_path: Path) -> None:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps([1.0]))
        assert "torch.save" in refusal(tmp_path / "net.onnx", stream.getvalue())

    def test_a_pointer_instead_of_a_file(self, tmp_path: Path) -> None:
        assert "Git LFS" in refusal(tmp_path / "net.onnx", b"version https://git-lfs.github.com/spec/v1\n")

    def test_a_directory_and_nothing(self, tmp_path: Path) -> None:
        assert "is a directory" in refusal(tmp_path)
        assert "there is no network file" in refusal(tmp_path / "none.onnx")
        assert "not a regular file" in refusal(Path("/dev/null"))

    def test_the_sparse_family_is_told_by_its_content(self, tmp_path: Path) -> None:
        header = json.dumps({"__metadata__": {}}).encode()
        content = len(header).to_bytes(8, "little") + header
        assert "metadata" in refusal(tmp_path / "net.onnx", content)  # asked for what that family must say


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_are_refused_with_a_sentence(content: bytes) -> None:
    with pytest.raises(NetworkError):
        read_onnx("net.onnx", content)


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=6))
def test_texts_come_back(texts: dict[str, str]) -> None:
    texts.pop("anabranch.sha256", None)
    body = b"\x08\x09\x32\x03abc"
    sealed = with_texts(body, texts)
    assert sealed.startswith(body)
    assert read_texts(sealed) == {**texts, "anabranch.sha256": seal_of(sealed)}
    assert with_texts(sealed, texts) == sealed


class TestContent:
    """Models that are whole, and still not networks of ours."""

    def save(self, tmp_path: Path, model: Any) -> Path:
        path = tmp_path / "net.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("half", [False, True])
    def test_weights_that_are_no_numbers(
        self, make_model: Any, tmp_path: Path, wrong: float, half: bool
    ) -> None:
        model = make_model(half=half)
        tensor = model.graph.initializer[0]
        weights = numpy_helper.to_array(tensor).copy()
        weights[3, 7] = wrong
        tensor.CopyFrom(numpy_helper.from_array(weights, tensor.name))
        assert "'policy_w' are not all finite" in refusal(self.save(tmp_path, model))

    def test_weights_that_do_not_fit(self, make_model: Any, tmp_path: Path) -> None:
        model = make_model()
        model.graph.initializer[0].dims[0] = 75
        assert "do not fit their shape" in refusal(self.save(tmp_path, model))

    @pytest.mark.parametrize("location", ["weights.bin", "../weights.bin", "/etc/passwd"])
    @pytest.mark.parametrize("place", ["weights", "attribute"])
    def test_external_data(self, make_model: Any, tmp_path: Path, location: str, place: str) -> None:
        model = make_model()
        if place == "weights":
            tensor = model.graph.initializer[1]
        else:
            constant = helper.make_node(
                "Constant", [], ["c"], value=numpy_helper.from_array(np.ones(1, np.float32), "c")
            )
            model.graph.node.insert(0, constant)
            tensor = model.graph.node[0].attribute[0].t
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        (tmp_path / "weights.bin").write_bytes(bytes(1000))
        text = refusal(self.save(tmp_path, model))
        assert repr(location) in text
        assert ("outside of its folder" in text) == (location != "weights.bin")

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"planes": 51}, "51 planes with 4864 moves fit no variant"),
            ({"planes": 64}, "64 planes with 4864 moves fit no variant"),
            ({"places": 81 * 64}, "52 planes with 5184 moves fit no variant"),
            ({"wdl": True}, "3 columns, and no metadata"),
        ],
    )
    def test_shapes_that_tell_nothing(
        self, make_model: Any, tmp_path: Path, options: dict[str, Any], reason: str
    ) -> None:
        assert reason in refusal(self.save(tmp_path, make_model(**options)))

    def edited(self, make_model: Any, tmp_path: Path, edit: Callable[[Any], object]) -> str:
        model = make_model()
        edit(model)
        return refusal(self.save(tmp_path, model))

    def test_inputs_and_outputs(self, make_model: Any, tmp_path: Path) -> None:
        more = helper.make_tensor_value_info("more", TensorProto.FLOAT, [1])
        board = helper.make_tensor_value_info("data", TensorProto.FLOAT, ["N", 52, 64])
        whole = helper.make_tensor_value_info("data", TensorProto.INT64, ["N", 52, 8, 8])
        none = helper.make_tensor_value_info("data", TensorProto.FLOAT, [0, 52, 8, 8])
        cases: list[tuple[Callable[[Any], object], str]] = [
            (lambda graph: graph.input.pop(), "it has 0 inputs"),
            (lambda graph: graph.input.append(more), "it has 2 inputs"),
            (lambda graph: graph.input[0].CopyFrom(board), "not [N, C, H, W]"),
            (lambda graph: graph.input[0].CopyFrom(whole), "float32 or float16"),
            (lambda graph: graph.input[0].CopyFrom(none), "a batch of nothing"),
            (lambda graph: graph.output.pop(), "it has 1 outputs"),
            (lambda graph: graph.output.insert(0, graph.output.pop()), "its value has 4864 columns"),
            (lambda graph: graph.ClearField("node"), "cut short, or not an ONNX file"),
        ]
        for edit, reason in cases:
            model = make_model()
            edit(model.graph)
            assert reason in refusal(self.save(tmp_path, model))

    def test_an_operator_that_there_is_not(self, make_model: Any, tmp_path: Path) -> None:
        def edit(model: Any) -> None:
            model.graph.node[0].op_type = "Convolve"

        assert "ONNX Runtime cannot open it" in self.edited(make_model, tmp_path, edit)

    def test_shapes_that_the_file_does_not_say(self, make_model: Any, tmp_path: Path) -> None:
        model = make_model()
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        path = self.save(tmp_path, model)
        verify_network(path)
        model = make_model(places=75 * 64)
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        assert "gives 1 and 4800 numbers instead of 1 and 4864" in refusal(self.save(tmp_path, model))

    def test_values_out_of_range(self, make_model: Any, tmp_path: Path) -> None:
        def edit(model: Any) -> None:
            model.graph.node[4].op_type = "Exp"
            weights = np.full((52 * 64, 1), 0.1, np.float32)
            model.graph.initializer[2].CopyFrom(numpy_helper.from_array(weights, "value_w"))

        assert "which is not in [-1, 1]" in self.edited(make_model, tmp_path, edit)

    def test_answers_that_are_not_finite(self, make_model: Any, tmp_path: Path) -> None:
        def edit(model: Any) -> None:
            model.graph.node[5].op_type = "Log"  # of logits, some of them negative

        assert "numbers that are not finite" in self.edited(make_model, tmp_path, edit)


class TestMetadata:
    def resealed(self, path: Path, **changes: str | None) -> str:
        content = path.read_bytes()
        texts = read_texts(content)
        for name, text in changes.items():
            if text is None:
                del texts[f"anabranch.{name}"]
            else:
                texts[f"anabranch.{name}"] = text
        return refusal(path, with_texts(content, texts))

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"variant": "crazyhouse"}, "it takes 52 planes, and crazyhouse v3 has 64"),
            ({"variant": "draughts"}, "no variant named"),
            ({"inputs": "v2"}, "there are no planes"),
            ({"policy_map": "v9"}, "policy_map 'v9', which is not v1"),
            ({"policy": "odds"}, "policy 'odds'"),
            ({"value": "wdl"}, "its value has 1 columns, and its metadata say wdl"),
            ({"step": "-3"}, "step '-3', which is not a number"),
            ({"format": "2"}, "of format '2', and this version reads 1"),
            ({"licence": None}, "lack 'licence'"),
            ({"variant": None}, "lack 'variant'"),
            ({"canaries": "["}, "its canaries cannot be read"),
            ({"canaries": "{}"}, "its canaries cannot be read"),
            ({"canaries": '[{"fen":"x"}]'}, "its canaries cannot be read"),
        ],
    )
    def test_what_makes_no_sense(self, stamped: Path, changes: dict[str, str | None], reason: str) -> None:
        assert reason in self.resealed(stamped, **changes)

    def test_a_seal_that_lacks(self, make_model: Any, tmp_path: Path) -> None:
        model = make_model()
        helper.set_model_props(model, Texts(variant="chess").write())
        path = tmp_path / "net.onnx"
        assert "lack 'sha256'" in refusal(path, model.SerializeToString())

    def test_a_key_twice(self, stamped: Path) -> None:
        model = onnx.load(str(stamped))
        model.metadata_props.add(key="anabranch.variant", value="crazyhouse")
        assert "'anabranch.variant' twice" in refusal(stamped, model.SerializeToString())

    @pytest.mark.parametrize(
        ("canary", "reason"),
        [
            (Canary("startpos", 0.9, ()), "it gives the value"),
            (Canary("startpos", -0.9, (("e2e4", 50.0),), 0.5), "it gives e2e4 the logit"),
            (Canary("startpos", 0.0, (("e2e5", 0.0),), 2.0), "names the illegal move 'e2e5'"),
            (Canary("not a position", 0.0, ()), "one of its canaries cannot be read"),
        ],
    )
    def test_canaries_that_do_not_sing(self, stamped: Path, canary: Canary, reason: str) -> None:
        stamp_onnx(stamped, METADATA, canaries=[canary])
        assert reason in refusal(stamped)

    def test_another_network_under_the_same_canaries(self, make_network: Any) -> None:
        one = stamp_onnx(make_network(name="one.onnx", seed=1), METADATA)
        two = make_network(name="two.onnx", seed=2)
        stamp_onnx(two, METADATA, canaries=one.canaries)
        assert "canary" in refusal(two)

    def test_openvino_asks_the_canaries_too(self, stamped: Path) -> None:
        open_network(stamped, runtime="openvino", threads=1)
        stamp_onnx(stamped, METADATA, canaries=[Canary("startpos", 0.9, ())])
        with pytest.raises(NetworkError, match="canary"):
            open_network(stamped, runtime="openvino", threads=1)
