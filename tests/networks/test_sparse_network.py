"""The network of the core against the arithmetic in NumPy, in the search, and against damaged files."""

import json
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.networks.slow_sparse import evaluate
from tests.networks.test_sparse_inputs import mirrored, positions

from anabranch import Engine, _core
from anabranch.errors import EvaluatorError, NetworkError, PositionError, SettingError, VariantError
from anabranch.evaluators import Leaf
from anabranch.networks.sparse import FIXED, open_sparse, random_tensors, write_sparse

METADATA = {"step": "0", "licence": "CC0-1.0"}
CANARIES = {
    "chess": ["r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"],
    "crazyhouse": ["r2q1rk1/1pp3p1/1pnpp2p/4p3/1P2P3/2PP1N2/P4PPP/R2Q1RK1[BBNbbn] w - - 0 14"],
}
POSITIONS = {variant: fens[0] for variant, fens in CANARIES.items()}
WIDTHS = ((32, 32), (64, 160), (256, 32), (544, 256))


def write(path: Path, variant: str = "crazyhouse", policy: int = 32, value: int = 32, seed: int = 0) -> Path:
    tensors = random_tensors(variant, policy, value, seed)
    write_sparse(path, tensors, {"variant": variant, **METADATA}, CANARIES[variant])
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("networks") / "small.safetensors")


# Numbers


@pytest.mark.parametrize(("policy", "value"), WIDTHS)
@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_numbers_are_those_of_numpy(tmp_path: Path, variant: str, policy: int, value: int) -> None:
    path = tmp_path / "new.safetensors"
    tensors = random_tensors(variant, policy, value, seed=policy)
    write_sparse(path, tensors, {"variant": variant, **METADATA}, CANARIES[variant])
    network = open_sparse(path)
    boards = positions(variant, games=6, seed=policy)[::7]
    found = network.evaluate([board.fen(en_passant="fen") for board in boards])
    values = set()
    for board, (worth, chances, moves) in zip(boards, found, strict=True):
        expected_value, expected_chances, expected_logits = evaluate(tensors, board)
        assert worth == pytest.approx(expected_value, abs=1e-6)
        assert chances == pytest.approx(expected_chances, abs=1e-6)
        assert dict(moves) == {move: float(logit) for move, logit in expected_logits.items()}, board.fen()
        values.add(worth)
    assert len(values) > len(boards) / 2


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_extreme_weights_wrap_as_in_numpy(tmp_path: Path, variant: str) -> None:
    tensors = random_tensors(variant, 64, 64)
    source = np.random.default_rng(5)
    for name, array in tensors.items():
        if array.dtype == np.int8:
            tensors[name] = source.choice(np.array([-128, 127], np.int8), array.shape)
        elif array.dtype == np.int16:
            tensors[name] = source.choice(np.array([-16384, 16384], np.int16), array.shape)
    write_sparse(tmp_path / "n.safetensors", tensors, {"variant": variant, **METADATA}, CANARIES[variant])
    board = positions(variant, games=1)[20]
    value, _, moves = open_sparse(tmp_path / "n.safetensors").evaluate([board.fen(en_passant="fen")])[0]
    expected, _, logits = evaluate(tensors, board)
    assert value == pytest.approx(expected, abs=1e-6)
    assert dict(moves) == {move: float(logit) for move, logit in logits.items()}


@pytest.mark.parametrize("variant", ["chess", "crazyhouse"])
def test_colours_are_one(tmp_path: Path, variant: str) -> None:
    network = open_sparse(write(tmp_path / "n.safetensors", variant))
    boards = positions(variant, games=6)
    one = network.evaluate([board.fen(en_passant="fen") for board in boards])
    other = network.evaluate([mirrored(board).fen(en_passant="fen") for board in boards])
    ranks = str.maketrans("12345678", "87654321")
    for (value, chances, moves), (same_value, same_chances, same_moves) in zip(one, other, strict=True):
        assert (value, chances) == (same_value, same_chances)
        assert {move.translate(ranks): logit for move, logit in moves} == dict(same_moves)


