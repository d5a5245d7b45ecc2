"""Modules of PyTorch as evaluators."""

from typing import Any

import numpy as np
import pytest
import torch

from anabranch import Engine
from anabranch.errors import EvaluatorError, VariantError
from anabranch.evaluators.pytorch import TorchEvaluator
from anabranch.networks.planes import encode
from anabranch.train.build import build_network
from anabranch.train.planes import Contract
from anabranch.train.recipe import Recipe


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


def test_an_engine_takes_a_module() -> None:
    tiny = module()
    engine = Engine("chess", evaluator=tiny)
    assert not tiny.training
    assert repr(engine.evaluator) == "<TorchEvaluator Tiny>"
    found = engine.search(evaluations=60)
    wrapped = Engine("chess", evaluator=TorchEvaluator(module())).search(evaluations=60)
    assert found.statistics.evaluations == 60
    assert [(row.move, row.visits, row.q) for row in found.moves] == [
        (row.move, row.visits, row.q) for row in wrapped.moves
    ]
    engine.configure(evaluator="hash")
    engine.configure(evaluator=module())
    assert isinstance(engine.evaluator, TorchEvaluator)


def test_a_module_may_say_what_it_is_for() -> None:
    tiny = module(planes=34, places=81)
    tiny.planes, tiny.variant = "v1", "crazyhouse"
    assert Engine("crazyhouse", evaluator=tiny).search(evaluations=20).statistics.evaluations == 20
    with pytest.raises(VariantError, match="<TorchEvaluator Tiny> is for crazyhouse, and this engine plays"):
        Engine("chess", evaluator=tiny)


def test_a_module_of_the_training_plays_through_its_contract() -> None:
    network = build_network(Recipe(variant="crazyhouse", network="rise", channels=8, blocks=1))
    engine = Engine("crazyhouse", evaluator=Contract(network))
    assert engine.search(evaluations=20).statistics.evaluations == 20


class Odd(torch.nn.Module):
    """Answers what it is given."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, given: Any) -> Any:
        return self.answer(len(given))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda n: torch.zeros(n, 1), "return two tensors, value and policy logits, not a Tensor"),
        (lambda n: (0.5, torch.zeros(n, 4864)), "return two tensors, .* not a tuple"),
        (lambda n: (torch.zeros(n, 3), torch.zeros(n, 4864)), r"value of shape .*, not .*value='wdl'"),
        (lambda n: (torch.zeros(n), torch.zeros(n)), r"policy logits of shape \[\d+, A\] or .*, not \[\d+\]"),
        (lambda n: (torch.zeros(n), torch.zeros(n, 7)), r"logits \[\d+, 4864\] .*, not .* \[\d+, 7\]"),
    ],
)  # fmt: skip
def test_a_module_that_answers_something_else(answer: Any, sentence: str) -> None:
    with pytest.raises(EvaluatorError, match=f"^the (module Odd|evaluator) .*{sentence}"):
        Engine("chess", evaluator=Odd(answer)).search(evaluations=20)


def test_a_module_that_takes_something_else() -> None:
    with pytest.raises(
        EvaluatorError, match=r"^the module Tiny does not take planes \[\d+, 52, 8, 8\]: .*shapes"
    ):
        Engine("chess", evaluator=module(planes=34)).search(evaluations=20)
