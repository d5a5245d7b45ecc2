"""An evaluator of Python, called: a batch goes in, checked arrays come out.

The shapes are checked here, the numbers by the core. Nothing here knows searches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EvaluatorError
from anabranch.evaluators import AnyEvaluator, Leaf

LeafText: TypeAlias = tuple[str, list[tuple[str, int]]]
"""A position, and its legal moves with their policy indices: what the core says of a leaf."""
Arrays: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Values `[B]` and logits `[B, A]`."""

_FLOAT32 = np.dtype(np.float32)


class EvaluatorCall:
    """An evaluator for a policy of some size."""

    def __init__(self, evaluator: AnyEvaluator, policy_size: int) -> None:
        function: Any = getattr(evaluator, "evaluate", evaluator)
        self._function: Callable[[Any], Any] = function
        self._policy_size = policy_size

    def of_planes(self, planes: NDArray[np.float32]) -> Arrays:
        """The answer for planes `[B, C, H, W]`."""
        values, logits = self._ask(planes)
        return self._check(len(planes), _array("values", values), _array("logits", logits))

    def of_leaves(self, texts: Sequence[LeafText]) -> Arrays:
        """The answer for positions, for an evaluator with such inputs."""
        leaves = [Leaf(fen, tuple(move for move, _ in moves)) for fen, moves in texts]
        given_values, given_logits = self._ask(leaves)
        values = _array("values", given_values)
        indices = [[index for _, index in moves] for _, moves in texts]
        return self._check(len(texts), values, self._scatter(indices, given_logits))

    def _ask(self, batch: Any) -> tuple[Any, Any]:
        try:
            answer = self._function(batch)
        except EvaluatorError:
            raise
        except Exception as error:
            raise EvaluatorError(f"the evaluator raised {type(error).__name__}: {error}") from error
        try:
            values, logits = answer
        except (TypeError, ValueError):
            raise EvaluatorError(
                f"the evaluator must return values and logits, not {type(answer).__name__}"
            ) from None
        return values, logits

    def _check(self, size: int, values: NDArray[np.float32], logits: NDArray[np.float32]) -> Arrays:
        if values.shape != (size,) or logits.shape != (size, self._policy_size):
            raise EvaluatorError(
                f"the evaluator must return values {[size]} and logits {[size, self._policy_size]} "
                f"for this batch, not {list(values.shape)} and {list(logits.shape)}"
            )
        return values, logits

    def _scatter(self, indices: list[list[int]], given: Any) -> NDArray[np.float32]:
        """The logits of legal moves in their places among all moves."""
        rows = list(given) if isinstance(given, (list, tuple, np.ndarray)) else []
        if len(rows) != len(indices):
            raise EvaluatorError(f"the evaluator must return logits for each of {len(indices)} positions")
        logits = np.zeros((len(rows), self._policy_size), np.float32)
        for number, (row, places) in enumerate(zip(rows, indices, strict=True)):
            of_moves = _array("logits", row)
            if of_moves.shape != (len(places),):
                raise EvaluatorError(
                    f"the evaluator must return {len(places)} logits for position {number} of a batch, "
                    f"one per legal move, not {list(of_moves.shape)}"
                )
            logits[number, places] = of_moves
        return logits


def takes_positions(evaluator: AnyEvaluator) -> bool:
    """Whether an evaluator takes positions instead of planes."""
    return getattr(evaluator, "inputs", "planes") == "positions"


def planes_version(evaluator: object) -> Any:
    """The version of planes that an evaluator names, if it does; an engine has checked it."""
    return getattr(evaluator, "planes", None)


def _array(name: str, given: Any) -> NDArray[np.float32]:
    if type(given) is np.ndarray and given.dtype is _FLOAT32 and given.flags.c_contiguous:
        return given
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise EvaluatorError(f"the evaluator's {name} are not an array: {error}") from error
    if array.dtype.kind not in "fiu":
        raise EvaluatorError(f"the evaluator's {name} are not an array of numbers, but of {array.dtype}")
    with np.errstate(over="ignore", invalid="ignore"):  # the core refuses what is infinite
        return np.ascontiguousarray(array, np.float32)
