"""OpenVINO as an evaluator of ONNX files, on processors and GPUs of Intel.

Arrays go in without a copy. What files are accepted is the business of `anabranch.networks`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EvaluatorError, NetworkError
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.networks.onnx_file import OnnxFile
from anabranch.optional import require


class OpenVinoEvaluator(OnnxNetwork):
    """A network of an ONNX file, run by OpenVINO.

    `device` is a device of OpenVINO, as `CPU` or `GPU`. `threads` are those of the processor, all of
    them by default.
    """

    def __init__(
        self, file: str | os.PathLike[str] | OnnxFile, *, device: str = "CPU", threads: int | None = None
    ) -> None:
        openvino = require("openvino", "openvino")
        super().__init__(file, threads)
        self.provider = device
        core = openvino.Core()
        if device.partition(".")[0] not in {name.partition(".")[0] for name in core.available_devices}:
            raise EvaluatorError(
                f"OpenVINO has no device {device!r} here, only {', '.join(core.available_devices) or 'none'}"
            )
        options: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
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
