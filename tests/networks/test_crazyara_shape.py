"""Networks of the architecture that CrazyAra released: taken as they are, without metadata, and exact."""

from pathlib import Path

import numpy as np
import pytest
from tests.support.rise import Rise

from anabranch import Engine
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.networks.planes import encode, shape_of

SHAPES = [("crazyhouse", "v1", 34, 81), ("crazyhouse", "v3", 64, 81), ("chess", "v3", 52, 76)]
GAMES = {
    "crazyhouse": [
        "startpos",
        "startpos moves e2e4 d7d5 e4d5 d8d5 P@e4 d5e4",
        "startpos moves e2e4 d7d5 e4d5",
    ],
    "chess": ["startpos", "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5", "startpos moves d2d4 d7d5 c2c4"],
}


@pytest.mark.parametrize(("variant", "version", "planes", "policy"), SHAPES)
def test_rise_of_the_released_size(
    variant: str, version: str, planes: int, policy: int, tmp_path: Path
) -> None:
    rise = Rise(planes, policy)
    path = tmp_path / "model.onnx"
    path.write_bytes(rise.model())
    network = OnnxEvaluator(path, provider="cpu", threads=1)
    assert (network.variant, network.planes) == (variant, version)
    assert shape_of(variant, version) == (planes, policy * 64)

    given, moves = encode(GAMES[variant], variant, version)
    values, logits = network.evaluate(given)
    expected_values, expected_logits = rise.compute(given)
    assert np.abs(values - expected_values).max() < 1e-4
    assert np.abs(logits - expected_logits).max() < 1e-3

    # The position's place in a batch and the size of the batch change nothing but the last digits.
    many = np.repeat(given, [3, 9, 5], axis=0)
    wide_values, wide_logits = network.evaluate(many)
    rows = np.repeat(np.arange(3), [3, 9, 5])
    assert np.abs(wide_values - values[rows]).max() < 1e-4
    assert np.abs(wide_logits - logits[rows]).max() < 1e-3

    # The priors of a search are the softmax of the logits in the places of the legal moves.
    engine = Engine(variant, evaluator=network, threads=1)
    result = engine.search(GAMES[variant][1], evaluations=17)
    weights = np.exp([expected_logits[1, moves[1][row.move]] for row in result.moves])
    priors = np.array([row.prior for row in result.moves])
    assert result.statistics.evaluations == 17
    assert len(priors) == len(moves[1])
    assert np.abs(priors - weights / weights.sum()).max() < 2e-3
