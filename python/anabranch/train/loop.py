"""The training loop: AdamW, warm-up and cosine, validation on held-out games, checkpoints.

A run that was interrupted goes on exactly: everything in it is a function of recipe, shards and step.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anabranch.data.shards import Shard, list_shards, named_shards
from anabranch.errors import TrainingError
from anabranch.jobs.executor import Executor
from anabranch.jobs.folder import locked_folder
from anabranch.networks.sparse import SUFFIX
from anabranch.train.batches import BatchOrder, training_batches
from anabranch.train.build import build_network
from anabranch.train.checkpoint import find_checkpoints, read_newest, read_saved, write_checkpoint
from anabranch.train.journal import TrainingJournal, draw_curves, open_journal
from anabranch.train.loss import losses
from anabranch.train.machine import prepare
from anabranch.train.measures import measure
from anabranch.train.network import TrainableNetwork
from anabranch.train.options import RunOptions
from anabranch.train.positions import Positions, TrainingData, read_training_data
from anabranch.train.recipe import Recipe, read_recipe
from anabranch.train.sparse import BucketedNetwork, load_sparse


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended, or was interrupted."""

    step: int
    is_finished: bool
    was_stopped: bool
    """By Ctrl-C or SIGTERM."""
    checkpoint: Path
    metrics: dict[str, float]


Notify = Callable[[str], object]
"""Called with a sentence about a run."""


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """A run to be begun or continued, as a job of an executor. Other machines need its folders by the same
    paths.
    """

    out: Path
    options: RunOptions
    recipe: Recipe | None = None
    """Of a new run; without one, the run in `out` goes on."""
    data: tuple[Path, ...] = ()
    """Folders with the shards of a new run."""
    epochs: float | None = None
    """Sets the steps of a new run."""
    initial: Path | None = None
    """A checkpoint whose weights a new run begins with, or the folder of its run."""

    def absolute(self) -> TrainingJob:
        """The same with absolute paths, which mean the same in another process."""
        data = tuple(path.resolve() for path in self.data)
        initial = None if self.initial is None else self.initial.resolve()
        return replace(self, out=self.out.resolve(), data=data, initial=initial)


def train_on(executor: Executor, job: TrainingJob) -> RunOutcome:
    """Do a run somewhere. If its process dies there, another goes on from the last checkpoint."""
    job.options.check()
    if job.recipe is not None:
        job.recipe.check()
        _refuse_run(job.out)
    with closing(executor.run(_train, [job])) as outcomes:
        return next(outcomes)


def _train(job: TrainingJob) -> RunOutcome:
    if job.recipe is None or (job.out.is_dir() and find_checkpoints(job.out)):
        return resume(job.out, job.options)
    return start(job.recipe, list_shards(job.data), job.epochs, job.out, job.options, initial=job.initial)


def _refuse_run(out: Path) -> None:
    if out.is_dir() and find_checkpoints(out):
        raise TrainingError(f"there is already a run in {out}: go on with --resume, or name another folder")


def print_notice(sentence: str) -> None:
    """Print a sentence about a run to stderr."""
    print(sentence, file=sys.stderr, flush=True)


def start(
    recipe: Recipe,
    shards: list[Shard],
    epochs: float | None,
    out: Path,
    options: RunOptions,
    notify: Notify = print_notice,
    initial: Path | None = None,
) -> RunOutcome:
    """Begin a run. `epochs`, where given, sets the steps; `initial` names the weights to begin with."""
    recipe.check()
    _refuse_run(out)
    prepare(options.threads)
    data = read_training_data(shards, recipe, lambda damage: notify(f"left out: {damage.reason}"))
    for sentence in data.notes:
        notify(sentence)
    if not data.has_scores:
        recipe = recipe.changed(result_share=1.0)
    if epochs is not None:
        order = BatchOrder(len(data.train), recipe.batch, recipe.seed)
        recipe = recipe.changed(steps=max(1, round(epochs * order.per_epoch)))
    network = build_network(recipe)
    if initial is not None and initial.suffix == SUFFIX:
        if not isinstance(network, BucketedNetwork):
            raise TrainingError(f"{initial} is a network of the family sparse, and the new one is not")
        load_sparse(network, initial)
    elif initial is not None:
        _load_weights(
            network, read_saved(initial, notify), f"{initial} are not of a network like the new one"
        )
    with locked_folder(out):
        return _run(recipe, network, data, None, out, options, notify)


def resume(out: Path, options: RunOptions, notify: Notify = print_notice) -> RunOutcome:
    """Go on with the run in a folder, on the shards that it began with."""
    prepare(options.threads)
    saved = read_newest(out, notify)
    recipe = read_recipe(saved["recipe"])
    fitted = recipe.changed(value_scale=saved["value_scale"], draw_share=saved["draw_share"])
    data = read_training_data(named_shards(saved["shards"]), fitted)
    network = build_network(recipe)
    _load_weights(network, saved, f"the checkpoint in {out} do not fit its recipe")
    with locked_folder(out):
        return _run(recipe, network, data, saved, out, options, notify)


def _load_weights(network: TrainableNetwork, saved: dict[str, Any], refusal: str) -> None:
    try:
        network.load_state_dict(saved["network"])
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrainingError(f"the weights of {refusal}") from error


