"""The interface of evaluators written in Python.

An evaluator is an object with a method `evaluate`, or a plain function. It gets a batch of positions and
returns for each a value for the side to move, in [-1, 1], and the logits of its moves. The attribute `inputs`
chooses one of two forms of input:

* `"planes"` (where there is no such attribute): a float32 array `[B, C, H, W]` (8 x 8 in chess), to be read
  and not kept, because it is reused; the result is values `[B]` and logits `[B, A]`, one for every move of
  the policy. `Engine.plane_shape` has C, H and W, `Engine.shape` C and A.
* `"positions"`: a list of `Leaf`, each a position (FEN) with its legal moves; the result is values `[B]` and
  for each leaf the logits of its moves, in their order. Slower, and easier to write.

Two more attributes are optional: `planes`, the version of planes that it takes (of chess "v3"
where there is none; crazyhouse has "v1" too), and `variant`, the only one that it is for.

All calls of one engine come from one thread, one at a time. The built-in evaluators live in the core and go
by their names: `"uniform"`, `"hash"` and `"rollout"`; in chess `"material"` too.

>>> import numpy as np
>>> from anabranch import Engine
>>> def equal(planes):
...     return np.zeros(len(planes)), np.zeros((len(planes), 7))
>>> Engine("connect-four", evaluator=equal).search(simulations=50).statistics.evaluations > 0
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Planes: TypeAlias = NDArray[np.float32]
"""A batch of planes, `[B, C, H, W]`."""
Answer: TypeAlias = tuple[ArrayLike, ArrayLike]
"""Values `[B]` and logits `[B, A]`."""


class Leaf(NamedTuple):
    """A position that waits for its evaluation.

    >>> from anabranch import Engine
    >>> class Even:
    ...     inputs = "positions"
    ...     def evaluate(self, leaves):
    ...         return [0.0] * len(leaves), [[0.0] * len(leaf.moves) for leaf in leaves]
    >>> Engine(evaluator=Even()).search(simulations=20).statistics.simulations
    20
    """

    fen: str
    moves: tuple[str, ...]
    """The legal moves (UCI)."""


class Evaluator(Protocol):
    """Evaluates planes `[B, C, H, W]`: values `[B]`, logits `[B, A]`.

    >>> from anabranch import Engine
    >>> class Flat:
    ...     def evaluate(self, planes):
    ...         return np.zeros(len(planes)), np.zeros((len(planes), 7))
    >>> Engine("connect-four", evaluator=Flat()).search(simulations=20).finish
    'limit'
    """

    def evaluate(self, planes: Planes, /) -> Answer:
        """Evaluate a batch."""


class PositionEvaluator(Protocol):
    """Evaluates positions: values `[B]`, and the logits of the legal moves of each.

    >>> from anabranch import Engine
    >>> class Captures:
    ...     inputs = "positions"
    ...     def evaluate(self, leaves):
    ...         logits = [[float(move[2:4] in ("d5", "e5")) for move in leaf.moves] for leaf in leaves]
    ...         return [0.0] * len(leaves), logits
    >>> Engine(evaluator=Captures()).search("startpos moves e2e4 d7d5", simulations=5).moves[0].move
    'e4d5'
    """

    inputs: Literal["positions"]

    def evaluate(self, leaves: Sequence[Leaf], /) -> tuple[ArrayLike, Sequence[ArrayLike]]:
        """Evaluate a batch."""


AnyEvaluator: TypeAlias = Evaluator | PositionEvaluator | Callable[[Any], tuple[Any, Any]]
"""What an engine takes as an evaluator of Python: an object with `evaluate`, or a function."""

__all__ = ["Answer", "AnyEvaluator", "Evaluator", "Leaf", "Planes", "PositionEvaluator"]
