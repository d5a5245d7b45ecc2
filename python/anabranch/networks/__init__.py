"""Network files: opened by what they hold, checked before they are used, described for people.

Two families: `onnx`, convolutional networks that a runtime evaluates in Python; and `sparse`, networks that
the core evaluates. A file that is not what it should be is a `NetworkError`, one sentence that names the file
and the reason.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.errors import NetworkError
from anabranch.evaluators import Evaluator
from anabranch.networks.canaries import Canary
from anabranch.networks.container import Family, family_of, read_bytes
from anabranch.networks.metadata import Metadata
from anabranch.networks.onnx_file import OnnxFile, read_onnx
from anabranch.networks.shipped import bundled
from anabranch.networks.sparse import open_sparse
from anabranch.networks.stamp import stamp_onnx

SUFFIXES = (".onnx", ".safetensors")


def is_network_path(given: object) -> bool:
    """Whether this means a file, and not the name of a built-in evaluator.

    >>> is_network_path("material"), is_network_path("nets/new.onnx"), is_network_path(Path("new"))
    (False, True, True)
    """
    if isinstance(given, os.PathLike):
        return True
    if not isinstance(given, str):
        return False
    return "/" in given or os.sep in given or given.lower().endswith(SUFFIXES)


def open_network(
    path: str | os.PathLike[str],
    *,
    runtime: str = "onnxruntime",
    provider: str = "auto",
    threads: int | None = None,
) -> Evaluator | _core.Network:
    """Open a network file of either family, check all of it, and make it ready to evaluate.

    `runtime` is `onnxruntime` or `openvino`, `provider` a provider of the one or a device of the other;
    `threads` are those of the runtime.
    """
    content = read_bytes(path)
    if family_of(path, content) == "sparse":
        return open_sparse(path)
    file = read_onnx(path, content)
    if runtime == "openvino":
        from anabranch.evaluators.openvino import OpenVinoEvaluator

        return OpenVinoEvaluator(file, device="CPU" if provider == "auto" else provider, threads=threads)
    if runtime != "onnxruntime":
        raise NetworkError(f"a runtime is onnxruntime or openvino, not {runtime!r}")
    from anabranch.evaluators.onnx_runtime import OnnxEvaluator

    return OnnxEvaluator(file, provider=provider, threads=threads)


def describe_network(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says about itself, checked as far as that goes without running it."""
    content = read_bytes(path)
    if family_of(path, content) == "sparse":
        return _describe_sparse(Path(path), len(content))
    file = read_onnx(path, content)
    facts = asdict(file.metadata)
    return {
        "file": str(file.path),
        "family": "onnx",
        "bytes": len(content),
        **{name: fact for name, fact in facts.items() if name != "more"},
        **file.metadata.more,
        "parameters": file.parameters,
        "batch": file.batch,
        "precision": "float16" if file.is_half else "float32",
        "sha256": file.sha256,
        "canaries": len(file.canaries),
        "notes": list(file.notes),
    }


def verify_network(path: str | os.PathLike[str]) -> None:
    """Check everything about a file, its canaries too; a NetworkError says what is wrong."""
    open_network(path, provider="cpu", threads=1)


def _describe_sparse(path: Path, size: int) -> dict[str, Any]:
    network = open_sparse(path)
    policy, value = network.widths
    metadata = network.metadata
    canaries = json.loads(metadata.pop("canaries"))
    return {
        "file": str(path),
        "family": "sparse",
        "bytes": size,
        **metadata,
        "policy_width": policy,
        "value_width": value,
        "canaries": len(canaries),
        "notes": [],
    }


__all__ = [
    "Canary",
    "Family",
    "Metadata",
    "OnnxFile",
    "bundled",
    "describe_network",
    "is_network_path",
    "open_network",
    "read_onnx",
    "stamp_onnx",
    "verify_network",
]
