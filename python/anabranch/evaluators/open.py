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


def open_network(
    path: str | os.PathLike[str],
    *,
    runtime: str = "onnxruntime",
    provider: str = "auto",
    threads: int | None = None,
) -> Evaluator | _core.Network:
    """Open a network file of any family, check all of it, and make it ready to evaluate.

    `runtime` is `onnxruntime` or `openvino`, `provider` a provider of the one or a device of the other;
    `threads` are those of the runtime.
    """
    content = read_bytes(path)
    family = family_of(path, content)
    if family == "sparse":
        return open_sparse(path)
    file = open_lc0(path, content) if family == "lc0" else read_onnx(path, content)
    if runtime == "openvino":
        from anabranch.evaluators.openvino import OpenVinoEvaluator

        return OpenVinoEvaluator(file, device="CPU" if provider == "auto" else provider, threads=threads)
    if runtime != "onnxruntime":
        raise NetworkError(f"a runtime is onnxruntime or openvino, not {runtime!r}")
    from anabranch.evaluators.onnx_runtime import OnnxEvaluator

    return OnnxEvaluator(file, provider=provider, threads=threads)


def verify_network(path: str | os.PathLike[str]) -> None:
    """Check everything about a file, its canaries too; what is wrong with it is a NetworkError."""
    open_network(path, provider="cpu", threads=1)
