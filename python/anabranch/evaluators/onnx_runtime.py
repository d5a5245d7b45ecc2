"""ONNX Runtime as an evaluator: on the processor, or on a GPU where there is one.

Arrays go in without a copy. Which files are accepted is decided by `anabranch.networks`.
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

PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
}
AUTOMATIC = ("cuda", "rocm", "directml")
"""GPUs that `auto` may choose, best first: those that need no long preparation."""
ONLY_ERRORS = 3


class OnnxEvaluator(OnnxNetwork):
    """A network of an ONNX file, run by ONNX Runtime.

    `provider` is `auto`, or one of `cpu`, `cuda`, `tensorrt`, `rocm`, `migraphx`, `directml`, `coreml`.
    `auto` takes a GPU where there is one; one that is named must be there. `threads` are those
    of the processor, all of them by default. Threads that wait do not spin unless `spinning` is set, because
    the search wants the processor too.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | OnnxFile,
        *,
        provider: str = "auto",
        threads: int | None = None,
        spinning: bool = False,
    ) -> None:
        runtime = require("onnxruntime", "onnx")
        wanted = _providers(runtime, provider)
        super().__init__(file, threads)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = ONLY_ERRORS
        options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
        try:
            self._session = runtime.InferenceSession(self.file.content, options, providers=wanted)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise NetworkError(f"{self.path} is refused: ONNX Runtime cannot open it: {reason}") from error
        used = self._session.get_providers()[0]
        shorts = {long: short for short, long in PROVIDERS.items()}
        self.provider = shorts.get(used, used)
        if provider not in ("auto", self.provider):
            raise EvaluatorError(
                f"ONNX Runtime could not use {provider!r} and would run on {self.provider!r}"
            )
        self._input = self._session.get_inputs()[0].name
        self._outputs = [output.name for output in self._session.get_outputs()]
        self._check()

    def _infer(self, planes: NDArray[Any], places: Sequence[int]) -> list[NDArray[Any]]:
        names = [self._outputs[place] for place in places]
        found: list[NDArray[Any]] = self._session.run(names, {self._input: np.ascontiguousarray(planes)})
        return found


def _providers(runtime: Any, provider: str) -> list[str]:
    available = runtime.get_available_providers()
    if provider == "auto":
        gpus = [PROVIDERS[name] for name in AUTOMATIC if PROVIDERS[name] in available]
        return [*gpus[:1], PROVIDERS["cpu"]]
    if provider not in PROVIDERS:
        raise EvaluatorError(f"a provider is auto or one of {', '.join(PROVIDERS)}, not {provider!r}")
    if PROVIDERS[provider] not in available:
        here = [name for name, long in PROVIDERS.items() if long in available]
        raise EvaluatorError(
            f"ONNX Runtime has no provider {provider!r} here, only {', '.join(here) or 'none'}; "
            "the package onnxruntime-gpu has cuda and tensorrt"
        )
    return [PROVIDERS[provider]] if provider == "cpu" else [PROVIDERS[provider], PROVIDERS["cpu"]]
