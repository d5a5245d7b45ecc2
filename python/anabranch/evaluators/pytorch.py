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
    """Wraps a `torch.nn.Module` that turns planes `[B, C, H, W]` into value and policy logits.

    The value is `[B]` or `[B, 1]` in [-1, 1], or with `value="wdl"` the logits `[B, 3]` of win, draw and
    loss; the policy is `[B, A]` or `[B, P, H, W]`. The module is put into evaluation mode and stays on its
    device. `planes` is the version of planes that it takes; without one, the module's attribute `planes` if
    that is a text, else the usual one. A text in its attribute `variant` is the only variant that it is for.
    """

    inputs: Literal["planes"] = "planes"

    def __init__(
        self, module: Any, *, planes: str | None = None, value: Literal["scalar", "wdl"] = "scalar"
    ) -> None:
        self._torch = require("torch", "train")
        if not isinstance(module, self._torch.nn.Module):
            raise EvaluatorError(f"a torch.nn.Module is wanted, not {type(module).__name__}")
        if value not in ("scalar", "wdl"):
            raise EvaluatorError(f"a value is 'scalar' or 'wdl', not {value!r}")
        own = getattr(module, "planes", None)
        self.planes: str | None = planes or (own if isinstance(own, str) else None)
        variant = getattr(module, "variant", None)
        self.variant: str | None = variant if isinstance(variant, str) else None
        self.module = module.eval()
        self._has_wdl = value == "wdl"
        first = next(module.parameters(), None)
        self._device = None if first is None else first.device
        self._type = self._torch.float32 if first is None else first.dtype

    def evaluate(self, planes: Planes, /) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Judge a batch."""
        torch = self._torch
        with torch.inference_mode():
            value, policy = self._answer(torch.from_numpy(planes).to(self._device, self._type))
            if self._has_wdl:
                chances = value.float().softmax(dim=1)
                value = chances[:, 0] - chances[:, 2]
            values = value.float().reshape(len(planes)).cpu().numpy()
            logits = policy.float().reshape(len(planes), -1).cpu().numpy()
        return values, logits

    def _answer(self, planes: Any) -> tuple[Any, Any]:
        """The outputs of the module, with their shapes checked; the search checks the rest."""
        name, size = type(self.module).__name__, len(planes)
        try:
            answer = self.module(planes)
        except Exception as error:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise EvaluatorError(
                f"the module {name} does not take planes {list(planes.shape)}: {reason}"
            ) from error
        both = answer[:2] if isinstance(answer, (tuple, list)) else ()
        if len(both) != 2 or not all(isinstance(part, self._torch.Tensor) for part in both):
            found = f"a {type(answer).__name__}"
            raise EvaluatorError(
                f"the module {name} must return two tensors, value and policy logits, not {found}"
            )
        value, policy = both
        wanted = [[size, 3]] if self._has_wdl else [[size], [size, 1]]
        if list(value.shape) not in wanted:
            hint = "" if self._has_wdl else "; TorchEvaluator(module, value='wdl') takes win, draw and loss"
            raise EvaluatorError(
                f"the module {name} must return a value of shape {' or '.join(map(str, wanted))}, "
                f"not {list(value.shape)}{hint}"
            )
        if policy.dim() not in (2, 4) or len(policy) != size:
            raise EvaluatorError(
                f"the module {name} must return policy logits of shape [{size}, A] or [{size}, P, H, W], "
                f"not {list(policy.shape)}"
            )
        return value, policy

    def __repr__(self) -> str:
        return f"<TorchEvaluator {type(self.module).__name__}>"
