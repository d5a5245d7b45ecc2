"""OpenVINO as an evaluator of ONNX files, on processors and GPUs of Intel.

Arrays go in without a copy. What files are accepted is the business of `anabranch.networks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EvaluatorError, NetworkError
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.networks.onnx_file import OnnxFile
from anabranch.optional import require

OF_BFLOAT16 = 0.1
"""How far canaries may be off with numbers of 8 significant bits, through all layers of a network."""


class OpenVinoEvaluator(OnnxNetwork):
    """A network of an ONNX file, run by OpenVINO.

    `device` is a device of OpenVINO, as `CPU` or `GPU`. `threads` are those of the processor, all of
    them by default. `bfloat16` computes with numbers of that type where the device has instructions for
    them: several times faster, and less exact (docs/onnx.md).
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | OnnxFile,
        *,
        device: str = "CPU",
        threads: int | None = None,
        bfloat16: bool = False,
    ) -> None:
        openvino = import_openvino()
        super().__init__(file, threads)
        self.provider = f"{device}, bfloat16" if bfloat16 else device
        if bfloat16:
            self.rounding = OF_BFLOAT16
        core = openvino.Core()
        if device.partition(".")[0] not in {name.partition(".")[0] for name in core.available_devices}:
            raise EvaluatorError(
                f"OpenVINO has no device {device!r} here, only {', '.join(core.available_devices) or 'none'}"
            )
        if bfloat16 and "BF16" not in core.get_property(device, "OPTIMIZATION_CAPABILITIES"):
            raise EvaluatorError(
                f"the device {device} has no instructions for bfloat16, which openvino-bf16 needs; openvino "
                "computes with float32"
            )
        precision = "bf16" if bfloat16 else "f32"
        options: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision}
        if device == "CPU":
            options["INFERENCE_NUM_THREADS"] = self.threads
        try:
            compiled = core.compile_model(core.read_model(model=self.file.content), device, options)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise NetworkError(f"{self.path} is refused: OpenVINO cannot open it: {reason}") from error
        self._request = compiled.create_infer_request()
        self._check()

    def _infer(self, planes: NDArray[Any], places: Sequence[int]) -> list[NDArray[Any]]:
        answer = self._request.infer([np.ascontiguousarray(planes)], share_inputs=True)
        return [answer[place] for place in places]


def import_openvino() -> Any:
    """OpenVINO without its telemetry. That would report every import over the network, from a process forked
    while other threads run; without its package OpenVINO leaves it out.
    """
    if "openvino" not in sys.modules:
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    return require("openvino", "openvino")
