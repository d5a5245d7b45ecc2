"""Stamping: an ONNX file gets its metadata, canaries and seal, the last step of an export.

The network is opened and run, so a file that cannot be used is not stamped. The weights stay the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from anabranch.errors import NetworkError
from anabranch.jobs.files import write_atomic
from anabranch.networks.canaries import TOLERANCE, Canary, make_canaries, write_canaries
from anabranch.networks.container import DamageError, read_bytes, read_texts, with_texts
from anabranch.networks.metadata import CANARIES, PREFIX, Metadata
from anabranch.networks.onnx_file import OnnxFile, read_onnx


def stamp_onnx(
    source: str | os.PathLike[str],
    metadata: Metadata,
    target: str | os.PathLike[str] | None = None,
    *,
    canaries: Sequence[Canary] | None = None,
    positions: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
) -> OnnxFile:
    """Write `source` with metadata, canaries and seal to `target`, or in its own place.

    Canaries are computed for `positions`, by default a few of its variant; or they are given. The file
    appears whole or not at all.
    """
    from anabranch.evaluators.onnx_runtime import OnnxEvaluator

    given, path = Path(source), Path(source if target is None else target)
    content = read_bytes(given)
    try:
        texts = {name: text for name, text in read_texts(content).items() if not name.startswith(PREFIX)}
        texts |= metadata.write()
        file = read_onnx(given, with_texts(content, texts))
        if canaries is None:
            evaluator = OnnxEvaluator(file, provider="cpu", threads=1)
            canaries = make_canaries(
                evaluator.evaluate, metadata.variant, metadata.inputs, positions, tolerance
            )
        stamped = with_texts(content, texts | {CANARIES: write_canaries(canaries)})
    except DamageError as error:
        raise NetworkError(f"{given} is refused: {error}") from None
    try:
        write_atomic(path, stamped)
    except OSError as error:
        raise NetworkError(f"{path} cannot be written: {error.strerror or error}") from error
    return read_onnx(path, stamped)
