"""RISEv2 mobile as CrazyAra released it, 13 blocks around 256 channels, with random weights: as an ONNX
model, and computed by NumPy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

CHANNELS, BLOCKS, EXCITED = 256, 13, 5
Array = NDArray[np.float32]


class Rise:
    """The weights, by name."""

    def __init__(self, planes: int, policy_planes: int, seed: int = 1) -> None:
        self.planes, self.policy_planes = planes, policy_planes
        self._source = np.random.default_rng(seed)
        self.weights: dict[str, Array] = {}
        self._conv("stem", planes, CHANNELS, 3)
        for block in range(BLOCKS):
            inner = 128 + 64 * block
            if block >= BLOCKS - EXCITED:
                self._dense(f"{block}.squeeze", CHANNELS, CHANNELS // 2)
                self._dense(f"{block}.excite", CHANNELS // 2, CHANNELS)
            self._conv(f"{block}.widen", CHANNELS, inner, 1)
            self._conv(f"{block}.depthwise", 1, inner, 3)
            self._conv(f"{block}.narrow", inner, CHANNELS, 1)
        self._conv("policy.first", CHANNELS, CHANNELS, 3)
        self._conv("policy.second", CHANNELS, policy_planes, 3)
        self._conv("value", CHANNELS, 8, 1)
        self._dense("value.first", 8 * 64, 256)
        self._dense("value.second", 256, 1)

    @property
    def parameters(self) -> int:
        """How many numbers."""
        return sum(array.size for array in self.weights.values())

    def _conv(self, name: str, inputs: int, outputs: int, size: int) -> None:
        spread = (inputs * size * size) ** -0.5
        self._add(name, (outputs, inputs, size, size), spread, outputs)

    def _dense(self, name: str, inputs: int, outputs: int) -> None:
        self._add(name, (outputs, inputs), inputs**-0.5, outputs)

    def _add(self, name: str, shape: tuple[int, ...], spread: float, outputs: int) -> None:
        self.weights[f"{name}.w"] = (self._source.standard_normal(shape) * spread).astype(np.float32)
        self.weights[f"{name}.b"] = (self._source.standard_normal(outputs) * 0.1).astype(np.float32)

    def model(self) -> bytes:
        """The ONNX model: input `data`, outputs `value` and `policy`, as CrazyAra names them."""
        nodes: list[Any] = []

        def node(kind: str, *inputs: str, **attributes: Any) -> str:
            name = f"t{len(nodes)}"
            nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
            return name

        def conv(name: str, flow: str, group: int = 1) -> str:
            size = self.weights[f"{name}.w"].shape[-1]
            return node("Conv", flow, f"{name}.w", f"{name}.b", pads=[size // 2] * 4, group=group)

        def dense(name: str, flow: str) -> str:
            return node("Gemm", flow, f"{name}.w", f"{name}.b", transB=1)

        flow = node("Relu", conv("stem", "data"))
        for block in range(BLOCKS):
            inside = flow
            if f"{block}.squeeze.w" in self.weights:
                means = node("Flatten", node("GlobalAveragePool", inside))
                hidden = node("Relu", dense(f"{block}.squeeze", means))
                gates = node("Sigmoid", dense(f"{block}.excite", hidden))
                inside = node("Mul", inside, node("Reshape", gates, "shape"))
            inside = node("Relu", conv(f"{block}.widen", inside))
            inside = node("Relu", conv(f"{block}.depthwise", inside, group=128 + 64 * block))
            flow = node("Add", conv(f"{block}.narrow", inside), flow)
        hidden = node("Flatten", node("Relu", conv("value", flow)))
        value = node("Tanh", dense("value.second", node("Relu", dense("value.first", hidden))))
        policy = node("Flatten", conv("policy.second", node("Relu", conv("policy.first", flow))))
        nodes.append(helper.make_node("Identity", [value], ["value"]))
        nodes.append(helper.make_node("Identity", [policy], ["policy"]))
        arrays: dict[str, NDArray[Any]] = {**self.weights, "shape": np.array([-1, CHANNELS, 1, 1], np.int64)}
        sizes = {"value": 1, "policy": 64 * self.policy_planes}
        graph = helper.make_graph(
            nodes,
            "rise",
            [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["N", self.planes, 8, 8])],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size])
                for name, size in sizes.items()
            ],
            [numpy_helper.from_array(array, name) for name, array in arrays.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        content: bytes = model.SerializeToString()
        return content

    def compute(self, planes: Array) -> tuple[Array, Array]:
        """Values `[N]` and policy logits `[N, A]` by NumPy."""
        flow = _relu(self._apply("stem", planes))
        for block in range(BLOCKS):
            inside = flow
            if f"{block}.squeeze.w" in self.weights:
                hidden = _relu(self._multiply(f"{block}.squeeze", inside.mean(axis=(2, 3))))
                gates = 1 / (1 + np.exp(-self._multiply(f"{block}.excite", hidden)))
                inside = inside * gates.astype(np.float32)[:, :, None, None]
            inside = _relu(self._apply(f"{block}.widen", inside))
            inside = _relu(self._apply(f"{block}.depthwise", inside, depthwise=True))
            flow = flow + self._apply(f"{block}.narrow", inside)
        hidden = _relu(self._apply("value", flow)).reshape(len(planes), -1)
        value = np.tanh(self._multiply("value.second", _relu(self._multiply("value.first", hidden))))
        policy = self._apply("policy.second", _relu(self._apply("policy.first", flow)))
        return value[:, 0], policy.reshape(len(planes), -1)

    def _multiply(self, name: str, given: Array) -> Array:
        found: Array = given @ self.weights[f"{name}.w"].T + self.weights[f"{name}.b"]
        return found

    def _apply(self, name: str, given: Array, *, depthwise: bool = False) -> Array:
        """A convolution: the board shifted to each place of the kernel, and summed."""
        kernel, size = self.weights[f"{name}.w"], self.weights[f"{name}.w"].shape[-1]
        padded = np.pad(given, ((0, 0), (0, 0), (size // 2, size // 2), (size // 2, size // 2)))
        found = np.zeros((len(given), len(kernel), 8, 8), np.float32)
        for row in range(size):
            for column in range(size):
                seen = padded[:, :, row : row + 8, column : column + 8]
                if depthwise:
                    found += seen * kernel[:, 0, row, column][None, :, None, None]
                else:
                    found += np.einsum("nchw,oc->nohw", seen, kernel[:, :, row, column], optimize=True)
        return found + self.weights[f"{name}.b"][None, :, None, None]


def _relu(given: Array) -> Array:
    return np.maximum(given, 0)
