"""What the evaluators of ONNX files have in common: from a checked file to values and logits.

A runtime only turns arrays into arrays. Batches of one fixed size are filled up here, win-draw-loss becomes a
value, probabilities become logits, and a new network must reproduce the canaries of its file.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import AnabranchError, EvaluatorError, NetworkError
from anabranch.evaluators import Planes
from anabranch.jobs.executor import cores
from anabranch.networks.canaries import find_difference
from anabranch.networks.onnx_file import OnnxFile, read_onnx
from anabranch.networks.planes import core_version, encode, shape_of

LEAST = np.float32(1e-30)
"""The smallest probability that has a logit."""


class Outlook(NamedTuple):
    """What networks of some kinds say besides value and policy."""

    chances: NDArray[np.float32] | None
    """Win, draw and loss for the side to move, `[B, 3]`; none where the value is one number."""
    moves_left: NDArray[np.float32] | None
    """Plies that the game will last, `[B]`; none where the network has no such output."""


class OnnxNetwork(ABC):
    """A network of an ONNX file, in some runtime. One thread at a time uses it."""

    inputs: Literal["planes"] = "planes"
    provider: str
    """What runs it."""
    rounding: float = 0.0
    """How far its canaries may be off because it computes with short numbers, as in `Canary.tolerance`."""

    def __init__(self, file: str | os.PathLike[str] | OnnxFile, threads: int | None) -> None:
        if threads is not None and threads < 1:
            raise EvaluatorError(f"a network needs at least one thread, not {threads}")
        self.threads = threads or cores()
        self.file = file if isinstance(file, OnnxFile) else read_onnx(file)
        """The file, as it was checked."""
        self.variant = self.file.metadata.variant
        """The variant that it plays."""
        self.planes = core_version(self.file.metadata.inputs)
        """The version of planes that it takes; `None` for games that have one only."""
        self.notes = list(self.file.notes)
        """Remarks about the file, for people."""
        self._policy_size = shape_of(self.variant, self.file.metadata.inputs)[1]
        self._has_probabilities = self.file.metadata.policy == "probabilities"
        self._value_kind = self.file.metadata.value

    @property
    def path(self) -> Path:
        """Where the file was."""
        return self.file.path

    def evaluate(self, planes: Planes, /) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Evaluate a batch `[B, C, H, W]`: values `[B]` and logits `[B, A]`."""
        value, policy = self._infer_any(planes, self.file.places[:2])
        size = len(planes)
        chances = self._chances(value, size)
        values = value.reshape(size) if chances is None else chances[:, 0] - chances[:, 2]
        logits = policy.reshape(size, -1)
        if self._has_probabilities:
            logits = np.log(np.maximum(logits.astype(np.float32, copy=False), LEAST))
        return values.astype(np.float32, copy=False), logits.astype(np.float32, copy=False)

    def outlook(self, planes: Planes, /) -> Outlook:
        """What the network says about a batch besides values and logits."""
        places, size = self.file.places, len(planes)
        wanted = (places.value,) if places.moves_left is None else (places.value, places.moves_left)
        value, *rest = self._infer_any(planes, wanted)
        moves_left = rest[0].reshape(size).astype(np.float32, copy=False) if rest else None
        return Outlook(self._chances(value, size), moves_left)

    def _chances(self, value: NDArray[Any], size: int) -> NDArray[np.float32] | None:
        """Win, draw and loss of a value output; none where it is a number."""
        if self._value_kind == "scalar":
            return None
        found: NDArray[np.float32] = value.reshape(size, 3).astype(np.float32, copy=False)
        return _softmax(found) if self._value_kind == "wdl" else found

    @abstractmethod
    def _infer(self, planes: NDArray[Any], places: Sequence[int]) -> list[NDArray[Any]]:
        """Run the network on a batch that it takes: the outputs with these numbers."""

    def _infer_any(self, planes: NDArray[Any], places: Sequence[int]) -> list[NDArray[Any]]:
        """Run the network on a batch of any size."""
        if self.file.is_half:
            planes = planes.astype(np.float16)
        batch, size = self.file.batch, len(planes)
        if batch is None or batch == size:
            return self._infer(planes, places)
        answers = []
        for begin in range(0, size, batch):
            part = planes[begin : begin + batch]
            if len(part) < batch:
                padded = np.zeros((batch, *planes.shape[1:]), planes.dtype)
                padded[: len(part)] = part
                answers.append([output[: len(part)] for output in self._infer(padded, places)])
            else:
                answers.append(self._infer(part, places))
        if len(answers) == 1:
            return answers[0]
        return [np.concatenate(outputs) for outputs in zip(*answers, strict=True)]

    def _check(self) -> None:
        """Run the network on one position and on its canaries: the last step of opening."""
        start, _ = encode(["startpos"], self.variant, self.file.metadata.inputs)
        try:
            value, policy = self._infer_any(start, self.file.places[:2])
        except AnabranchError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise NetworkError(f"{self.path} is refused: it cannot be run: {reason}") from error
        columns = 1 if self._value_kind == "scalar" else 3
        if value.size != columns or policy.size != self._policy_size:
            sizes = f"{value.size} and {policy.size} numbers instead of {columns} and {self._policy_size}"
            raise NetworkError(f"{self.path} is refused: for one position it gives {sizes}")
        if not (np.isfinite(value).all() and np.isfinite(policy).all()):
            raise NetworkError(f"{self.path} is refused: it gives numbers that are not finite")
        if columns == 1 and abs(number := float(value.reshape(()))) > 1.001:
            beyond = f"the value {number:.3f}, which is not in [-1, 1]"
            raise NetworkError(f"{self.path} is refused: it gives {beyond}")
        is_distribution = policy.min() >= 0.0 and abs(float(policy.sum(dtype=np.float64)) - 1.0) < 1e-3
        if self.file.sha256 is None and is_distribution:
            self._has_probabilities = True
            self.notes.append("its policy gives probabilities instead of logits; they are converted")
        inputs = self.file.metadata.inputs
        canaries = [
            replace(canary, tolerance=max(canary.tolerance, self.rounding)) for canary in self.file.canaries
        ]
        difference = find_difference(self.evaluate, canaries, self.variant, inputs)
        if difference is not None:
            raise NetworkError(f"{self.path} is refused: {difference}")

    def __repr__(self) -> str:
        what = f"{self.variant} {self.file.metadata.inputs}, {self.provider}"
        return f"<{type(self).__name__} {str(self.path)!r}, {what}>"


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: NDArray[np.float32] = shifted / shifted.sum(axis=1, keepdims=True)
    return chances
