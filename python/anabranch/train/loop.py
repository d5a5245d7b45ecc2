"""The training loop: AdamW, warm-up and cosine, validation on held-out games, checkpoints.

A run that was interrupted goes on exactly: everything in it is a function of recipe, shards and step.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anabranch.data.shards import Shard
from anabranch.errors import TrainingError
from anabranch.train.batches import Order, training_batches
from anabranch.train.build import build_network
from anabranch.train.checkpoint import find_checkpoints, read_newest, write_checkpoint
from anabranch.train.journal import Journal, draw_curves
from anabranch.train.loss import losses
from anabranch.train.machine import prepare
from anabranch.train.measures import measure
from anabranch.train.network import Network
from anabranch.train.positions import Material, Positions, name_shards, read_material
from anabranch.train.recipe import Recipe, read_recipe


@dataclass(frozen=True, slots=True)
class Sitting:
    """How a run is carried out, as opposed to what comes out."""

    threads: int | None = None
    """Threads of PyTorch."""
    workers: int = 1
    """Threads that encode batches."""
    checkpoint_seconds: float = 300.0
    validate_every: int = 500
    """Steps."""
    validation: int = 20_000
    """Held-out positions to look at."""
    report_every: int = 50
    minutes: float | None = None
    """Wall time after which the run ends with a checkpoint."""
    stop_at: int | None = None
    """Step at which the run ends with a checkpoint, though its schedule goes on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a sitting ended."""

    step: int
    is_finished: bool
    was_stopped: bool
    """By Ctrl-C or SIGTERM."""
    checkpoint: Path
    metrics: dict[str, float]


Say = Callable[[str], object]


def start(
    recipe: Recipe, shards: list[Shard], epochs: float | None, out: Path, sitting: Sitting, say: Say
) -> Outcome:
    """Begin a run. `epochs`, where given, sets the steps."""
    recipe.check()
    if out.is_dir() and find_checkpoints(out):
        raise TrainingError(f"there is already a run in {out}: go on with --resume, or name another folder")
    prepare(sitting.threads)
    material = read_material(shards, recipe, lambda damage: say(f"left out: {damage.reason}"))
    for sentence in material.notes:
        say(sentence)
    if not material.has_scores:
        recipe = recipe.changed(result_share=1.0)
    if epochs is not None:
        order = Order(len(material.train), recipe.batch, recipe.seed)
        recipe = recipe.changed(steps=max(1, round(epochs * order.per_epoch)))
    out.mkdir(parents=True, exist_ok=True)
    return _run(recipe, material, None, out, sitting, say)


def resume(out: Path, sitting: Sitting, say: Say) -> Outcome:
    """Go on with the run in a folder, on the shards that it began with."""
    prepare(sitting.threads)
    saved = read_newest(out, say)
    recipe = read_recipe(saved["recipe"]).changed(value_scale=saved["value_scale"])
    material = read_material(name_shards(saved["shards"]), recipe, None, saved["draw_share"])
    recipe = read_recipe(saved["recipe"])
    return _run(recipe, material, saved, out, sitting, say)


def rate_at(step: int, recipe: Recipe) -> float:
    """The learning rate of a step: up a line, down half a cosine."""
    warmup = max(1, round(recipe.warmup * recipe.steps))
    if step < warmup:
        return recipe.rate * (step + 1) / warmup
    done = (step - warmup) / max(1, recipe.steps - warmup)
    last = recipe.last_rate
    return recipe.rate * (last + (1.0 - last) * (1.0 + math.cos(math.pi * min(done, 1.0))) / 2.0)


def make_optimiser(network: Network, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW; weights decay, biases do not."""
    weights = [parameter for name, parameter in network.named_parameters() if not name.endswith("bias")]
    biases = [parameter for name, parameter in network.named_parameters() if name.endswith("bias")]
    groups = [{"params": weights, "weight_decay": recipe.decay}, {"params": biases, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.99), fused=True)


