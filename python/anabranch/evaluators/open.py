"""Network files become evaluators: opened with the runtime of their family, and checked by running them.

Reading and checking the file itself is done by `anabranch.networks`.
"""

from __future__ import annotations

import os

from anabranch import _core
from anabranch.errors import NetworkError
from anabranch.evaluators import Evaluator
from anabranch.networks.container import family_of, read_bytes
from anabranch.networks.lc0_convert import open_lc0
from anabranch.networks.onnx_file import read_onnx
from anabranch.networks.sparse import open_sparse

DEFAULT_RUNTIME = "onnxruntime"
RUNTIMES = (DEFAULT_RUNTIME, "openvino", "openvino-bf16")
"""What evaluates ONNX networks; `openvino-bf16` computes with bfloat16 (docs/onnx.md)."""


def split_runtime(given: str) -> tuple[str | None, str]:
    """The runtime that a text names before a colon, if it does, and the rest: a name or a path.

    >>> split_runtime("openvino:maia-1500"), split_runtime("./nets/new.onnx")
    (('openvino', 'maia-1500'), (None, './nets/new.onnx'))
    """
    runtime, colon, rest = given.partition(":")
    return (runtime, rest) if colon and runtime in RUNTIMES else (None, given)


def open_network(
    path: str | os.PathLike[str],
    *,
    runtime: str = DEFAULT_RUNTIME,
    provider: str = "auto",
    threads: int | None = None,
) -> Evaluator | _core.Network:
    """Open a network file of any family, check all of it, and make it ready to evaluate.

    `runtime` is one of `RUNTIMES`, `provider` a provider of ONNX Runtime or a device of OpenVINO; `threads`
    are those of the runtime. Networks of the family `sparse` need none.
    """
    if runtime not in RUNTIMES:
        raise NetworkError(f"a runtime is one of {', '.join(RUNTIMES)}, not {runtime!r}")
    content = read_bytes(path)
    family = family_of(path, content)
    if family == "sparse":
        return open_sparse(path)
    file = open_lc0(path, content) if family == "lc0" else read_onnx(path, content)
    if runtime != DEFAULT_RUNTIME:
        from anabranch.evaluators.openvino import OpenVinoEvaluator

        device = "CPU" if provider == "auto" else provider
        return OpenVinoEvaluator(file, device=device, threads=threads, bfloat16=runtime == "openvino-bf16")
    from anabranch.evaluators.onnx_runtime import OnnxEvaluator

    return OnnxEvaluator(file, provider=provider, threads=threads)


def verify_network(path: str | os.PathLike[str]) -> None:
    """Check everything about a file, its canaries too; what is wrong with it is a NetworkError."""
    open_network(path, provider="cpu", threads=1)
