"""Runs that end early and go on, by kindness and by force."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.numpy import load_file

from anabranch.data.shards import list_shards, read_shard
from anabranch.errors import DataError, TrainingError
from anabranch.jobs.executor import Processes
from anabranch.networks.sparse import open_sparse
from anabranch.train.checkpoint import find_checkpoints, read_checkpoint
from anabranch.train.export import export_network
from anabranch.train.journal import EVENTS
from anabranch.train.loop import RunOutcome, TrainingJob, rate_at, resume, start, train_on
from anabranch.train.options import RunOptions
from anabranch.train.recipe import Recipe

from .conftest import Shards

RECIPE = Recipe(variant="crazyhouse", policy_width=32, value_width=32, steps=30, batch=64, held_out=0.2)
OPTIONS = RunOptions(threads=2, report_every=5, validate_every=10, validation=100)


def run(data: Path, out: Path, recipe: Recipe = RECIPE, options: RunOptions = OPTIONS) -> RunOutcome:
    return start(recipe, list_shards([data]), None, out, options, lambda sentence: None)


def weights(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = read_checkpoint(path)
    return content


def assert_equal(left: Any, right: Any) -> None:
    if isinstance(left, torch.Tensor):
        assert torch.equal(left, right)
    elif isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            assert_equal(left[name], right[name])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_equal(one, other)
    else:
        assert left == right


@pytest.mark.parametrize("network", ["sparse", "resnet"])
def test_resumed_run_equals_unbroken_run(shards: Shards, tmp_path: Path, network: str) -> None:
    recipe = RECIPE.changed(network=network, channels=8, blocks=1)
    data = shards()
    unbroken = run(data, tmp_path / "unbroken", recipe)
    first = run(data, tmp_path / "broken", recipe, RunOptions(threads=2, stop_at=13))
    assert (first.step, first.is_finished) == (13, False)
    second = resume(tmp_path / "broken", RunOptions(threads=2, stop_at=21), lambda sentence: None)
    assert second.step == 21
    last = resume(tmp_path / "broken", OPTIONS, lambda sentence: None)
    assert (last.step, last.is_finished) == (30, True)
    assert_equal(weights(unbroken.checkpoint), weights(last.checkpoint))


def test_a_run_begins_with_the_weights_of_another(shards: Shards, tmp_path: Path) -> None:
    data = list_shards([shards()])
    first = run(shards(), tmp_path / "first", RECIPE.changed(steps=2))
    still = RECIPE.changed(steps=1, rate=1e-30, decay=0.0)
    second = start(still, data, None, tmp_path / "second", OPTIONS, print, initial=tmp_path / "first")
    before, after = (weights(outcome.checkpoint)["network"] for outcome in (first, second))
    assert all(torch.allclose(before[name], after[name], atol=1e-9) for name in before)
    wider = still.changed(value_width=64)
    with pytest.raises(TrainingError, match="not of a network like the new one"):
        start(wider, data, None, tmp_path / "third", OPTIONS, print, initial=first.checkpoint)


@pytest.mark.parametrize(("policy", "value"), [(32, 32), (0, 32), (32, 0)])
def test_a_run_begins_with_the_weights_of_a_network_file(
    shards: Shards, tmp_path: Path, policy: int, value: int
) -> None:
    data = list_shards([shards()])
    run(shards(), tmp_path / "first", RECIPE.changed(steps=2))
    file = tmp_path / "net.safetensors"
    export_network(tmp_path / "first", file, None, "GPL-3.0-or-later", None, print)
    still = RECIPE.changed(steps=1, rate=1e-30, decay=0.0, policy_width=policy, value_width=value)
    start(still, data, None, tmp_path / "second", OPTIONS, print, initial=file)
    again = tmp_path / "again.safetensors"
    export_network(tmp_path / "second", again, None, "GPL-3.0-or-later", None, print)
    before, after = load_file(file), load_file(again)
    kept = tuple(name for name, width in (("policy.", policy), ("value.", value)) if width)
    names = [name for name in before if name.startswith(kept)]
    assert names
    assert all((before[name] == after[name]).all() for name in names)
    resnet = still.changed(network="resnet", channels=8, blocks=1)
    with pytest.raises(TrainingError, match="the new one is not"):
        start(resnet, data, None, tmp_path / "third", OPTIONS, print, initial=file)


def test_a_wider_network_begins_as_the_network_of_a_file(shards: Shards, tmp_path: Path) -> None:
    data = list_shards([shards()])
    file, wide = tmp_path / "net.safetensors", tmp_path / "wide.safetensors"
    run(shards(), tmp_path / "first", RECIPE.changed(steps=2))
    export_network(tmp_path / "first", file, None, "GPL-3.0-or-later", None, print)
    still = RECIPE.changed(steps=1, rate=1e-30, decay=0.0)
    wider = still.changed(policy_width=96, value_width=64)
    start(wider, data, None, tmp_path / "second", OPTIONS, print, initial=file)
    export_network(tmp_path / "second", wide, None, "GPL-3.0-or-later", None, print)
    added = load_file(wide)["value.inputs.weight"][:, [16, 31, 48, 63]]
    assert all(added.any(axis=0)), "new units have inputs to learn with"
    fens = [row["fen"] for shard in data for row in read_shard(shard).to_pylist()]
    assert open_sparse(wide).evaluate(fens) == open_sparse(file).evaluate(fens)
    with pytest.raises(TrainingError, match="wider than the network"):
        start(still, data, None, tmp_path / "third", OPTIONS, print, initial=wide)


def test_a_half_that_a_file_lacks_is_nothing_to_begin_with(shards: Shards, tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    run(shards(), tmp_path / "first", RECIPE.changed(steps=2, value_width=0))
    export_network(tmp_path / "first", file, None, "GPL-3.0-or-later", None, print)
    with pytest.raises(TrainingError, match="has no value"):
        start(RECIPE, list_shards([shards()]), None, tmp_path / "second", OPTIONS, print, initial=file)


def test_a_run_goes_on_when_its_worker_dies(shards: Shards, tmp_path: Path) -> None:
    data, out = shards(), tmp_path / "killed"
    killed: list[int] = []

    def kill_after_a_checkpoint() -> None:
        while not (out.is_dir() and find_checkpoints(out)):
            time.sleep(0.02)
        for worker in active_children():
            worker.kill()
            killed.append(1)

    threading.Thread(target=kill_after_a_checkpoint, daemon=True).start()
    recipe = RECIPE.changed(steps=60)
    options = RunOptions(threads=2, checkpoint_every=0.0)
    outcome = train_on(Processes(1), TrainingJob(out, options, recipe, (data,)))
    assert killed
    assert outcome.is_finished
    unbroken = run(data, tmp_path / "unbroken", recipe)
    assert_equal(weights(unbroken.checkpoint)["network"], weights(outcome.checkpoint)["network"])
    with pytest.raises(TrainingError, match="already a run"):
        train_on(Processes(1), TrainingJob(out, options, recipe, (data,)))


def test_run_learns_and_leaves_its_journal(shards: Shards, tmp_path: Path) -> None:
    outcome = run(shards(), tmp_path / "out", RECIPE.changed(steps=60, rate=0.01))
    events = EVENTS.read(tmp_path / "out" / "metrics.jsonl").values()
    training = [event for event in events if event["kind"] == "train"]
    assert training[-1]["policy_loss"] < training[0]["policy_loss"] - 0.3
    assert [event["step"] for event in events if event["kind"] == "validation"] == [10, 20, 30, 40, 50, 60]
    assert {"top1", "top3", "policy_loss", "value_mse", "calibration"} <= outcome.metrics.keys()
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert any((tmp_path / "out" / "tensorboard").iterdir())
    assert len(find_checkpoints(tmp_path / "out")) == 1


def test_shards_that_come_later_do_not_change_a_run(shards: Shards, tmp_path: Path) -> None:
    data = shards()
    unbroken = run(data, tmp_path / "unbroken")
    run(data, tmp_path / "broken", options=RunOptions(threads=2, stop_at=5))
    shards(files=3)
    assert len(list_shards([data])) == 3
    last = resume(tmp_path / "broken", OPTIONS, lambda sentence: None)
    assert_equal(weights(unbroken.checkpoint)["network"], weights(last.checkpoint)["network"])
    list_shards([data])[0].path.unlink()
    with pytest.raises(DataError, match="is gone"):
        resume(tmp_path / "broken", OPTIONS, lambda sentence: None)


def test_a_new_run_does_not_overwrite_an_old_one(shards: Shards, tmp_path: Path) -> None:
    data = shards()
    run(data, tmp_path / "out", options=RunOptions(stop_at=2))
    with pytest.raises(TrainingError, match="already a run"):
        run(data, tmp_path / "out")


def test_schedule_rises_and_falls() -> None:
    recipe = RECIPE.changed(steps=1000, rate=0.01, warmup=0.1, last_rate=0.05)
    rates = [rate_at(step, recipe) for step in range(1001)]
    assert rates[0] == pytest.approx(0.0001)
    assert max(rates) == pytest.approx(0.01) == rates[100]
    assert rates[1000] == pytest.approx(0.0005)
    assert all(left >= right for left, right in pairwise(rates[100:]))


def command(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-m", "anabranch", "train", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_checkpoint(folder: Path, process: subprocess.Popen[str]) -> None:
    for _ in range(2400):
        if folder.is_dir() and find_checkpoints(folder):
            return
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    raise AssertionError("no checkpoint came")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_run_that_is_ended_goes_on(shards: Shards, tmp_path: Path, how: signal.Signals) -> None:
    data, out = shards(), tmp_path / "out"
    options = ["--variant", "crazyhouse", "--data", str(data), "--policy-width", "32", "--value-width", "32"]
    options += ["--steps", "150", "--batch", "64", "--held-out", "0.2", "--threads", "2"]
    often = ["--checkpoint-every", "0", "--report-every", "1"]
    process = command("run", *options, *often, "--out", str(out))
    wait_for_checkpoint(out, process)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    reached = read_checkpoint(find_checkpoints(out)[0])["step"]
    assert 1 <= reached < 150, errors
    assert process.returncode == (-signal.SIGKILL if how is signal.SIGKILL else 130)
    process = command("run", "--out", str(out), "--resume")
    answer, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert "step 150, finished" in answer
    assert f"steps {reached:,} to 150" in errors
    recipe = RECIPE.changed(steps=150)
    unbroken = run(data, tmp_path / "unbroken", recipe, RunOptions(threads=2))
    broken = weights(find_checkpoints(out)[0])
    assert_equal(weights(unbroken.checkpoint)["network"], broken["network"])
    steps = [step for kind, step in EVENTS.read(out / "metrics.jsonl") if kind == "train"]
    assert steps == sorted(set(steps))


def test_evaluate_command(shards: Shards, tmp_path: Path) -> None:
    data = shards()
    outcome = run(data, tmp_path / "out")
    process = command("evaluate", str(outcome.checkpoint), "--json")
    answer, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    assert json.loads(answer)["policy_loss"] == pytest.approx(outcome.metrics["policy_loss"], rel=0.2)