def test_a_network_says_what_it_is(file: Path) -> None:
    network = _core.Network(file)
    assert network.variant == "crazyhouse"
    assert network.path == str(file)
    assert FIXED.items() <= network.metadata.items()
    assert network.metadata["licence"] == "CC0-1.0"
    assert "small.safetensors" in repr(network)
    with pytest.raises(PositionError):
        network.evaluate(["nonsense"])
    assert network.evaluate([]) == []


# In the search


class Outside:
    """The network behind the Python loop."""

    inputs = "positions"

    def __init__(self, network: _core.Network) -> None:
        self._network = network

    def evaluate(self, leaves: Sequence[Leaf]) -> tuple[Any, Any]:
        opinions = self._network.evaluate([leaf.fen for leaf in leaves])
        for leaf, (_, _, moves) in zip(leaves, opinions, strict=True):
            assert list(leaf.moves) == [move for move, _ in moves]
        return [value for value, _, _ in opinions], [
            [logit for _, logit in moves] for _, _, moves in opinions
        ]


@pytest.mark.parametrize(
    "settings", [{}, {"preset": "mcgs-combined"}, {"preset": "alphazero"}, {"batch_size": 5}], ids=str
)
@pytest.mark.parametrize(("variant", "policy", "value"), [("chess", 64, 64), ("crazyhouse", 96, 32)])
def test_both_loops_make_the_same_graph(
    tmp_path: Path, variant: str, policy: int, value: int, settings: dict[str, Any]
) -> None:
    """The core computes the halves of a network apart, the policy at the second visit of a leaf."""
    path = write(tmp_path / "n.safetensors", variant, policy, value)
    settings = {"width_visits": 64, "width_linear": 4, "c_init": 2.5, **settings}
    engines = [
        Engine(variant, evaluator=path, **settings),
        Engine(variant, evaluator=Outside(open_sparse(path)), **settings),  # type: ignore[arg-type]
        Engine(variant, evaluator=str(path), threads=2, **settings),
    ]
    for _ in range(2):
        results = [engine.search(POSITIONS[variant], simulations=400) for engine in engines]
        assert results[0].moves == results[1].moves == results[2].moves
        graphs = [engine.graph(nodes=100_000) for engine in engines]
        assert graphs[0] == graphs[1] == graphs[2]
        assert len(graphs[0].nodes) > 100
    assert engines[0].settings.evaluator == "network"


def test_the_network_decides(tmp_path: Path) -> None:
    path = write(tmp_path / "n.safetensors")
    engine = Engine("crazyhouse", evaluator=path)
    result = engine.search(POSITIONS["crazyhouse"], simulations=1)
    value, _, moves = open_sparse(path).evaluate([POSITIONS["crazyhouse"]])[0]
    assert result.value == pytest.approx(value, abs=1e-6)
    logits = np.array([logit for _, logit in moves])
    priors = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    expected = {move: prior for (move, _), prior in zip(moves, priors, strict=True)}
    listed = {row.move: row.prior for row in result.moves}
    assert listed
    for move, prior in listed.items():
        assert prior == pytest.approx(expected[move], abs=1e-3)


def test_contempt_reads_the_chance_of_a_draw(tmp_path: Path) -> None:
    path = write(tmp_path / "n.safetensors")
    _, (win, draw, loss), _ = open_sparse(path).evaluate([POSITIONS["crazyhouse"]])[0]
    assert draw > 0.01
    for contempt in (0.0, 0.4, -1.0):
        engine = Engine("crazyhouse", evaluator=path, contempt=contempt)
        engine.search(POSITIONS["crazyhouse"], simulations=1)
        assert engine.graph(visits=0).nodes[0].raw == pytest.approx(win - loss - contempt * draw, abs=1e-6)


