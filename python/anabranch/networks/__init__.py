"""Network files: read, checked and described. Nothing here runs a network; that is `anabranch.evaluators`.

Two families: `onnx`, convolutional networks that a runtime evaluates in Python; and `sparse`, networks that
the core evaluates. A file that is damaged or of another kind raises a `NetworkError`, one sentence that names
the file and the reason.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anabranch.networks.canaries import Canary
from anabranch.networks.container import Family, family_of, read_bytes
from anabranch.networks.metadata import Metadata
from anabranch.networks.onnx_file import OnnxFile, read_onnx
from anabranch.networks.shipped import bundled
from anabranch.networks.sparse import open_sparse

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


def describe_network(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The facts that a file holds, checked as far as possible without running the network."""
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
    "read_onnx",
]
