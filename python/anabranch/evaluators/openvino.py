"""OpenVINO as an evaluator of ONNX files, on processors and GPUs of Intel.

Arrays go in without a copy. What files are accepted is the business of `anabranch.networks`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EvaluatorError, NetworkError
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.networks.onnx_file import OnnxFile
from anabranch.networks.planes import encode
from anabranch.optional import require

CPU = "CPU"
OF_BFLOAT16 = 0.1
"""How far canaries may be off with numbers of 8 significant bits, through all layers of a network."""
ROUNDED = 0.15
"""The same for values and probabilities of a network without canaries: twice what was seen (docs/onnx.md)."""
_OPENINGS = ["startpos", "startpos moves e2e4 c7c5 g1f3 d7d6 d2d4 c5d4", "startpos moves d2d4 g8f6 c2c4 e7e6"]
POSITIONS = dict.fromkeys(("chess", "crazyhouse"), _OPENINGS)
"""What is compared, by variant; of others the start."""


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
        device: str = CPU,
        threads: int | None = None,
        bfloat16: bool = False,
    ) -> None:
        import_openvino()  # missing packages are named even if there is a core
        core = open_core()
        super().__init__(file, threads)
        self.provider = f"{device}, bfloat16" if bfloat16 else device
        if bfloat16:
            self.rounding = OF_BFLOAT16
        if device != CPU and device.partition(".")[0] not in {
            name.partition(".")[0] for name in core.available_devices
        }:
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
        if device == CPU:
            options["INFERENCE_NUM_THREADS"] = self.threads

        def compiled(options: dict[str, Any]) -> Any:
            try:
                model = core.compile_model(core.read_model(model=self.file.content), device, options)
            except Exception as error:
                reason = " ".join(str(error).split())[:200]
                raise NetworkError(f"{self.path} is refused: OpenVINO cannot open it: {reason}") from error
            return model.create_infer_request()

        self._request = compiled(options)
        self._check()
        if bfloat16 and not self.file.canaries:
            self._check_rounding(compiled({**options, "INFERENCE_PRECISION_HINT": "f32"}))

    def _check_rounding(self, exact: Any) -> None:
        """Compare a network that has no canaries with itself in float32."""
        planes, _ = encode(POSITIONS.get(self.variant, ["startpos"]), self.variant, self.file.metadata.inputs)
        short = self._value_and_probabilities(planes)
        request, self._request = self._request, exact
        long = self._value_and_probabilities(planes)
        self._request = request
        difference = max(float(np.abs(one - other).max()) for one, other in zip(short, long, strict=True))
        if not difference <= ROUNDED:
            raise NetworkError(
                f"{self.path} is refused with bfloat16: a value or a probability differs by {difference:.2f} "
                "from that with float32; the runtime openvino computes with float32"
            )

    def _value_and_probabilities(self, planes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        values, logits = self.evaluate(planes)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return values, powers / powers.sum(axis=1, keepdims=True)

    def _infer(self, planes: NDArray[Any], places: Sequence[int]) -> list[NDArray[Any]]:
        answer = self._request.infer([np.ascontiguousarray(planes)], share_inputs=True)
        return [answer[place] for place in places]


@cache
def open_core() -> Any:
    """The only core of OpenVINO in this process: each one loads and unloads the libraries of devices."""
    return import_openvino().Core()


def import_openvino() -> Any:
    """OpenVINO without its telemetry. That would report every import over the network, from a process forked
    while other threads run; without its package OpenVINO leaves it out.
    """
    if "openvino" not in sys.modules:
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    return require("openvino", "openvino")
