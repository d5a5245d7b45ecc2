"""Networks for games on a grid: the core against NumPy, and what it refuses."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch import Engine, _core
from anabranch.errors import NetworkError, VariantError
from anabranch.networks import describe_network
from anabranch.networks.grid import GridInputs, grid_shapes, inputs_of, write_grid
from anabranch.networks.sparse import random_weights
from anabranch.selfplay.records import read_board

ABOUT = {"step": "3", "licence": "none"}
MOVES = {
    "connect-four": ["4", "4", "3", "5", "3"],
    "hex:size=5": ["c3", "b2", "d4"],
    "go:size=5": ["c3", "pass"],
    "othello:size=6": [],
    "breakthrough:width=5,height=6": [],
    "tic-tac-toe": ["b2"],
}


def write(path: Path, game: str, width: int = 64, seed: int = 1) -> tuple[GridInputs, dict[str, Any]]:
    inputs = inputs_of(game)
    tensors = random_weights(grid_shapes(inputs, width, width), seed)
    session = _core.Session(game, False, {"evaluator": "uniform"}, False)
    write_grid(path, inputs, tensors, ABOUT, [session.fen()])
    return inputs, tensors


def slow(inputs: GridInputs, tensors: dict[str, Any], text: str, places: list[int]) -> tuple[float, Any]:
    """The arithmetic of docs/networks.md."""
    cells, constants = read_board(text, inputs)
    rows, _, [bucket] = inputs.encode(cells[None], constants[None])

    def hidden(part: str) -> Any:
        sums = tensors[f"{part}.inputs.bias"].astype(int)
        sums = np.clip(sums + tensors[f"{part}.inputs.weight"][rows].astype(int).sum(0), 0, 128)
        return sums[: len(sums) // 2] * sums[len(sums) // 2 :] / 16384.0

    policy = tensors["policy.moves.weight"][places] + tensors["policy.contexts.weight"][0].astype(int)
    logits = policy @ hidden("policy") / 64.0 + tensors["policy.moves.bias"][places]
    logits += tensors["policy.contexts.bias"][0]
    units = tensors["value.hidden1.weight"][bucket] @ hidden("value") / 64.0
    for layer in ("hidden1", "hidden2", "output"):
        if layer != "hidden1":
            units = tensors[f"value.{layer}.weight"][bucket] @ units
        units = units + tensors[f"value.{layer}.bias"][bucket]
        if layer != "output":
            units = np.clip(units, 0.0, 1.0) ** 2
    chances = np.exp(units - units.max())
    chances /= chances.sum()
    return chances[0] - chances[2], logits


@pytest.mark.parametrize("game", MOVES)
def test_the_core_computes_what_the_document_says(game: str, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    inputs, tensors = write(path, game)
    network = _core.Network(path)
    session = _core.Session(game, False, {}, False, network)
    for move in ["", *MOVES[game]]:
        if move:
            session.play(move)
        value, chances, moves = network.evaluate([session.fen()])[0]
        places = dict(session.places())
        wanted, logits = slow(inputs, tensors, session.fen(), [places[name] for name, _ in moves])
        assert value == pytest.approx(wanted, abs=1e-5)
        assert sum(chances) == pytest.approx(1.0)
        assert [logit for _, logit in moves] == pytest.approx(logits, abs=1e-4)


def test_an_engine_searches_with_it_and_others_refuse_it(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    write(path, "hex:size=5")
    result = Engine("hex", size=5, evaluator=path).search(evaluations=50)
    assert result.statistics.evaluations == 50
    assert sum(result.moves[0].wdl or ()) == 1000
    for game in ("hex:size=6", "connect-four", "chess"):
        with pytest.raises(VariantError, match="hex:size=5"):
            Engine(game, evaluator=path)
    assert describe_network(path)["variant"] == "hex:size=5"


def edited(path: Path, edit: Any) -> None:
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    edit(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda header: header["__metadata__"].update(variant="connect-five"), "connect-five"),
        (lambda header: header["__metadata__"].update(variant="hex"), "inputs.patterns|features|shape"),
        (lambda header: header["__metadata__"].update(variant="chess"), "inputs is"),
        (lambda header: header["__metadata__"].update(cells="deep"), "cells"),
        (lambda header: header["__metadata__"].update(cells="plain"), "shape"),
        (lambda header: header["__metadata__"].update(sha256="0" * 64), "SHA-256"),
        (lambda header: header["inputs.patterns"].update(shape=[444]), "table of I16"),
    ],
)
def test_damage_is_refused(edit: Any, word: str, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    write(path, "connect-four", width=32)
    edited(path, edit)
    with pytest.raises(NetworkError, match=word):
        _core.Network(path)


def test_a_finished_game_cannot_be_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    write(path, "tic-tac-toe", width=32)
    with pytest.raises(ValueError, match="over"):
        _core.Network(path).evaluate(["xxx/oo./... o"])
