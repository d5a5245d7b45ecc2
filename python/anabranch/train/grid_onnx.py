"""Networks over the planes of a game as ONNX files, with metadata and canaries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import torch

from anabranch.evaluators.stamp import stamp_onnx
from anabranch.jobs.files import replacing
from anabranch.networks.metadata import Metadata
from anabranch.networks.planes import GRID
from anabranch.train.grid import GridConv
from anabranch.train.rows import RowsSparse
from anabranch.train.to_onnx import OPSET


def write_grid_onnx(path: Path, network: GridConv | RowsSparse, about: Mapping[str, str]) -> None:
    """Write the network; the file appears whole and sound, or not at all."""
    inputs = network.inputs_of_game
    planes = torch.zeros(2, inputs.planes, inputs.height, inputs.width)
    axes = {name: {0: "batch"} for name in ("data", "value", "policy")}
    known = {name: about[name] for name in ("variant", "architecture", "licence")}
    more = {name: text for name, text in about.items() if name not in (*known, "step")}
    metadata = Metadata(**known, inputs=GRID, value="wdl", step=int(about["step"]), more=more)
    with replacing(path, path.with_name(f".{path.stem}.part{path.suffix}")) as part:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the newer exporter needs one more package and writes the same
            torch.onnx.export(
                network.eval(), (planes,), str(part), input_names=["data"], output_names=["value", "policy"],
                dynamic_axes=axes, opset_version=OPSET, dynamo=False,
            )  # fmt: skip
        stamp_onnx(part, metadata)