def test_another_network_starts_another_graph(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1.safetensors", seed=1), write(tmp_path / "2.safetensors", seed=2)
    again = tmp_path / "again.safetensors"
    again.write_bytes(one.read_bytes())
    engine = Engine("crazyhouse", evaluator=one)
    engine.search(POSITIONS["crazyhouse"], simulations=300)
    engine.configure(c_init=3.0)
    engine.configure(evaluator=again)
    assert len(engine.graph().nodes) > 100
    engine.configure(evaluator=other)
    assert len(engine.graph(visits=0).nodes) <= 1
    fresh = Engine("crazyhouse", evaluator=other, c_init=3.0)
    assert (
        engine.search(simulations=200).moves == fresh.search(POSITIONS["crazyhouse"], simulations=200).moves
    )
    engine.configure(evaluator="material")
    assert engine.evaluator == "material"
    assert engine.search(simulations=100).statistics.root_visits <= 100


def test_saved_graphs_go_on_with_their_network_only(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1.safetensors", seed=1), write(tmp_path / "2.safetensors", seed=2)
    engine = Engine("crazyhouse", evaluator=one)
    engine.search(POSITIONS["crazyhouse"], simulations=300)
    path = tmp_path / "graph"
    engine.save(path)
    loaded = Engine.load(path, evaluator=one)
    assert loaded.graph() == engine.graph()
    assert loaded.search(simulations=300).moves == engine.search(simulations=300).moves
    alone = Engine.load(path)
    assert alone.result().statistics.root_visits > 250
    with pytest.raises(EvaluatorError, match="made with a network, which must be given again"):
        alone.search(simulations=10)
    alone.save(tmp_path / "copy")
    for copy in (path, tmp_path / "copy"):
        for stranger in (other, "material", Outside(open_sparse(one))):
            loaded = Engine.load(copy, evaluator=stranger)  # type: ignore[arg-type]
            assert loaded.search(simulations=100).statistics.root_visits <= 100
        assert Engine.load(copy, evaluator=one).search(simulations=1).statistics.root_visits > 250
    engine.configure(evaluator="material")
    engine.search(simulations=300)
    engine.save(path)
    assert Engine.load(path, evaluator=one).search(simulations=100).statistics.root_visits <= 100


def test_a_network_plays_its_variant_only(file: Path) -> None:
    with pytest.raises(VariantError, match="plays crazyhouse, and this session plays chess"):
        Engine("chess", evaluator=file)


def test_a_bad_file_leaves_the_engine_as_it_is(tmp_path: Path, file: Path) -> None:
    engine = Engine("crazyhouse", evaluator=file)
    engine.search(POSITIONS["crazyhouse"], simulations=200)
    before = engine.graph()
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(NetworkError):
        engine.configure(evaluator=bad, c_init=9.0)
    chess_file = write(tmp_path / "chess.safetensors", "chess")
    with pytest.raises(VariantError):
        engine.configure(evaluator=chess_file, c_init=9.0)
    with pytest.raises(SettingError):
        engine.configure(evaluator="stockfish", c_init=9.0)
    assert engine.graph() == before
    assert engine.settings.c_init != 9.0
    assert engine.search(simulations=100).statistics.root_visits > 250


# Files


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(NetworkError) as caught:
        _core.Network(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 300
    return sentence


def test_damaged_files_are_refused(tmp_path: Path, file: Path) -> None:
    path, content = tmp_path / "bad.safetensors", file.read_bytes()
    _, data = parts(content)
    assert "it is empty" in refusal(path, b"")
    assert "too short" in refusal(path, content[:5])
    assert "truncated" in refusal(path, content[:100])
    assert "truncated" in refusal(path, content[:-1])
    assert "bytes after the last tensor" in refusal(path, content + b"x")
    assert "cannot be used" in refusal(path, random.Random(1).randbytes(5000))
    assert "header claims" in refusal(path, struct.pack("<Q", 2**63) + content[8:])
    assert "no JSON" in refusal(path, struct.pack("<Q", 10) + b"[" * 10)
    assert "no JSON" in refusal(path, struct.pack("<Q", 200_000) + b"[" * 200_000)
    assert "no JSON object" in refusal(path, struct.pack("<Q", 2) + b"[]")
    assert "no metadata" in refusal(path, joined({}, b""))
    assert "pickle" in refusal(path, pickle.dumps({"policy.inputs.weight": [1]}, protocol=4))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps([1]))
    assert "pickle" in refusal(path, path.read_bytes())
    assert refusal(path, data)
    with pytest.raises(NetworkError, match=r"none\.safetensors cannot be read"):
        _core.Network(tmp_path / "none.safetensors")
    with pytest.raises(NetworkError, match="cannot be read"):
        _core.Network(tmp_path)


def test_a_flipped_bit_anywhere_in_the_weights_is_found(tmp_path: Path, file: Path) -> None:
    path, content = tmp_path / "bad.safetensors", file.read_bytes()
    begin = len(content) - len(parts(content)[1])
    source = random.Random(2)
    for place in [begin, len(content) - 1, *(source.randrange(begin, len(content)) for _ in range(20))]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << source.randrange(8)
        assert "SHA-256" in refusal(path, bytes(damaged))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("format", "pytorch", "format"),
        ("version", "2", "version"),
        ("inputs", "sparse-2", "inputs"),
        ("policy", "moves-2", "policy"),
        ("value", "scalar", "value"),
        ("architecture", "resnet", "architecture"),
        ("variant", "atomic", "variant"),
        ("variant", "chess", "shape"),
        ("sha256", "0" * 64, "SHA-256"),
        ("canaries", "{}", "canaries cannot be read"),
        ("canaries", "[", "canaries cannot be read"),
        ("canaries", "[]", "0 canaries"),
        ("canaries", '[{"fen": "x", "value": 0, "logits": {}}]', "a canary is no position"),
        ("canaries", '[{"fen": 1}]', "canaries cannot be read"),
        ("step", None, "step"),
        ("licence", None, "licence"),
        ("sha256", None, "sha256"),
        ("format", 3, "no text"),
    ],
)
def test_wrong_metadata_is_refused(tmp_path: Path, file: Path, name: str, text: Any, said: str) -> None:
    header, data = parts(file.read_bytes())
    header["__metadata__"][name] = text
    if text is None:
        del header["__metadata__"][name]
    assert said in refusal(tmp_path / "bad.safetensors", joined(header, data))