def rate_at(step: int, recipe: Recipe) -> float:
    """The learning rate of a step: up a line, down half a cosine."""
    warmup = max(1, round(recipe.warmup * recipe.steps))
    if step < warmup:
        return recipe.rate * (step + 1) / warmup
    done = (step - warmup) / max(1, recipe.steps - warmup)
    last = recipe.last_rate
    return recipe.rate * (last + (1.0 - last) * (1.0 + math.cos(math.pi * min(done, 1.0))) / 2.0)


def make_optimiser(network: torch.nn.Module, rate: float, decay: float) -> torch.optim.AdamW:
    """AdamW; weights decay, biases do not."""
    weights = [parameter for name, parameter in network.named_parameters() if not name.endswith("bias")]
    biases = [parameter for name, parameter in network.named_parameters() if name.endswith("bias")]
    groups = [{"params": weights, "weight_decay": decay}, {"params": biases, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.99), fused=True)


def _run(
    recipe: Recipe,
    network: TrainableNetwork,
    data: TrainingData,
    saved: dict[str, Any] | None,
    out: Path,
    options: RunOptions,
    notify: Notify,
) -> RunOutcome:
    optimiser = make_optimiser(network, recipe.rate, recipe.decay)
    step = 0
    if saved is not None:
        try:
            optimiser.load_state_dict(saved["optimiser"])
            torch.set_rng_state(saved["random"])
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise TrainingError(f"the weights of the checkpoint in {out} do not fit its recipe") from error
        step = int(saved["step"])
    order = BatchOrder(len(data.train), recipe.batch, recipe.seed)
    seen = _first(data.held_out, options.validation, recipe.seed)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    values = f"value scale {data.value_scale:g}, draws {data.draw_share:g}"
    notify(
        f"{recipe.network} network for {recipe.variant}, {parameters:,} parameters; "
        f"{len(data.train):,} positions, {len(data.held_out):,} held out; "
        f"steps {step:,} to {recipe.steps:,} of {order.batch:,}, "
        f"{recipe.steps / order.per_epoch:.1f} epochs; "
        f"{values if data.has_scores else 'values from results'}"
    )

    def save() -> Path:
        content = {
            "recipe": recipe.as_dict(),
            "network": network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "step": step,
            "random": torch.get_rng_state(),
            "shards": data.shards,
            "value_scale": data.value_scale,
            "draw_share": data.draw_share,
            "positions": len(data.train),
            "about": data.about,
            "metrics": metrics,
        }
        return write_checkpoint(out, content)

    metrics: dict[str, float] = {} if saved is None else dict(saved.get("metrics", {}))
    began = saved_at = reported_at = time.monotonic()
    end = recipe.steps if options.stop_at is None else min(recipe.steps, options.stop_at)
    made = training_batches(
        network, data.train, order, step, end, recipe.mirror, recipe.smoothing, options.workers
    )
    totals, count, stopped = torch.zeros(4), 0, False
    with open_journal(out, step) as journal, closing(made) as batches, _signals() as is_stopped:
        network.train()
        for batch in batches:
            rate = rate_at(step, recipe)
            for group in optimiser.param_groups:
                group["lr"] = rate
            total, policy, value = losses(network(batch.encoded), batch, recipe)
            optimiser.zero_grad()
            total.backward()
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.clip)
            optimiser.step()
            network.after_step()
            step += 1
            count += 1
            totals += torch.stack([total.detach(), policy.detach(), value.detach(), norm])
            if not math.isfinite(total.item()):
                raise TrainingError(f"the loss is not a number at step {step}; a lower --rate may help")
            now = time.monotonic()
            if step % options.report_every == 0 or step == end:
                _report(
                    journal, notify, step, rate, totals / count, count * order.batch / (now - reported_at)
                )
                totals.zero_()
                count = 0
                reported_at = time.monotonic()
            if len(seen) and (step % options.validate_every == 0 or step == recipe.steps):
                metrics = measure(network, seen, data.value_scale)
                journal.write("validation", step, **metrics)
                parts = [f"{name} {number:.4f}" for name, number in metrics.items()]
                notify(f"held out at step {step:,}: {', '.join(parts)}")
                reported_at = time.monotonic()
            late = options.minutes is not None and now - began > options.minutes * 60.0
            stopped = is_stopped()
            if late or stopped:
                break
            if now - saved_at > options.checkpoint_every:
                save()
                saved_at = time.monotonic()
    path = save()
    if step >= recipe.steps:
        draw_curves(out)
    return RunOutcome(step, step >= recipe.steps, stopped and step < recipe.steps, path, metrics)


def _first(positions: Positions, count: int, seed: int) -> Positions:
    """Some of the held-out positions, the same whenever it goes on."""
    return positions.take(np.sort(np.random.default_rng(seed).permutation(len(positions))[:count]))


def _report(
    journal: TrainingJournal, notify: Notify, step: int, rate: float, means: torch.Tensor, speed: float
) -> None:
    total, policy, value, norm = means.tolist()
    journal.write(
        "train",
        step,
        loss=total,
        policy_loss=policy,
        value_loss=value,
        gradient=norm,
        rate=rate,
        samples_per_second=speed,
    )
    notify(f"step {step:,}: policy {policy:.4f}, value {value:.4f}, rate {rate:.2g}, {speed:,.0f} samples/s")


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """After SIGTERM or Ctrl-C the returned function is true, and the run ends after its step."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop.is_set
        return
    old = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop.is_set
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