def _run(
    recipe: Recipe, material: Material, saved: dict[str, Any] | None, out: Path, sitting: Sitting, say: Say
) -> Outcome:
    network = build_network(recipe)
    optimiser = make_optimiser(network, recipe)
    step = 0
    if saved is not None:
        try:
            network.load_state_dict(saved["network"])
            optimiser.load_state_dict(saved["optimiser"])
            torch.set_rng_state(saved["random"])
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            raise TrainingError(f"the weights of the checkpoint in {out} do not fit its recipe") from error
        step = int(saved["step"])
    order = Order(len(material.train), recipe.batch, recipe.seed)
    seen = _first(material.held_out, sitting.validation, recipe.seed)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    values = f"value scale {material.value_scale:g}, draws {material.draw_share:g}"
    say(
        f"{recipe.network} network for {recipe.variant}, {parameters:,} parameters; "
        f"{len(material.train):,} positions, {len(material.held_out):,} held out; "
        f"steps {step:,} to {recipe.steps:,} of {order.batch:,}, "
        f"{recipe.steps / order.per_epoch:.1f} epochs; "
        f"{values if material.has_scores else 'values from results'}"
    )

    def save() -> Path:
        content = {
            "recipe": recipe.as_dict(),
            "network": network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "step": step,
            "random": torch.get_rng_state(),
            "shards": material.shards,
            "value_scale": material.value_scale,
            "draw_share": material.draw_share,
            "positions": len(material.train),
            "about": material.about,
            "metrics": metrics,
        }
        return write_checkpoint(out, content)

    metrics: dict[str, float] = {} if saved is None else dict(saved.get("metrics", {}))
    began = saved_at = reported_at = time.monotonic()
    end = recipe.steps if sitting.stop_at is None else min(recipe.steps, sitting.stop_at)
    made = training_batches(
        network, material.train, order, step, end, recipe.mirror, recipe.smoothing, sitting.workers
    )
    totals, count, stopped = torch.zeros(4), 0, False
    with closing(Journal(out, step)) as journal, closing(made) as batches, _signals() as is_stopped:
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
            if step % sitting.report_every == 0 or step == end:
                _report(journal, say, step, rate, totals / count, count * order.batch / (now - reported_at))
                totals.zero_()
                count = 0
                reported_at = time.monotonic()
            if len(seen) and (step % sitting.validate_every == 0 or step == recipe.steps):
                metrics = measure(network, seen, material.value_scale)
                journal.write("validation", step, **metrics)
                say(_sentence(step, metrics))
                reported_at = time.monotonic()
            late = sitting.minutes is not None and now - began > sitting.minutes * 60.0
            stopped = is_stopped()
            if late or stopped:
                break
            if now - saved_at > sitting.checkpoint_seconds:
                save()
                saved_at = time.monotonic()
    path = save()
    if step >= recipe.steps:
        draw_curves(out)
    return Outcome(step, step >= recipe.steps, stopped and step < recipe.steps, path, metrics)


def _first(positions: Positions, count: int, seed: int) -> Positions:
    """Some of the held-out positions, the same in every sitting."""
    return positions.take(np.sort(np.random.default_rng(seed).permutation(len(positions))[:count]))


def _report(journal: Journal, say: Say, step: int, rate: float, means: torch.Tensor, speed: float) -> None:
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
    say(f"step {step:,}: policy {policy:.4f}, value {value:.4f}, rate {rate:.2g}, {speed:,.0f} samples/s")


def _sentence(step: int, metrics: dict[str, float]) -> str:
    parts = [f"{name} {number:.4f}" for name, number in metrics.items()]
    return f"held out at step {step:,}: {', '.join(parts)}"


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """Take SIGTERM and Ctrl-C as a wish to end after this step."""
    wish = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield wish.is_set
        return
    old = {number: signal.signal(number, lambda *_: wish.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wish.is_set
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
