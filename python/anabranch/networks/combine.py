"""One network of two: the policy of one file and the value of another.

The two halves of a sparse network share nothing, so each can be trained on data of its own. The new file
has the metadata of both, under the name of the half that they describe.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch.errors import NetworkError
from anabranch.networks.container import family_of, read_bytes
from anabranch.networks.sparse import FIXED, SUFFIX, write_sparse

_KINDS: dict[str, np.dtype[Any]] = {"I8": np.dtype(np.int8), "I16": np.dtype("<i2"), "F32": np.dtype("<f4")}
_OWN = ("variant", "step", "licence", "canaries", "name", *FIXED)
"""Metadata that the new file has once."""


def combine_networks(policy: Path, value: Path, out: Path, name: str | None = None) -> None:
    """Write a network with the policy of one file and the value of another."""
    if out.suffix != SUFFIX:
        raise NetworkError(f"a network of two halves is a {SUFFIX} file, and {out} is not named as one")
    if not out.parent.is_dir():
        raise NetworkError(f"there is no folder {out.parent}")
    first, second = _open(policy), _open(value)
    for key in ("variant", "inputs", "policy", "value", "licence"):
        if first.metadata[key] != second.metadata[key]:
            differ = f"their {key} is {first.metadata[key]} and {second.metadata[key]}"
            raise NetworkError(f"{policy} and {value} do not fit: {differ}")
    tensors = {
        **{name: array for name, array in _tensors(policy).items() if name.startswith("policy.")},
        **{name: array for name, array in _tensors(value).items() if name.startswith("value.")},
    }
    metadata = {
        "variant": first.variant,
        "step": str(max(int(first.metadata["step"]), int(second.metadata["step"]))),
        "licence": first.metadata["licence"],
    }
    for half, network in (("policy", first), ("value", second)):
        notes = {key: text for key, text in network.metadata.items() if key not in _OWN}
        before = {key: text for key, text in notes.items() if key.startswith(f"{half}.")}
        metadata |= before or {f"{half}.{key}": text for key, text in notes.items()}
    fens = [canary["fen"] for canary in json.loads(second.metadata["canaries"])]
    write_sparse(out, tensors, metadata | ({} if name is None else {"name": name}), fens)


def _open(path: Path) -> _core.Network:
    if family_of(path, read_bytes(path)) != "sparse":
        raise NetworkError(f"{path} is not a network of the family sparse, whose halves can be combined")
    network = _core.Network(path)
    if network.metadata["inputs"] != FIXED["inputs"]:
        raise NetworkError(f"{path} is a network for {network.variant}, whose halves share their inputs")
    return network


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file that the core has checked."""
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__":
            first, last = about["data_offsets"]
            data = np.frombuffer(content[begin + first : begin + last], _KINDS[about["dtype"]])
            tensors[name] = data.reshape(about["shape"])
    return tensors
