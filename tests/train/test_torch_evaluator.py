"""Modules of PyTorch as evaluators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from anabranch import Engine
from anabranch.errors import EvaluatorError
from anabranch.evaluators.pytorch import TorchEvaluator
from anabranch.planes import encode


def module(columns: int = 1, planes: int = 52, places: int = 76) -> Any:
    class Tiny(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(1)
            self.policy = torch.nn.Conv2d(planes, places, 1)
            self.value = torch.nn.Linear(planes * 64, columns)
            self.dropout = torch.nn.Dropout(0.5)

        def forward(self, given: Any) -> tuple[Any, Any]:
            value = self.value(self.dropout(given).flatten(1))
            return value if columns == 3 else torch.tanh(value), self.policy(given)

    return Tiny()


def test_values_and_logits() -> None:
    planes, _ = encode(["startpos", "startpos moves e2e4"])
    tiny = module()
    values, logits = TorchEvaluator(tiny).evaluate(planes)
    assert (values.shape, logits.shape) == ((2,), (2, 76 * 64))
    assert values.dtype == logits.dtype == np.float32
    weights = {name: array.detach().numpy() for name, array in tiny.named_parameters()}
    expected = np.tanh(planes.reshape(2, -1) @ weights["value.weight"].T + weights["value.bias"])
    assert np.abs(values - expected[:, 0]).max() < 1e-5
    maps = np.einsum("nchw,oc->nohw", planes, weights["policy.weight"][:, :, 0, 0])
    maps += weights["policy.bias"][None, :, None, None]
    assert np.abs(logits - maps.reshape(2, -1)).max() < 1e-4


def test_win_draw_and_loss() -> None:
    planes, _ = encode(["startpos"])
    tiny = module(columns=3)
    values, _ = TorchEvaluator(tiny, value="wdl").evaluate(planes)
    with torch.no_grad():
        chances = tiny(torch.from_numpy(planes))[0].softmax(dim=1)[0]
    assert abs(values[0] - float(chances[0] - chances[2])) < 1e-6


def test_a_search() -> None:
    tiny = module(planes=34, places=81)
    engine = Engine("crazyhouse", evaluator=TorchEvaluator(tiny, planes="v1"))
    assert engine.search(evaluations=60).statistics.evaluations == 60
    assert not tiny.training


def test_what_is_no_module() -> None:
    with pytest.raises(EvaluatorError, match=r"a torch\.nn\.Module is wanted, not function"):
        TorchEvaluator(lambda planes: planes)
    with pytest.raises(EvaluatorError, match="'scalar' or 'wdl', not 'odd'"):
        TorchEvaluator(module(), value="odd")  # type: ignore[arg-type]
