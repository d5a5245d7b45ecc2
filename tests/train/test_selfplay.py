"""The loop of self-play from end to end, with learning."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anabranch import Engine
from anabranch.cli import run as run_command
from anabranch.errors import MatchError, SelfPlayError, TrainingError, VariantError
from anabranch.examples import ConnectFour
from anabranch.jobs.executor import Processes
from anabranch.networks import describe_network
from anabranch.networks.grid import inputs_of, write_grid
from anabranch.rows import RowsAdapter
from anabranch.selfplay import loop
from anabranch.selfplay.folder import RunFolder, read_run
from anabranch.selfplay.plan import LoopPlan, plan_of
from anabranch.selfplay.records import GridSamples, read_board

from .conftest import Shards

TINY: dict[str, Any] = {
    "games": 48, "evaluations": 12, "last_evaluations": 12, "batch": 64, "least_steps": 20, "gate_pairs": 3,
    "gate_evaluations": 8, "outsider_pairs": 1, "policy_width": 32, "value_width": 32,
    "channels": 8, "blocks": 1,
}  # fmt: skip


def silent(_: str) -> None:
    """Say nothing."""


def tiny_run(path: Path, plan: LoopPlan, generations: int) -> RunFolder:
    return loop.run(path, plan, loop.Limit(generations=generations), Processes(0), silent)


def outcome(path: Path) -> list[Any]:
    """All that a run did, but for times."""
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    records = [record for record in lines if record["what"] != "time"]
    for record in records:
        for name in ("seconds", "elapsed"):
            record["done"].pop(name, None)
    return sorted(records, key=json.dumps)


@pytest.mark.parametrize("there", ["positions/0001/0000.npz", "networks/0001", "matches/0001"])
def test_a_killed_run_ends_with_the_same_networks(there: str, tmp_path: Path) -> None:
    """Killed among the games of the second generation, while it learns, and in its gate."""
    plan = plan_of("tic-tac-toe", **TINY)
    tiny_run(tmp_path / "whole", plan, 3)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    command = ["selfplay", "run", "--game=tic-tac-toe", "--generations=3", "--workers=1", *options]
    killed = tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-m", "anabranch", *command, "--out", str(killed)], stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if (killed / there).exists():
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    half = outcome(killed)
    assert 5 <= len(half) < len(outcome(tmp_path / "whole"))
    # Killed while a record was written, and while a network was.
    with (killed / "journal.jsonl").open("a") as file:
        file.write('{"what": "play", "gener')
    stopped = read_run(killed)
    if not stopped.records("learn", 1):
        folder = stopped.network_folder(1)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "weights.pt").write_bytes(b"half")
    tiny_run(killed, plan, 3)
    assert outcome(killed) == outcome(tmp_path / "whole")
    networks = [path / "networks" / "0002" / "network.safetensors" for path in (killed, tmp_path / "whole")]
    assert networks[0].read_bytes() == networks[1].read_bytes()


def test_the_loop_learns_tic_tac_toe(tmp_path: Path) -> None:
    """After a few generations the network alone sees what wins."""
    plan = plan_of("tic-tac-toe", **{**TINY, "games": 96, "least_steps": 150, "evaluations": 24})
    folder = tiny_run(tmp_path, plan.changed(last_evaluations=24), 3)
    best = folder.best
    assert best is not None
    file = folder.network_file(best)
    engine = Engine("tic-tac-toe", evaluator=file)
    network: Any = engine.evaluator
    (won, _, moves), (lost, _, _) = network.evaluate(["xx./oo./... x", "xx./oo./..x o"])
    assert won > 0.5
    assert max(moves, key=lambda one: one[1])[0] == "c1"
    assert lost > 0.0, "o completes its row"
    assert describe_network(file)["variant"] == "tic-tac-toe"
    with pytest.raises(VariantError, match="tic-tac-toe"):
        Engine("connect-four", evaluator=file)


def test_a_convolutional_network_goes_through_onnx(tmp_path: Path) -> None:
    plan = plan_of("connect-four", **{**TINY, "games": 16, "network": "conv", "outsider_pairs": 0})
    folder = tiny_run(tmp_path, plan.changed(evaluations=8, last_evaluations=8, longest=6), 2)
    file = folder.network_file(1)
    engine = Engine("connect-four", evaluator=file)
    assert engine.search(evaluations=20).statistics.evaluations == 20
    evaluator: Any = engine.evaluator
    inputs = inputs_of("connect-four")
    cells, constants = read_board("......./......./......./......./...o.../..xx... o", inputs)
    from anabranch.train.grid import planes_of

    values, logits = evaluator.evaluate(planes_of(inputs, cells[None], constants[None]))
    assert values.shape == (1,)
    assert logits.shape == (1, 7)
    assert np.abs(values).max() <= 1.0
    with pytest.raises(VariantError, match="connect-four"):
        Engine("othello", evaluator=file)


def test_a_run_begins_from_a_network(tmp_path: Path) -> None:
    """Its weights are those of the file, up to nothing: exported again, the file is the same."""
    from anabranch.train.export import quantise
    from anabranch.train.grid import GridSparse, build_grid, load_grid

    inputs = inputs_of("tic-tac-toe")
    first, second = (build_grid(inputs, "sparse", seed, policy_width=32, value_width=64) for seed in (1, 2))
    assert isinstance(first, GridSparse)
    assert isinstance(second, GridSparse)
    file = tmp_path / "net.safetensors"
    write_grid(file, inputs, quantise(first), {"step": "0", "licence": "none"}, [".../.../... x"])
    load_grid(second, file)
    for name, tensor in quantise(first).items():
        assert np.array_equal(quantise(second)[name], tensor), name
    plan = plan_of("tic-tac-toe", **{**TINY, "value_width": 64}, initial=str(file))
    folder = tiny_run(tmp_path / "run", plan, 1)
    assert folder.records("gate", 0)[("gate", 0, "")]["against"] is not None
    with pytest.raises(TrainingError, match="wider than the network"):
        load_grid(build_grid(inputs, "sparse", 1, policy_width=32, value_width=32), file)


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "run", tmp_path / "curves.png"
    options = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    begin = ["selfplay", "run", "--game", "hex:size=3", "--out", str(out), "--workers", "0", *options]
    assert run_command([*begin, "--generations", "1"]) == 0
    assert "generation 0" in capsys.readouterr().out
    assert run_command(["selfplay", "run", "--out", str(out), "--generations", "2", "--workers", "0"]) == 0
    assert run_command(["selfplay", "status", str(out), "--plot", str(picture)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in table if line.strip()[0].isdigit()][-2:] == ["0", "1"]
    assert picture.stat().st_size > 10_000
    assert run_command(["selfplay", "status", str(out), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["generations"]) == 2
    assert run_command([*begin, "--generations", "2", "--seed", "9"]) == 2
    assert "its plan seed was 1, now is 9" in capsys.readouterr().err
    tree = [*begin[:5], str(tmp_path / "tree"), *begin[6:], "--backup", "tree", "--generations", "1"]
    assert run_command(tree) == 0
    compare = ["selfplay", "compare", "--first", str(out), "--second", str(tmp_path / "tree"), "--json"]
    compare += ["--out", str(tmp_path / "compared"), "--pairs", "2", "--workers", "0"]
    capsys.readouterr()
    assert run_command(compare) == 0
    shown = capsys.readouterr()
    assert "backup: recompute against tree" in shown.err
    [row] = json.loads(shown.out)
    assert (row["generation"], sum(row["counts"])) == (0, 2), "only what both have learned"
    assert run_command([*compare, "--first", str(out)]) == 2
    assert "as many runs" in capsys.readouterr().err


def test_a_run_ends_with_its_time_and_goes_on(tmp_path: Path) -> None:
    plan = plan_of("tic-tac-toe", **TINY)
    folder = loop.run(tmp_path, plan, loop.Limit(minutes=1e-6), Processes(0), silent)
    assert folder.best is None
    with pytest.raises(SelfPlayError, match="needs an end"):
        loop.run(tmp_path, plan, loop.Limit(), Processes(0), silent)
    assert tiny_run(tmp_path, plan, 1).best == 0
    assert os.listdir(tmp_path / "networks") == ["0000"]


@pytest.mark.parametrize(("game", "exact"), [("go:size=5", False), ("hex:size=5", True)])
def test_a_proof_in_go_holds_for_its_history_alone(game: str, exact: bool) -> None:
    from anabranch.selfplay.learn_grid import GridLearner
    from anabranch.selfplay.records import GridWriter

    writer = GridWriter(inputs_of(game))
    for value in (1.0, -1.0):
        writer.add_exact("x..../...../...../...../..... o", value)
    plan = plan_of(game, policy_width=32, value_width=32)
    assert GridLearner(plan).merged(writer.samples()).exact.tolist() == [exact]


def test_the_bundled_network_is_taken_whole() -> None:
    from safetensors.numpy import load_file

    from anabranch.networks.shipped import bundled
    from anabranch.train.export import quantise
    from anabranch.train.sparse import SparseNetwork, load_sparse

    file = bundled("crazyhouse")
    assert file is not None
    plan = plan_of("crazyhouse", initial="network")
    network = SparseNetwork("crazyhouse", plan.policy_width, plan.value_width)
    load_sparse(network, file)
    found = quantise(network)
    for name, tensor in load_file(file).items():
        assert np.array_equal(found[name], tensor), name
    with pytest.raises(TrainingError, match="not a network for chess"):
        load_sparse(SparseNetwork("chess", 32, 32), file)
    with pytest.raises(TrainingError, match="wider than the network"):
        load_sparse(SparseNetwork("crazyhouse", 32, 32), file)


def test_crazyhouse_beside_a_teacher_goes_on_exactly(tmp_path: Path, shards: Shards) -> None:
    data = shards()
    plan = plan_of(
        "crazyhouse", **{**TINY, "games": 8, "evaluations": 6, "last_evaluations": 6, "longest": 24},
        full_share=0.5, data=(str(data),), data_share=0.25,
    )  # fmt: skip
    whole = tiny_run(tmp_path / "whole", plan, 2)
    half = tiny_run(tmp_path / "half", plan, 1)
    # New shards are not for a run that has begun, and what the journal does not have is done again.
    shards(games=3, files=3)
    journal = tmp_path / "half" / "journal.jsonl"
    kept = [line for line in journal.read_text().splitlines(keepends=True) if '"what": "play"' in line]
    first = journal.read_text().splitlines(keepends=True)[0]
    assert '"begin"' in first
    journal.write_text("".join([first, *kept]))
    assert tiny_run(tmp_path / "half", plan, 2).path == half.path
    assert outcome(tmp_path / "half") == outcome(tmp_path / "whole")
    files = [folder.network_file(1) for folder in (whole, half)]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert describe_network(files[0])["variant"] == "crazyhouse"
    assert Engine("crazyhouse", evaluator=files[0]).search(evaluations=20).statistics.evaluations == 20
    learned = whole.records("learn", 1)["learn", 1, ""]
    assert 0.0 < learned["value_loss"] < 3.0


def test_a_run_that_began_from_another_network_is_refused(tmp_path: Path) -> None:
    from anabranch.networks.sparse import random_tensors, write_sparse

    file = tmp_path / "net.safetensors"
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

    def write(seed: int) -> None:
        about = {"variant": "chess", "step": "0", "licence": "none"}
        write_sparse(file, random_tensors("chess", 32, 32, seed), about, [fen])

    write(1)
    plan = plan_of("chess", **{**TINY, "games": 2, "longest": 6, "batch": 8}, initial=str(file))
    loop.run(tmp_path / "run", plan, loop.Limit(minutes=1e-6), Processes(0), silent)
    write(2)
    with pytest.raises(SelfPlayError, match="not the one that the run began with"):
        tiny_run(tmp_path / "run", plan, 1)


def test_targets_of_chess_as_training_has_them() -> None:
    from anabranch.selfplay.chess_records import ChessWriter
    from anabranch.selfplay.learn_chess import mixed, positions_of

    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    writer = ChessWriter()
    writer.add(start, ["e2e4", "d2d4"], [0.75, 0.25], 0.5, False, 1.0)
    writer.add(start, ["e2e4"], [1.0], 1.0, True, 1.0)
    writer.end_game(1.0)
    writer.add_exact(start, 0.0)
    positions = positions_of(writer.samples(), 0.2)
    assert positions.moves.to_pylist() == [["e2e4", "d2d4"], ["e2e4"], []]
    assert positions.wdl.sum(1) == pytest.approx([1.0, 1.0, 1.0])
    values = positions.wdl[:, 0] - positions.wdl[:, 2]
    assert values == pytest.approx([0.8 * 0.5 + 0.2, 1.0, 0.0])
    assert positions.wdl[2].tolist() == [0.0, 1.0, 0.0], "a proven draw"
    together, weights = mixed(positions, np.ones(3), positions.take(np.array([0])), 0.25)
    assert len(together) == 4
    assert weights == pytest.approx([0.25, 0.25, 0.25, 0.25])


def test_an_outsider_that_does_not_exist_is_refused_before_a_game_is_played(tmp_path: Path) -> None:
    plan = plan_of("tic-tac-toe", **TINY, outsiders=("rolout",))
    with pytest.raises(MatchError, match=r"player outsider: .*rolout"):
        tiny_run(tmp_path, plan, 1)
    corrected = plan.changed(outsiders=("uniform",))
    assert loop.play_only(tmp_path, corrected, "rollout", Processes(0), silent).records("play", 0)


@pytest.mark.parametrize("network", ["sparse", "conv"])
def test_a_game_written_in_python_learns_by_its_features(tmp_path: Path, network: str) -> None:
    """Its network is an ONNX file that plays the game, by name and as an object, and no other game."""
    game = "anabranch.examples:ConnectFour"
    sizes = {"games": 6, "evaluations": 8, "last_evaluations": 8, "gate_pairs": 1, "outsider_pairs": 0}
    folder = tiny_run(tmp_path / "run", plan_of(game, network=network, **{**TINY, **sizes}), 2)
    first, second = (record["policy_loss"] for record in folder.records("learn").values())
    assert second < first
    file = folder.network_file(1)
    assert file.name == "network.onnx"
    moves = [
        Engine(game=given, evaluator=file, seed=1).search(simulations=30).moves
        for given in (game, ConnectFour())
    ]
    assert moves[0] == moves[1]
    with pytest.raises(VariantError, match=r"is for anabranch\.examples"):
        Engine("connect-four", evaluator=file)
    assert describe_network(file)["variant"] == "anabranch.examples.connect_four:ConnectFour"


class Ring:
    """Three cells in a ring; turning it is a symmetry that is not its own inverse."""

    actions = 3

    def first(self) -> Any:
        return np.zeros(3, np.uint8)

    def play(self, states: Any, actions: Any) -> Any:
        return states

    def legal(self, states: Any) -> Any:
        return states != 9

    def outcome(self, states: Any) -> Any:
        return np.full(len(states), np.nan)

    def player(self, states: Any) -> Any:
        return np.zeros(len(states), np.uint8)

    def symmetries(self, states: Any) -> list[tuple[Any, Any]]:
        return [(np.roll(states, turn, axis=1), (np.arange(3) + turn) % 3) for turn in (1, 2)]


def test_the_policy_turns_with_the_state() -> None:
    """The policy of a symmetric form is on the cells that it was on before; equal ones are merged."""
    from anabranch.selfplay.learn_rows import canonical_rows
    from anabranch.selfplay.window import merged

    states = np.array([[5, 1, 3], [3, 5, 1], [1, 3, 5], [5, 3, 1]], np.uint8)
    policy = np.where(states == 5, 0.75, np.where(states == 3, 0.25, 0.0)).astype(np.float32)
    legal, number = states != 1, len(states)
    zeros, no = np.zeros(number, np.float32), np.zeros(number, bool)
    samples = GridSamples(
        states, np.zeros((number, 0), np.uint8), legal, policy, zeros, zeros, zeros, no, zeros + 1, ~no
    )
    turned = canonical_rows(samples, RowsAdapter(Ring()))
    assert turned.cells.tolist() == [[1, 3, 5], [1, 3, 5], [1, 3, 5], [1, 5, 3]]
    assert (turned.policy[turned.cells == 5] == 0.75).all()
    assert (turned.policy[turned.cells == 3] == 0.25).all()
    assert np.array_equal(turned.legal, turned.cells != 1)
    assert len(merged(turned)) == 2
