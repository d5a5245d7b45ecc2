"""A module of PyTorch as an evaluator, for networks in training and for trying things out.

PyTorch is imported when the first one is made, and by nothing else in this package that plays.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import EvaluatorError
from anabranch.evaluators import Planes
from anabranch.optional import require


class TorchEvaluator:
    """Wraps a `torch.nn.Module` that turns planes `[B, C, 8, 8]` into value and policy logits.

    The value is `[B]` or `[B, 1]` in [-1, 1], or with `value="wdl"` the logits `[B, 3]` of win, draw and
    loss; the policy is `[B, A]` or `[B, P, 8, 8]`. The module is put into evaluation mode and stays on its
    device. `planes` is the version of planes that it takes.
    """

    inputs: Literal["planes"] = "planes"

    def __init__(
        self, module: Any, *, planes: str = "v3", value: Literal["scalar", "wdl"] = "scalar"
    ) -> None:
        self._torch = require("torch", "train")
        if not isinstance(module, self._torch.nn.Module):
            raise EvaluatorError(f"a torch.nn.Module is wanted, not {type(module).__name__}")
        if value not in ("scalar", "wdl"):
            raise EvaluatorError(f"a value is 'scalar' or 'wdl', not {value!r}")
        self.planes = planes
        self.module = module.eval()
        self._has_wdl = value == "wdl"
        first = next(module.parameters(), None)
        self._device = None if first is None else first.device
        self._type = self._torch.float32 if first is None else first.dtype

    def evaluate(self, planes: Planes, /) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Judge a batch."""
        torch = self._torch
        with torch.inference_mode():
            given = torch.from_numpy(planes).to(self._device, self._type)
            value, policy = self.module(given)[:2]
            if self._has_wdl:
                chances = value.float().softmax(dim=1)
                value = chances[:, 0] - chances[:, 2]
            values = value.float().reshape(len(planes)).cpu().numpy()
            logits = policy.float().reshape(len(planes), -1).cpu().numpy()
        return values, logits
