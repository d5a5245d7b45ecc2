"""ONNX files: read and checked without running them.

A checked file has undamaged bytes, valid metadata, finite weights, no external data, and the shapes of planes
and policy of one variant. Networks released for CrazyAra have no metadata; their variant follows from their
shapes. The outputs of a network are checked where it is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError, NetworkError, VariantError
from anabranch.named_games import find_loaded, is_reference
from anabranch.networks.canaries import Canary, read_canaries
from anabranch.networks.container import DamageError, family_of, read_bytes, read_texts, seal_of
from anabranch.networks.metadata import CANARIES, SHA256, Metadata
from anabranch.networks.planes import plane_shape_of, shape_of
from anabranch.optional import require

LC0 = "lc0"
"""The version of planes and policy of Lc0's networks."""
WITHOUT_METADATA = (("chess", "v3"), ("crazyhouse", "v3"), ("crazyhouse", "v1"), ("chess", LC0))
"""Variants and planes that the shapes of a file without metadata may mean."""


class Places(NamedTuple):
    """Which outputs of a model are which, by their numbers."""

    value: int = 0
    policy: int = 1
    moves_left: int | None = None


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """A checked ONNX file."""

    path: Path
    content: bytes
    """What was checked, and what a runtime is given."""
    metadata: Metadata
    sha256: str | None
    """The seal; `None` where the file carries no metadata."""
    canaries: tuple[Canary, ...]
    batch: int | None
    """The only size of batch that it takes; `None` where it takes any."""
    is_half: bool
    """Whether planes go in as float16."""
    parameters: int
    notes: tuple[str, ...]
    places: Places
    """Which outputs are value, policy and moves left."""


def read_onnx(path: str | os.PathLike[str], content: bytes | None = None) -> OnnxFile:
    """Open and check an ONNX file; what is wrong with it is a NetworkError."""
    file = Path(path)
    if content is None:
        content = read_bytes(file)
        if family_of(file, content) != "onnx":
            raise NetworkError(f"{file} is not an ONNX file")
    try:
        return _read(file, content)
    except DamageError as error:
        raise NetworkError(f"{file} is refused: {error}") from None


def _read(path: Path, content: bytes) -> OnnxFile:
    texts = read_texts(content)
    try:
        metadata = Metadata.read(texts)
        canaries = read_canaries(texts[CANARIES]) if CANARIES in texts else ()
    except ValueError as error:
        raise DamageError(str(error)) from None
    seal = None
    if metadata is not None:
        seal = texts.get(SHA256)
        if seal is None:
            raise DamageError("its metadata lack 'sha256'")
        if seal != seal_of(content):
            raise DamageError("its bytes do not have the SHA-256 that it states, so it is damaged")
    model = _parse(content)
    _refuse_external(path, model)
    parameters = _check_weights(model.graph)
    places = _places(model.graph)
    shape, value, policy, batch, is_half = _signature(model.graph, places)
    notes: tuple[str, ...] = ()
    if metadata is None:
        metadata = _guess(shape, value, policy)
        notes = ("it has no metadata and no hash: its variant follows from its shapes",)
    else:
        _compare(metadata, shape, value, policy)
        if not canaries:
            notes = ("it has no canaries",)
    return OnnxFile(path, content, metadata, seal, canaries, batch, is_half, parameters, notes, places)


def _parse(content: bytes) -> Any:
    onnx = require("onnx", "onnx")
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # the kind depends on the version of protobuf
        raise DamageError("it is damaged, or not an ONNX file") from error
    if not model.HasField("graph") or not model.graph.node or not model.opset_import:
        raise DamageError("it is cut short, or not an ONNX file")
    return model


def _refuse_external(path: Path, model: Any) -> None:
    for tensor in _tensors(model):
        if tensor.external_data or tensor.data_location != 0:
            places = [entry.value for entry in tensor.external_data if entry.key == "location"]
            where = repr(places[0]) if places else "another file"
            folder = path.absolute().parent
            inside = not places or (folder / places[0]).resolve().is_relative_to(folder.resolve())
            outside = "" if inside else ", which is outside of its folder"
            raise DamageError(
                f"its weights {tensor.name!r} are kept in {where}{outside}, and a network is one file"
            )


def _tensors(model: Any) -> Iterator[Any]:
    """Every tensor anywhere in a model."""
    yield from _tensors_of_graph(model.graph)
    for function in model.functions:
        yield from _tensors_of_nodes(function.node)
    for training in model.training_info:
        yield from _tensors_of_graph(training.initialization)
        yield from _tensors_of_graph(training.algorithm)


