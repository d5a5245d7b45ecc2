"""Evaluators of ONNX files: exact against NumPy, in any batch, in a search."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch import Engine
from anabranch.errors import EvaluatorError, MissingPackageError, NetworkError, VariantError
from anabranch.evaluators import openvino as openvino_runtime
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.evaluators.open import open_network
from anabranch.evaluators.openvino import OF_BFLOAT16, import_openvino, open_core
from anabranch.evaluators.stamp import stamp_onnx
from anabranch.networks import Metadata
from anabranch.networks.planes import encode
from anabranch.networks.shipped import FOLDER

POSITIONS = {
    "chess": ["startpos", "startpos moves e2e4", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9"],
    "crazyhouse": [
        "startpos",
        "r2qk2r/1ppbbppp/p2p1n2/8/4P3/2PBNP2/PPQ2P1P/R1B1K2R[PNpn] b KQkq - 0 11",
        "4k3/8/8/8/8/8/3q~4/4K3[PPn] w - - 20 51",
    ],
}
DATA = Path(__file__).parents[1] / "data"
KINDS = [("chess", "v3"), ("crazyhouse", "v3"), ("crazyhouse", "v1")]


def opened(path: Path, **options: Any) -> OnnxNetwork:
    network = open_network(path, **{"threads": 1, **options})
    assert isinstance(network, OnnxNetwork)
    return network


@pytest.mark.parametrize("runtime", ["onnxruntime", "openvino"])
@pytest.mark.parametrize(("variant", "version"), KINDS)
@pytest.mark.parametrize("batch", ["N", 2, 3, 8])
def test_answers_are_those_of_numpy(
    make_network: Any, answer: Any, variant: str, version: str, batch: int | str, runtime: str
) -> None:
    path = make_network(variant, version, batch=batch)
    network = opened(path, runtime=runtime)
    assert (network.variant, network.planes) == (variant, version)
    planes, _ = encode(POSITIONS[variant], variant, version)
    sums, logits = answer(path, planes)
    for size in (1, 2, 3):
        values, given = network.evaluate(planes[:size])
        assert (values.shape, given.shape) == ((size,), (size, logits.shape[1]))
        assert values.dtype == given.dtype == np.float32
        assert np.abs(values - np.tanh(sums[:size, 0])).max() < 1e-5
        assert np.abs(given - logits[:size]).max() < 1e-4


def test_answers_are_kept_while_the_next_batch_is_evaluated(make_network: Any) -> None:
    for batch in ("N", 4):
        network = opened(make_network(batch=batch))
        planes, _ = encode(POSITIONS["chess"])
        values, logits = network.evaluate(planes[:2])
        copies = values.copy(), logits.copy()
        network.evaluate(planes[1:])
        assert (values == copies[0]).all()
        assert (logits == copies[1]).all()


def test_win_draw_and_loss_make_a_value(make_network: Any, answer: Any) -> None:
    path = make_network(wdl=True)
    stamp_onnx(path, Metadata(variant="chess", value="wdl"))
    planes, _ = encode(POSITIONS["chess"])
    sums, _ = answer(path, planes)
    chances = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True)
    values, _ = opened(path).evaluate(planes)
    assert np.abs(values - (chances[:, 0] - chances[:, 2])).max() < 1e-5


@pytest.mark.parametrize("says_so", [False, True])
def test_probabilities_become_logits(make_network: Any, answer: Any, says_so: bool) -> None:
    path = make_network(probabilities=True)
    if says_so:
        stamp_onnx(path, Metadata(variant="chess", policy="probabilities"))
    network = opened(path)
    assert says_so == (not any("probabilities" in note for note in network.notes))
    planes, _ = encode(POSITIONS["chess"])
    _, logits = answer(path, planes)
    _, given = network.evaluate(planes)
    shift = (given - logits).mean(axis=1, keepdims=True)
    assert np.abs(given - logits - shift).max() < 1e-3


def test_half_precision(make_network: Any, answer: Any) -> None:
    path = make_network(half=True)
    planes, _ = encode(POSITIONS["chess"])
    sums, _ = answer(path, planes)
    values, _ = opened(path).evaluate(planes)
    assert np.abs(values - np.tanh(sums[:, 0])).max() < 0.02


@pytest.mark.parametrize(("variant", "version"), KINDS)
def test_a_search_is_that_of_the_same_function(
    make_network: Any, answer: Any, variant: str, version: str
) -> None:
    path = make_network(variant, version)

    class Same:
        planes = version

        def evaluate(self, planes: Any) -> Any:
            sums, logits = answer(path, planes)
            return np.tanh(sums[:, 0]), logits

    settings: dict[str, Any] = {"batch_size": 8, "seed": 3}
    ours = Engine(variant, evaluator=opened(path), **settings).search(evaluations=200)
    theirs = Engine(variant, evaluator=Same(), **settings).search(evaluations=200)
    assert ours.best_move == theirs.best_move
    assert abs(ours.value - theirs.value) < 1e-3
    expected = {row.move: row.prior for row in theirs.moves}
    assert all(abs(row.prior - expected[row.move]) < 1e-4 for row in ours.moves)


def test_engines_take_paths(make_network: Any, tmp_path: Path) -> None:
    path = make_network("crazyhouse", "v1")
    for given in (path, str(path)):
        engine = Engine("crazyhouse", evaluator=given)
        assert isinstance(engine.evaluator, OnnxNetwork)
        assert engine.search(evaluations=20).statistics.evaluations == 20
    with pytest.raises(VariantError, match=r"net\.onnx.* is for crazyhouse, and this engine plays chess"):
        Engine("chess", evaluator=path)
    with pytest.raises(NetworkError, match=r"there is no network file .*none\.onnx"):
        Engine(evaluator=str(tmp_path / "none.onnx"))


def test_a_bad_file_leaves_the_old_network_in_use(make_network: Any, tmp_path: Path) -> None:
    good = make_network()
    other = make_network("crazyhouse", name="other.onnx")
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(good.read_bytes()[:1000])
    engine = Engine(evaluator=good)
    before = engine.evaluator
    first = engine.search(evaluations=50)
    for path in (bad, other, tmp_path / "none.onnx"):
        with pytest.raises((NetworkError, VariantError)):
            engine.configure(evaluator=path)
        assert engine.evaluator is before
        assert engine.result().moves == first.moves
    assert engine.search(evaluations=10).statistics.evaluations == 10


def test_a_saved_search_goes_on_with_its_network(make_network: Any, tmp_path: Path) -> None:
    path = make_network()
    engine = Engine(evaluator=path)
    engine.search(evaluations=40)
    engine.save(tmp_path / "saved")
    loaded = Engine.load(tmp_path / "saved", evaluator=path)
    assert loaded.result().moves == engine.result().moves
    assert Engine.load(tmp_path / "saved", evaluator="hash").evaluator == "hash"


def test_threads_and_providers(make_network: Any) -> None:
    path = make_network()
    assert opened(path, threads=2).threads == 2
    assert opened(path, provider="cpu").provider == "cpu"
    with pytest.raises(EvaluatorError, match="at least one thread, not 0"):
        opened(path, threads=0)
    with pytest.raises(EvaluatorError, match="a provider is auto or one of cpu, cuda"):
        opened(path, provider="abacus")
    with pytest.raises(
        NetworkError, match="a runtime is one of onnxruntime, openvino, openvino-bf16, not 'abacus'"
    ):
        opened(path, runtime="abacus")


def test_bfloat16_is_less_exact_and_needs_its_instructions(
    make_network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    openvino = import_openvino()
    path = make_network()
    planes, _ = encode(POSITIONS["chess"])
    values, logits = opened(path).evaluate(planes)
    able = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if able:
        short = opened(path, runtime="openvino-bf16")
        assert short.provider == "CPU, bfloat16"
        given = short.evaluate(planes)
        assert not np.array_equal(given[1], logits)
        assert np.abs(given[0] - values).max() < 0.05
        assert np.abs(given[1] - logits).max() < 0.05 * np.abs(logits).max()
    monkeypatch.setattr(openvino.Core, "get_property", lambda *_: ["FP32"])
    with pytest.raises(
        EvaluatorError, match="device CPU has no instructions for bfloat16, which openvino-bf16 needs"
    ):
        opened(path, runtime="openvino-bf16")


def test_bfloat16_is_compared_with_float32_where_there_are_no_canaries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the processor has the instructions; elsewhere the runtime is refused anyway."""
    path = DATA / "lc0" / "tinygyal-8.pb.gz"
    if "BF16" in open_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        assert opened(path, runtime="openvino-bf16").provider == "CPU, bfloat16"
        monkeypatch.setattr(openvino_runtime, "ROUNDED", 1e-6)
        with pytest.raises(NetworkError, match=r"refused with bfloat16: a value or a probability differs by"):
            opened(path, runtime="openvino-bf16")
    assert opened(path, runtime="openvino").provider == "CPU"


