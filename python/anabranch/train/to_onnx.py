"""Convolutional networks as ONNX files: input `data`, outputs value and policy, any batch."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anabranch.train.batches import make_batch
from anabranch.train.planes import Contract, PlaneNetwork
from anabranch.train.positions import Positions

OPSET = 17
_BATCH = 64


def write_onnx(network: PlaneNetwork, path: Path) -> None:
    """Write the network, its normalisations folded, without metadata."""
    planes = torch.zeros(2, network.input_planes, 8, 8)
    axes = {name: {0: "batch"} for name in ("data", "value", "policy")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the newer exporter needs one more package and writes the same
        torch.onnx.export(
            Contract(network).eval(),
            (planes,),
            str(path),
            input_names=["data"],
            output_names=["value", "policy"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


@torch.no_grad()
def compare_onnx(network: PlaneNetwork, path: Path, positions: Positions) -> dict[str, float]:
    """How far ONNX Runtime is from PyTorch, over values and all logits."""
    import onnxruntime

    session: Any = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    largest, sums, counts = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for begin in range(0, len(positions), _BATCH):
        part = positions.take(np.arange(begin, min(begin + _BATCH, len(positions))))
        planes = make_batch(network, part).encoded["planes"]
        theirs = session.run(["value", "policy"], {"data": planes.numpy()})
        for i, (tensor, array) in enumerate(zip(network.answer(planes), theirs, strict=True)):
            gap = np.abs(tensor.numpy() - array)
            largest[i] = max(largest[i], float(gap.max()))
            sums[i] += float(gap.sum())
            counts[i] += gap.size
    return {
        "value_max": largest[0],
        "value_mean": sums[0] / counts[0],
        "logit_max": largest[1],
        "logit_mean": sums[1] / counts[1],
    }
