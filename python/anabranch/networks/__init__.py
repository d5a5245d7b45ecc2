"""Network files: read, checked and described. Nothing here runs a network; that is `anabranch.evaluators`.

Three families: `onnx`, convolutional networks that a runtime evaluates in Python; `lc0`, those of Lc0, which
become ONNX; and `sparse`, networks that the core evaluates. A file that is damaged or of another kind raises
a `NetworkError`, one sentence that names the file and the reason.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anabranch.errors import AnabranchError
from anabranch.networks.canaries import Canary
from anabranch.networks.container import Family, family_of, read_bytes
from anabranch.networks.folders import SUFFIXES, installed_networks
from anabranch.networks.lc0_convert import architecture_of
from anabranch.networks.lc0_file import INPUTS, Lc0File, read_lc0
from anabranch.networks.lc0_tower import read_tower
from anabranch.networks.metadata import Metadata
from anabranch.networks.onnx_file import OnnxFile, read_onnx
from anabranch.networks.shipped import bundled
from anabranch.networks.sparse import open_sparse


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
    """The facts that a file holds, checked as far as possible without running the network.

    >>> facts = describe_network(bundled("chess"))
    >>> facts["family"], facts["variant"]
    ('sparse', 'chess')
    """
    content = read_bytes(path)
    family = family_of(path, content)
    if family == "sparse":
        return _describe_sparse(Path(path), len(content))
    if family == "lc0":
        return _describe_lc0(read_lc0(path, content))
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


def list_networks(folder: Path | None = None) -> list[dict[str, Any]]:
    """The installed networks: name, file, family, variant and architecture of each, or what is wrong with it.

    `folder` is that of installed networks by default (`anabranch.networks.folders.network_directory`).

    >>> [row["name"] for row in list_networks(bundled("chess").parent)]
    ['chess', 'chess-rise', 'crazyhouse', 'crazyhouse-rise']
    """
    rows: list[dict[str, Any]] = []
    for name, path in installed_networks(folder).items():
        try:
            facts = describe_network(path)
        except AnabranchError as error:
            rows.append({"name": name, "file": str(path), "problem": " ".join(str(error).split())})
            continue
        shown = {key: facts.get(key) for key in ("family", "variant", "architecture")}
        rows.append({"name": name, "file": str(path), **shown, "problem": None})
    return rows


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


def _describe_lc0(file: Lc0File) -> dict[str, Any]:
    notes = []
    if file.is_tower:
        tower = read_tower(file)
        parameters: int | None = tower.parameters
    else:
        parameters = None
        notes.append("the program lc0 converts networks of this kind")
    return {
        "file": str(file.path),
        "family": "lc0",
        "bytes": file.size,
        "variant": "chess",
        "inputs": f"112 planes, {INPUTS.get(file.input, 'unknown')}",
        "policy": f"1,858 moves, {file.policy}",
        "value": file.value,
        "moves_left": "yes" if file.has_moves_left else "no",
        "architecture": architecture_of(file),
        "activation": file.activation,
        "parameters": parameters,
        "step": file.step,
        "accuracy": None if file.accuracy is None else f"{file.accuracy:.1%} of the training moves",
        "licence": file.licence or "not stated",
        "least_lc0_version": file.least_version,
        "sha256": file.sha256,
        "notes": notes,
    }


__all__ = [
    "Canary",
    "Family",
    "Metadata",
    "OnnxFile",
    "bundled",
    "describe_network",
    "is_network_path",
    "list_networks",
    "read_onnx",
]
