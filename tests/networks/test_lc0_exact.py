"""Lc0's networks, number by number: planes, places of moves, logits and values as Lc0 has them."""

import importlib.util
from pathlib import Path

import chess
import numpy as np
import pytest
from tests.support.lc0_oracle import Expected, Oracle
from tests.support.lc0_positions import CHESS960, kinds, samples
from tests.support.lc0_writer import Writer

from anabranch import Engine
from anabranch.evaluators.onnx_network import OnnxNetwork
from anabranch.evaluators.onnx_runtime import OnnxEvaluator
from anabranch.evaluators.open import open_network
from anabranch.networks.lc0_convert import convert_by_program
from anabranch.networks.lc0_file import read_lc0
from anabranch.networks.onnx_file import read_onnx
from anabranch.networks.planes import encode

FOLDER = Path(__file__).parents[1] / "data" / "lc0"
NETWORK = FOLDER / "tinygyal-8.pb.gz"
WITHIN = 1e-3
HAS_LC0 = importlib.util.find_spec("lczero") is not None


def opened(path: Path) -> OnnxNetwork:
    network = open_network(path, threads=1)
    assert isinstance(network, OnnxNetwork)
    return network


@pytest.fixture(scope="module")
def recorded() -> tuple[list[tuple[str | None, list[str]]], list[Expected]]:
    """Positions, and what Lc0 had for them."""
    with np.load(FOLDER / "expected.npz") as file:
        stored = {name: file[name] for name in file.files}
    given = [
        (str(start) or None, str(moves).split())
        for start, moves in zip(stored["starts"], stored["moves"], strict=True)
    ]
    ends = np.cumsum(stored["counts"])[:-1]
    rows = zip(
        stored["masks"],
        stored["numbers"],
        np.split(stored["places"].astype(np.int64), ends),
        np.split(stored["logits"], ends),
        stored["values"],
        strict=True,
    )
    return given, [Expected(*row, draw=0.0, moves_left=0.0) for row in rows]


def compare(
    network: OnnxNetwork,
    given: list[tuple[str | None, list[str]]],
    expected: list[Expected],
    *,
    chess960: bool = False,
) -> None:
    """Planes and places are equal, logits and values within a thousandth."""
    positions = [(start or "startpos", moves) for start, moves in given]
    planes, moves = encode(positions, "chess", "lc0", chess960=chess960)
    values, logits = network.evaluate(planes)
    chances, moves_left = network.outlook(planes)
    for number, row in enumerate(expected):
        assert np.array_equal(planes[number], row.planes), given[number]
        places = sorted(moves[number].values())
        assert places == row.places.tolist(), given[number]
        assert np.abs(logits[number, places] - row.logits).max() < WITHIN, given[number]
        assert abs(values[number] - row.value) < WITHIN, given[number]
        if chances is not None:
            assert abs(chances[number, 1] - row.draw) < WITHIN
        if moves_left is not None:
            assert abs(moves_left[number] - row.moves_left) < WITHIN * max(1.0, row.moves_left)


def test_500_positions_as_lc0_recorded_them(
    recorded: tuple[list[tuple[str | None, list[str]]], list[Expected]],
) -> None:
    given, expected = recorded
    assert len(given) == 500
    assert min(kinds(given).values()) >= 10
    assert {len(moves) for _, moves in given} >= set(range(9))
    compare(opened(NETWORK), given, expected)


def test_a_search_fills_the_planes_of_its_leaves_with_their_history() -> None:
    """Every leaf of a search after a game has the planes of its line, which is found by its moves."""
    network = opened(NETWORK)
    seen: list[np.ndarray] = []

    class Recorder:
        planes, variant = "lc0", "chess"

        def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            seen.extend(planes.copy())
            return network.evaluate(planes)

    played = "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 g1f3 b8c6"
    engine = Engine(evaluator=Recorder(), batch_size=1, threads=1)
    engine.search(f"startpos moves {played}", evaluations=40)
    lines = [""]
    for _ in range(3):  # the lines of the graph, by breadth
        lines += [
            f"{line} {move}"
            for line in lines
            for move in _moves_after(f"{played} {line}")
            if f"{line} {move}" not in lines
        ][:2000]
    positions = [f"startpos moves {played}{line}" for line in lines]
    known = {planes.tobytes() for planes in encode(positions, "chess", "lc0").planes}
    shallow = [planes for planes in seen[:12] if planes.tobytes() in known]
    assert len(shallow) >= 8
    assert seen[0].tobytes() == encode([positions[0]], "chess", "lc0").planes[0].tobytes()


def _moves_after(moves: str) -> list[str]:
    board = chess.Board()
    for move in moves.split():
        board.push_uci(move)
    return [move.uci() for move in board.legal_moves]


if HAS_LC0:  # the extra `dev` brings it where it is built for the system
    KINDS: list[dict[str, object]] = [
        {"policy": "classical", "value": "classical", "squeeze": False},
        {"policy": "convolution", "value": "wdl", "moves_left": True},
        {"policy": "classical", "value": "wdl", "moves_left": True, "mish": True},
    ]

    @pytest.mark.parametrize("kind", KINDS, ids=["classical", "moves left", "mish"])
    def test_heads_of_all_kinds_as_lc0_has_them_now(kind: dict[str, object], tmp_path: Path) -> None:
        path = Writer(7).write(tmp_path / "net.pb.gz", **kind)
        oracle, given = Oracle(path), samples(40, seed=5)
        network = opened(path)
        assert (network.file.places.moves_left is not None) == bool(kind.get("moves_left"))
        compare(network, given, [oracle.evaluate(sample) for sample in given])

    def test_a_policy_by_attention_is_converted_by_lc0(tmp_path: Path) -> None:
        path = Writer(3).write(tmp_path / "net.pb.gz", policy="attention", filters=32, blocks=1)
        oracle, given = Oracle(path), samples(30, seed=6)
        compare(opened(path), given, [oracle.evaluate(sample) for sample in given])

    def test_an_onnx_file_of_lc0_is_taken_as_it_is(tmp_path: Path) -> None:
        written = tmp_path / "lc0.onnx"
        written.write_bytes(convert_by_program(read_lc0(NETWORK)))
        assert read_onnx(written).metadata.inputs == "lc0"
        planes, _ = encode(["startpos moves e2e4", "startpos"], "chess", "lc0")
        ours, theirs = opened(NETWORK).evaluate(planes), OnnxEvaluator(written, threads=1).evaluate(planes)
        for own, other in zip(ours, theirs, strict=True):
            assert np.abs(own - other).max() < WITHIN

    def test_chess960_by_the_rules_of_lc0() -> None:
        given: list[tuple[str | None, list[str]]] = [
            (CHESS960, []),
            (CHESS960, ["b2b3", "g7g6", "h1g3"]),
            ("1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 4 9", []),
            ("1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 b GBgb - 4 9", []),
        ]
        oracle = Oracle(NETWORK)
        compare(opened(NETWORK), given, [oracle.evaluate(sample) for sample in given], chess960=True)
