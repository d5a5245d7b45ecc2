"""Tiny networks, built by hand: one 1x1 convolution for the policy, one product for the value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from anabranch.networks.planes import shape_of

MakeNetwork: TypeAlias = Callable[..., Path]
Answer: TypeAlias = Callable[[Path, NDArray[np.float32]], tuple[NDArray[np.float64], NDArray[np.float64]]]


def build(
    variant: str = "chess",
    version: str = "v3",
    *,
    batch: int | str = "N",
    wdl: bool = False,
    probabilities: bool = False,
    planes: int | None = None,
    places: int | None = None,
    half: bool = False,
    seed: int = 1,
) -> Any:
    """A model with the weights `policy_w`, `policy_b` and `value_w`."""
    count, size = shape_of(variant, version)
    count, size = planes or count, places or size
    source = np.random.default_rng(seed)
    real, kind = (np.float16, TensorProto.FLOAT16) if half else (np.float32, TensorProto.FLOAT)
    columns = 3 if wdl else 1
    weights = {
        "policy_w": source.standard_normal((size // 64, count, 1, 1)) * 0.5,
        "policy_b": source.standard_normal(size // 64),
        "value_w": source.standard_normal((count * 64, columns)) * 0.05,
    }
    nodes = [
        helper.make_node("Conv", ["data", "policy_w", "policy_b"], ["maps"]),
        helper.make_node("Flatten", ["maps"], ["logits"]),
        helper.make_node("Flatten", ["data"], ["flat"]),
        helper.make_node("MatMul", ["flat", "value_w"], ["sum"]),
        helper.make_node("Identity" if wdl else "Tanh", ["sum"], ["value_out"]),
        helper.make_node("Softmax" if probabilities else "Identity", ["logits"], ["policy_out"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("data", kind, [batch, count, 8, 8])],
        [
            helper.make_tensor_value_info("value_out", kind, [batch, columns]),
            helper.make_tensor_value_info("policy_out", kind, [batch, size]),
        ],
        [numpy_helper.from_array(array.astype(real), name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


def answer_of(path: Path, planes: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same in NumPy, in double precision: the sums of the value, and the logits."""
    model = onnx.load(str(path))
    weights = {
        tensor.name: numpy_helper.to_array(tensor).astype(np.float64) for tensor in model.graph.initializer
    }
    exact = planes.astype(np.float64)
    maps = np.einsum("nchw,oc->nohw", exact, weights["policy_w"][:, :, 0, 0])
    maps += weights["policy_b"][None, :, None, None]
    return exact.reshape(len(planes), -1) @ weights["value_w"], maps.reshape(len(planes), -1)


@pytest.fixture
def make_model() -> Callable[..., Any]:
    return build


@pytest.fixture
def make_network(tmp_path: Path) -> MakeNetwork:
    def make(variant: str = "chess", version: str = "v3", *, name: str = "net.onnx", **options: Any) -> Path:
        path = tmp_path / name
        onnx.save(build(variant, version, **options), str(path))
        return path

    return make


@pytest.fixture
def answer() -> Answer:
    return answer_of