def _tensors_of_graph(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _tensors_of_nodes(graph.node)


def _tensors_of_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    for node in nodes:
        for attribute in node.attribute:
            yield attribute.t
            yield from attribute.tensors
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                yield from (sparse.values, sparse.indices)
            for graph in (attribute.g, *attribute.graphs):
                yield from _tensors_of_graph(graph)


def _check_weights(graph: Any) -> int:
    """Refuse weights that are no numbers; how many there are."""
    onnx = require("onnx", "onnx")
    helper = require("onnx.numpy_helper", "onnx")
    count = 0
    for tensor in graph.initializer:
        try:
            weights = helper.to_array(tensor)
        except Exception as error:  # sizes and types that do not fit, by whatever name
            raise DamageError(f"its weights {tensor.name!r} do not fit their shape") from error
        count += weights.size
        is_real = tensor.data_type in (
            onnx.TensorProto.FLOAT,
            onnx.TensorProto.FLOAT16,
            onnx.TensorProto.DOUBLE,
            onnx.TensorProto.BFLOAT16,
        )
        if is_real and not np.isfinite(weights.astype(np.float64, copy=False)).all():
            raise DamageError(f"its weights {tensor.name!r} are not all finite numbers")
    return count


def _places(graph: Any) -> Places:
    """Value and policy come first, in this order; in the files of Lc0 their names tell."""
    names = [output.name for output in graph.output]
    policies = [place for place, name in enumerate(names) if name == "/output/policy"]
    values = [place for place, name in enumerate(names) if name in ("/output/wdl", "/output/value")]
    left = [place for place, name in enumerate(names) if name in ("/output/mlh", "moves_left")]
    moves_left = left[0] if left else None
    if policies and values:
        return Places(values[0], policies[0], moves_left)
    return Places(moves_left=moves_left)


_Shape = tuple[int, int, int]


def _signature(graph: Any, places: Places) -> tuple[_Shape, int | None, int | None, int | None, bool]:
    """Planes with rows and columns, columns of the value, size of the policy, size of the batch, whether
    planes are float16.
    """
    proto = require("onnx", "onnx").TensorProto
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [given for given in graph.input if given.name not in weights]
    if len(inputs) != 1:
        raise DamageError(f"it has {len(inputs)} inputs instead of one, the planes")
    tensor = inputs[0].type.tensor_type
    if tensor.elem_type not in (proto.FLOAT, proto.FLOAT16):
        raise DamageError("its input is not an array of float32 or float16")
    shape = _dimensions(tensor) or ()
    if len(shape) != 4 or shape[1] is None or shape[2] is None or shape[3] is None:
        raise DamageError(f"its input is not [N, C, H, W], with C, H and W known, but {_show(shape)}")
    if shape[0] is not None and shape[0] < 1:
        raise DamageError(f"its input is {_show(shape)}, a batch of nothing")
    if len(graph.output) < 2:
        raise DamageError(f"it has {len(graph.output)} outputs instead of value and policy")
    value = _columns("value", graph.output[places.value])
    policy = _columns("policy", graph.output[places.policy])
    if value is not None and value not in (1, 3):
        raise DamageError(f"its value has {value} columns instead of 1, or 3 for win, draw and loss")
    return (shape[1], shape[2], shape[3]), value, policy, shape[0], tensor.elem_type == proto.FLOAT16


def _dimensions(tensor: Any) -> tuple[int | None, ...] | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(size.dim_value if size.HasField("dim_value") else None for size in tensor.shape.dim)


def _columns(name: str, output: Any) -> int | None:
    """Numbers per position of an output; `None` where the file leaves it open."""
    shape = _dimensions(output.type.tensor_type)
    if shape is None:
        return None
    if not shape:
        raise DamageError(f"its {name} is a single number instead of one per position")
    columns = 1
    for size in shape[1:]:
        if size is None:
            return None
        columns *= size
    return columns


def _show(shape: Iterable[int | None]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def _guess(shape: _Shape, value: int | None, policy: int | None) -> Metadata:
    planes = shape[0]
    if shape[1:] != (8, 8):
        raise DamageError(
            f"its input is not [N, C, 8, 8] but {_show((None, *shape))}, and no metadata say why"
        )
    for variant, version in WITHOUT_METADATA:
        expected, size = shape_of(variant, version)
        if planes == expected and policy in (None, size):
            if version == LC0:
                kind = "wdl_probabilities" if value == 3 else "scalar"
                return Metadata(variant=variant, inputs=version, policy_map=LC0, value=kind)
            if value == 3:
                raise DamageError(
                    "its value has 3 columns, and no metadata say that they are win, draw and loss"
                )
            return Metadata(variant=variant, inputs=version)
    of_policy = "an unknown number of" if policy is None else str(policy)
    raise DamageError(f"it has no metadata, and {planes} planes with {of_policy} moves fit no variant")


def _compare(metadata: Metadata, shape: _Shape, value: int | None, policy: int | None) -> None:
    planes, *board_of_file = shape
    expected, board, size = planes, tuple(board_of_file), policy
    # A game written in Python is compared when it is there: a file does not load one.
    is_own = is_reference(metadata.variant)
    refuse: type[Exception] = VariantError if is_own else DamageError
    if not is_own or find_loaded(metadata.variant) is not None:
        try:
            expected, size = shape_of(metadata.variant, metadata.inputs)
            board = plane_shape_of(metadata.variant, metadata.inputs)[1:]
        except (VariantError, EvaluatorError) as error:
            raise DamageError(f"its metadata do not fit this version: {error}") from None
    what = f"{metadata.variant} {metadata.inputs}"
    if shape[1:] != board:
        raise refuse(f"its planes are {_show(shape[1:])}, and those of {what} are {_show(board)}")
    if planes != expected:
        raise refuse(f"it takes {planes} planes, and {what} has {expected}")
    if policy not in (None, size):
        raise refuse(f"its policy has {policy} places, and {what} has {size}")
    if (metadata.inputs == LC0) != (metadata.policy_map == LC0):
        raise DamageError(f"its metadata combine the planes {metadata.inputs} with another policy map")
    columns = 1 if metadata.value == "scalar" else 3
    if value not in (None, columns):
        raise DamageError(f"its value has {value} columns, and its metadata say {metadata.value}")