def test_there_is_one_core_of_openvino(make_network: Any) -> None:
    opened(make_network(), runtime="openvino")
    core = open_core()
    opened(make_network(), runtime="openvino")
    assert open_core() is core


def test_bfloat16_is_asked_for(make_network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any processor."""
    openvino = import_openvino()
    asked: list[Any] = []

    def compile_model(_core: Any, _model: Any, _device: str, options: dict[str, Any]) -> None:
        asked.append(options["INFERENCE_PRECISION_HINT"])
        raise RuntimeError("not here")

    monkeypatch.setattr(openvino.Core, "get_property", lambda *_: ["FP32", "BF16"])
    monkeypatch.setattr(openvino.Core, "compile_model", compile_model)
    for runtime in ("openvino", "openvino-bf16"):
        with pytest.raises(NetworkError, match="OpenVINO cannot open it: not here"):
            opened(make_network(), runtime=runtime)
    assert asked == ["f32", "bf16"]


@pytest.mark.parametrize(("noise", "is_taken"), [(0.05, True), (0.3, False)])
def test_canaries_may_be_off_by_what_short_numbers_lose(noise: float, is_taken: bool) -> None:
    class Short(OnnxEvaluator):
        rounding = OF_BFLOAT16

        def _infer(self, planes: Any, places: Any) -> list[Any]:
            value, *others = super()._infer(planes, places)
            return [np.clip(value + noise, -1.0, 1.0), *others]

    class Exact(Short):
        rounding = 0.0

    rise = FOLDER / "crazyhouse-rise.onnx"
    for kind in [Exact] if is_taken else [Exact, Short]:
        with pytest.raises(NetworkError, match=r"it gives the value .* for its canary"):
            kind(rise, threads=1)
    if is_taken:
        assert Short(rise, threads=1).variant == "crazyhouse"


ALONE = """
import multiprocessing, sys, threading
from anabranch.evaluators.resolve import resolve_evaluator
print(resolve_evaluator("openvino:chess-rise", threads=1).provider)
print([name for name in sys.modules if name.startswith("openvino_telemetry.")])
print(multiprocessing.active_children(), threading.active_count())
"""


def test_openvino_reports_nothing_to_anybody(tmp_path: Path) -> None:
    """Its telemetry would send a message from a forked process, and keep an identity in the home folder."""
    home = {**os.environ, "HOME": str(tmp_path)}
    home.pop("CI", None)
    done = subprocess.run([sys.executable, "-c", ALONE], env=home, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["CPU", "[]", "[] 1"]
    assert not (tmp_path / "intel").exists()


def test_a_gpu_that_is_not_there(make_network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    path = make_network()
    assert opened(path, provider="auto").provider == "cpu"
    with pytest.raises(EvaluatorError, match="has no provider 'cuda' here, only cpu"):
        opened(path, provider="cuda")


@pytest.mark.parametrize(
    ("runtime", "package", "extra"),
    [
        ("onnxruntime", "onnxruntime", "onnx"),
        ("onnxruntime", "onnx", "onnx"),
        ("openvino", "openvino", "openvino"),
    ],
)
def test_missing_packages_are_a_sentence(
    make_network: Any, monkeypatch: pytest.MonkeyPatch, runtime: str, package: str, extra: str
) -> None:
    path = make_network()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"needs the package {package}; .*'\.\[{extra}\]'"):
        open_network(path, runtime=runtime)


def test_a_missing_torch_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch.evaluators.pytorch import TorchEvaluator

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"torch.*'\.\[train\]'"):
        TorchEvaluator(object())


def test_the_rates_of_a_network(make_network: Callable[..., Path]) -> None:
    from anabranch.bench.runtime import measure_network

    measured = measure_network(opened(make_network()), batch_size=8, seconds=0.2)
    assert measured["evaluations_per_second_alone"] > 0
    assert measured["evaluations_per_second_in_search"] > 0
    assert measured["ratio"] > 0
    assert 0.5 < measured["batches_full"] <= 1.0