def test_canaries_are_compared(tmp_path: Path, file: Path) -> None:
    header, data = parts(file.read_bytes())
    texts = header["__metadata__"]
    right = json.loads(texts["canaries"])

    def changed(**changes: Any) -> bytes:
        texts["canaries"] = json.dumps([{**right[0], **changes}])
        return joined(header, data)

    path = tmp_path / "n.safetensors"
    value, logits = right[0]["value"], right[0]["logits"]
    path.write_bytes(changed(value=value + 0.00005))
    _core.Network(path)
    first = next(iter(logits))
    for wrong in (
        {"value": value + 0.0002},
        {"logits": {**logits, first: logits[first] + 0.0002}},
        {"logits": {move: logit for move, logit in logits.items() if move != first}},
        {"logits": {**logits, "e2e9": 0.0}},
    ):
        assert "canary" in refusal(path, changed(**wrong))


def test_wrong_tensors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.safetensors"
    right = random_tensors("crazyhouse", 32, 32)
    metadata = {"variant": "crazyhouse", **METADATA}

    def said(**changes: Any) -> str:
        tensors = {**right, **{name.replace("__", "."): array for name, array in changes.items()}}
        tensors = {name: array for name, array in tensors.items() if array is not None}
        with pytest.raises(NetworkError) as caught:
            write_sparse(path, tensors, metadata, CANARIES["crazyhouse"])
        assert not list(tmp_path.iterdir())
        return str(caught.value)

    assert "no tensor" in said(value__output__bias=None)
    assert "which networks do not have" in said(extra=np.zeros(3, np.float32))
    assert "type I16 instead of I8" in said(policy__inputs__weight=np.zeros((3549, 32), np.int16))
    assert "shape" in said(policy__inputs__weight=np.zeros((3548, 32), np.int8))
    assert "shape" in said(policy__moves__weight=np.zeros((5184, 32), np.int8))
    assert "width P is 48" in said(policy__inputs__bias=np.zeros(48, np.int16))
    assert "width V is 0" in said(value__inputs__bias=np.zeros(0, np.int16))
    assert "width V is 8192" in said(value__inputs__bias=np.zeros(8192, np.int16))
    assert "out of range" in said(value__inputs__bias=np.full(32, 16385, np.int16))
    for number in (np.nan, np.inf, -np.inf, 1e30):
        assert "out of range" in said(value__output__bias=np.full((8, 3), number, np.float32))
    assert "float64" in said(value__output__bias=np.zeros((8, 3)))
    with pytest.raises(NetworkError, match="at least one canary"):
        write_sparse(path, right, metadata, [])
    with pytest.raises(NetworkError, match="variant"):
        write_sparse(path, right, METADATA, CANARIES["crazyhouse"])
    with pytest.raises(NetworkError, match="cannot be written"):
        write_sparse(tmp_path / "none" / "n.safetensors", right, metadata, CANARIES["crazyhouse"])


