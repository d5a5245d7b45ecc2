"""Residual towers of Lc0 as ONNX models: planes `[N, 112, 8, 8]` in, value, policy and moves left out.

The policy has Lc0's 1,858 moves. A value of win, draw and loss leaves as logits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.networks.lc0_tower import MOVES, PLANES, Conv, Dense, Head, Tower
from anabranch.optional import require

OPSET = 17
IR_VERSION = 8
DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
KNIGHT = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
PROMOTIONS = 64
"""The first plane of promotions: three for each of left, straight and right."""
QUEEN_ROOK_BISHOP = (2, 0, 1)
"""The planes among the three, in the order of the moves."""


def to_onnx(tower: Tower) -> bytes:
    """The tower as the bytes of an ONNX model."""
    return _Builder(tower).build()


def policy_places() -> NDArray[np.int64]:
    """For each of the 1,858 moves its place in the planes of a policy by convolution.

    >>> places = policy_places()
    >>> len(places), len(set(places.tolist())), int(places[0]) // 64
    (1858, 1858, 14)
    """
    planes: dict[tuple[int, int], int] = {}
    for origin in range(64):
        row, column = divmod(origin, 8)
        for number, (up, right) in enumerate(DIRECTIONS):
            for length in range(1, 8):
                target = (row + up * length, column + right * length)
                if all(0 <= place < 8 for place in target):
                    planes[origin, target[0] * 8 + target[1]] = number * 7 + length - 1
        for number, (up, right) in enumerate(KNIGHT):
            target = (row + up, column + right)
            if all(0 <= place < 8 for place in target):
                planes[origin, target[0] * 8 + target[1]] = 56 + number
    plain = [plane * 64 + origin for (origin, _), plane in sorted(planes.items())]
    promoting = [
        (PROMOTIONS + side * 3 + piece) * 64 + 48 + file
        for file in range(8)
        for side in range(3)
        if 0 <= file + side - 1 < 8
        for piece in QUEEN_ROOK_BISHOP
    ]
    return np.array(plain + promoting, np.int64)


class _Builder:
    """Collects nodes and weights."""

    def __init__(self, tower: Tower) -> None:
        self._onnx = require("onnx", "onnx")
        self._helper: Any = require("onnx.helper", "onnx")
        self._numpy: Any = require("onnx.numpy_helper", "onnx")
        self._tower = tower
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def build(self) -> bytes:
        tower = self._tower
        flow = self._activate(self._conv("input", "planes", tower.first))
        for number, block in enumerate(tower.blocks):
            name = f"block{number}"
            inside = self._activate(self._conv(f"{name}.first", flow, block.first))
            inside = self._conv(f"{name}.second", inside, block.second)
            if block.squeeze is not None:
                inside = self._squeeze(name, inside, *block.squeeze)
            flow = self._activate(self._node("Add", inside, flow))
        value = self._dense_head("value", flow, tower.value)
        if len(tower.value.layers[-1].biases) == 1:
            value = self._node("Tanh", value)
        outputs = {
            "value": (value, len(tower.value.layers[-1].biases)),
            "policy": (self._policy(flow), MOVES),
        }
        if tower.moves_left is not None:
            left = self._node("Relu", self._dense_head("moves_left", flow, tower.moves_left))
            outputs["moves_left"] = (left, 1)
        for name, (found, _) in outputs.items():
            self._nodes.append(self._helper.make_node("Identity", [found], [name]))
        return self._model({name: columns for name, (_, columns) in outputs.items()})

    def _model(self, outputs: dict[str, int]) -> bytes:
        helper, kind = self._helper, self._onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self._nodes,
            "lc0",
            [helper.make_tensor_value_info("planes", kind, ["N", PLANES, 8, 8])],
            [helper.make_tensor_value_info(name, kind, ["N", size]) for name, size in outputs.items()],
            self._weights,
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, producer_name="anabranch")
        model.ir_version = IR_VERSION
        found: bytes = model.SerializeToString(deterministic=True)
        return found

    def _weight(self, name: str, numbers: NDArray[Any]) -> str:
        self._weights.append(self._numpy.from_array(np.ascontiguousarray(numbers), name))
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def _activate(self, flow: str) -> str:
        if self._tower.activation == "relu":
            return self._node("Relu", flow)
        return self._node("Mul", flow, self._node("Tanh", self._node("Softplus", flow)))

    def _conv(self, name: str, flow: str, conv: Conv) -> str:
        weights = self._weight(f"{name}.weights", conv.weights)
        biases = self._weight(f"{name}.biases", conv.biases)
        size = conv.weights.shape[-1]
        return self._node("Conv", flow, weights, biases, kernel_shape=[size, size], pads=[size // 2] * 4)

    def _dense(self, name: str, flow: str, layer: Dense) -> str:
        weights = self._weight(f"{name}.weights", layer.weights)
        return self._node("Gemm", flow, weights, self._weight(f"{name}.biases", layer.biases), transB=1)

    def _squeeze(self, name: str, flow: str, squeeze: Dense, excite: Dense) -> str:
        """Gates and biases of the channels, from their means."""
        filters = self._tower.filters
        means = self._node("Flatten", self._node("GlobalAveragePool", flow))
        hidden = self._activate(self._dense(f"{name}.squeeze", means, squeeze))
        both = self._dense(f"{name}.excite", hidden, excite)
        shape = self._weight(f"{name}.shape", np.array([-1, 2 * filters, 1, 1], np.int64))
        both = self._node("Reshape", both, shape)
        gates, shifts = f"{name}.gates", f"{name}.shifts"
        self._nodes.append(self._helper.make_node("Split", [both], [gates, shifts], axis=1))
        return self._node("Add", self._node("Mul", self._node("Sigmoid", gates), flow), shifts)

    def _dense_head(self, name: str, flow: str, head: Head) -> str:
        """A convolution, then dense layers; no activation after the last one."""
        flow = self._node("Flatten", self._activate(self._conv(name, flow, head.convs[0])))
        for number, layer in enumerate(head.layers):
            flow = self._activate(flow) if number else flow
            flow = self._dense(f"{name}.layer{number}", flow, layer)
        return flow

    def _policy(self, flow: str) -> str:
        head = self._tower.policy
        if head.layers:
            return self._dense_head("policy", flow, head)
        hidden = self._activate(self._conv("policy.first", flow, head.convs[0]))
        planes = self._node("Flatten", self._conv("policy.second", hidden, head.convs[1]))
        return self._node("Gather", planes, self._weight("policy.places", policy_places()), axis=1)
