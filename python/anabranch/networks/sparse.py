"""Network files of the sparse family: written here, read and checked by the core.

A file is safetensors with the metadata of `docs/networks.md`. Writing computes the hash of the weights and
the canaries, positions whose outputs are stored beside them; nothing appears under the name of the file
before the core has read it back. Plain NumPy: PyTorch is not needed to write a file, nor to read one.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import _core
from anabranch._core import CONTEXTS, FEATURES
from anabranch.errors import NetworkError
from anabranch.jobs.files import replacing
from anabranch.networks.planes import shape_of

SUFFIX = ".safetensors"
FIXED = {
    "format": "anabranch-sparse",
    "version": "1",
    "inputs": "sparse-1",
    "policy": "moves-1",
    "value": "wdl",
    "architecture": "sparse",
}
"""Metadata that every file has."""
_TYPES = {np.dtype(np.int8): "I8", np.dtype("<i2"): "I16", np.dtype("<f4"): "F32"}


def shapes(variant: str, policy: int, value: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of every tensor of a network with accumulators of these widths.

    >>> shapes("chess", 256, 128)["policy.moves.weight"]
    ('I8', (4864, 128))
    """
    return tensor_shapes(FEATURES, CONTEXTS, shape_of(variant)[1], policy, value)


def tensor_shapes(
    features: int, contexts: int, moves: int, policy: int, value: int
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The same for tables with so many rows."""
    return {
        "policy.inputs.weight": ("I8", (features, policy)),
        "policy.inputs.bias": ("I16", (policy,)),
        "policy.moves.weight": ("I8", (moves, policy // 2)),
        "policy.moves.bias": ("F32", (moves,)),
        "policy.contexts.weight": ("I8", (contexts, policy // 2)),
        "policy.contexts.bias": ("F32", (contexts,)),
        "value.inputs.weight": ("I8", (features, value)),
        "value.inputs.bias": ("I16", (value,)),
        "value.hidden1.weight": ("I8", (8, 16, value // 2)),
        "value.hidden1.bias": ("F32", (8, 16)),
        "value.hidden2.weight": ("F32", (8, 32, 16)),
        "value.hidden2.bias": ("F32", (8, 32)),
        "value.output.weight": ("F32", (8, 3, 32)),
        "value.output.bias": ("F32", (8, 3)),
    }


def open_sparse(path: str | os.PathLike[str]) -> _core.Network:
    """Read a file and check all of it. The result is an evaluator for `Engine`."""
    return _core.Network(path)


def write_sparse(
    path: str | os.PathLike[str],
    tensors: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
    canary_fens: Sequence[str],
) -> None:
    """Write a network with its hash and its canaries. The file appears whole and sound, or not at all.

    `metadata` has at least `variant`, `step` and `licence`; what every file has is added.
    """
    if not canary_fens:
        raise NetworkError("a network file needs at least one canary position")
    arrays = {name: _array(name, tensor) for name, tensor in sorted(tensors.items())}
    texts = {**FIXED, **metadata, "sha256": _hash(arrays), "canaries": "[]"}
    network = _core.Network.without_canaries(_content(arrays, texts))
    opinions = network.evaluate(list(canary_fens))
    canaries = [
        {"fen": fen, "value": value, "logits": dict(moves)}
        for fen, (value, _, moves) in zip(canary_fens, opinions, strict=True)
    ]
    texts["canaries"] = json.dumps(canaries)
    _write(Path(path), _content(arrays, texts))


def random_tensors(
    variant: str, policy: int = 256, value: int = 256, seed: int = 0
) -> dict[str, NDArray[Any]]:
    """Weights that mean nothing and keep every part of the arithmetic busy: for benchmarks and tests."""
    return random_weights(shapes(variant, policy, value), seed)


def random_weights(
    shapes: Mapping[str, tuple[str, tuple[int, ...]]], seed: int = 0
) -> dict[str, NDArray[Any]]:
    """The same for tensors of these types and shapes."""
    source = np.random.default_rng(seed)
    tensors: dict[str, NDArray[Any]] = {}
    for name, (kind, shape) in shapes.items():
        if kind == "I8":
            tensors[name] = np.clip(np.rint(source.normal(0.0, 12.0, shape)), -127, 127).astype(np.int8)
        elif kind == "I16":
            tensors[name] = source.integers(-20, 80, shape, np.int16)
        else:
            tensors[name] = source.normal(0.0, 0.5, shape).astype(np.float32)
    return tensors


def _array(name: str, tensor: NDArray[Any]) -> NDArray[Any]:
    array = np.ascontiguousarray(tensor)
    kind = array.dtype.newbyteorder("<")
    if kind not in _TYPES:
        raise NetworkError(f"the tensor {name!r} is of {array.dtype}; a network has int8, int16 and float32")
    return array.astype(kind, copy=False)


def _hash(arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        shape = ",".join(str(length) for length in array.shape)
        for text in (name, _TYPES[array.dtype], shape):
            digest.update(text.encode() + b"\0")
        digest.update(array.tobytes())
    return digest.hexdigest()


def _content(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """A safetensors file: length of the header, the header, the data; the data begins at a multiple of 8."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": _TYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *(array.tobytes() for array in arrays.values())])


def _write(path: Path, content: bytes) -> None:
    """Write beside, have the core read it, and rename."""
    try:
        with replacing(path) as part:
            part.write_bytes(content)
            _core.Network(part)
    except OSError as error:
        raise NetworkError(f"the network file {path} cannot be written: {error}") from error