def test_absurd_shapes_and_offsets_are_refused(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "bad.safetensors"
    for entry in (
        {"shape": [2**63, 2**63], "dtype": "I8", "data_offsets": [0, 10]},
        {"shape": [2**70], "dtype": "I8", "data_offsets": [0, 10]},
        {"shape": [-1], "dtype": "I8", "data_offsets": [0, 10]},
        {"shape": [10], "dtype": "I8", "data_offsets": [10, 0]},
        {"shape": [10], "dtype": "I8", "data_offsets": [0, 2**62]},
        {"shape": [10], "dtype": "I8", "data_offsets": [0]},
        {"shape": [10], "dtype": "Q9", "data_offsets": [0, 10]},
        {"shape": "10", "dtype": "I8", "data_offsets": [0, 10]},
        7,
        None,
    ):
        header, data = parts(file.read_bytes())
        header["value.inputs.weight"] = entry
        refusal(path, joined(header, data))
    header, data = parts(file.read_bytes())
    one, other = header["value.inputs.weight"], header["policy.inputs.weight"]
    other["data_offsets"] = one["data_offsets"]
    assert "overlap" in refusal(path, joined(header, data))


def test_no_damage_of_the_header_is_fatal(tmp_path: Path, file: Path) -> None:
    """Every byte of the header is flipped once: the file is refused with a sentence, or read in full."""
    content = file.read_bytes()
    begin = len(content) - len(parts(content)[1])
    source = random.Random(4)
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    refused = 0
    with path.open("r+b", buffering=0) as damaged:
        for place in range(begin):
            os.pwrite(damaged.fileno(), bytes([content[place] ^ 1 << source.randrange(8)]), place)
            try:
                _core.Network(path)
            except NetworkError:
                refused += 1
            os.pwrite(damaged.fileno(), content[place : place + 1], place)
    assert refused > begin / 2
    for length in [*range(0, 200), *(source.randrange(len(content)) for _ in range(100))]:
        refusal(path, content[:length])


def test_other_software_reads_the_file(file: Path) -> None:
    tensors = load_file(file)
    for name, array in random_tensors("crazyhouse", 32, 32).items():
        np.testing.assert_array_equal(tensors[name], array)


def test_chess960_castles(tmp_path: Path) -> None:
    engine = Engine("chess", chess960=True, evaluator=write(tmp_path / "n.safetensors", "chess"))
    result = engine.search(chess.Board.from_chess960_pos(77).fen(), simulations=200)
    assert result.statistics.evaluations > 50
