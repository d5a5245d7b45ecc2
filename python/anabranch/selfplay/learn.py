"""Learning: one generation of training on the window, from the weights of the generation before.

It is a function of plan, generation, window, shards and checkpoint, so that one that was interrupted is done
again with the same result. What a network reads of positions is in `learn_grid`, `learn_rows` and
`learn_chess`; these need PyTorch, and nothing else of self-play does.
"""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from anabranch.catalogue import is_grid
from anabranch.errors import SelfPlayError
from anabranch.evaluators.resolve import network_file
from anabranch.jobs.files import replacing
from anabranch.named_games import is_reference
from anabranch.selfplay.learner import Learner
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import PlaySamples
from anabranch.selfplay.schedule import rate_at
from anabranch.selfplay.targets import surprise_weights
from anabranch.train.machine import prepare

WEIGHTS = "weights.pt"
"""Weights and the state of the optimiser, to go on from."""
FORMAT = "anabranch-selfplay-1"
SHORTEST = 9
"""The mean begins over so few steps, so that the first weights do not stay in it."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of a generation of training."""

    steps: int
    positions: int
    """Positions of the window."""
    unique: int
    """Different ones, symmetric forms counted once."""
    policy_loss: float
    value_loss: float
    policy_gap: float
    """Loss of the policy less the entropy of its targets."""
    seconds: float
    """Processor time."""


def learner_of(plan: LoopPlan, shards: tuple[str, ...] = ()) -> Learner:
    """The network of a plan, with weights drawn from the seed or read from its initial network."""
    learner: Learner
    if is_reference(plan.game):
        from anabranch.selfplay.learn_rows import RowsLearner

        learner = RowsLearner(plan)
    elif is_grid(plan.game):
        from anabranch.selfplay.learn_grid import GridLearner

        learner = GridLearner(plan)
    else:
        from anabranch.selfplay.learn_chess import ChessLearner

        learner = ChessLearner(plan, shards)
    if plan.initial is not None:
        file = network_file(plan.initial, plan.game)
        if file is None:
            raise SelfPlayError(f"learning can begin from a network, not from {plan.initial}")
        learner.load_initial(file)
    return learner


def learn(
    plan: LoopPlan,
    generation: int,
    window: PlaySamples,
    new: int,
    before: Path | None,
    folder: Path,
    threads: int,
    shards: tuple[str, ...] = (),
) -> Learned:
    """Train on a window with `new` new positions; write `weights.pt` and `network.*` to a folder.

    `before` is the checkpoint to go on from. `shards` are those of the plan's data.
    """
    prepare(threads)
    begun = time.process_time()
    learner = learner_of(plan, shards)
    if before is not None:
        _load(before, learner)
    data = learner.merged(_weighted(window, plan))
    source = np.random.default_rng([plan.seed, 7, generation])
    steps = max(plan.least_steps, round(plan.reuse * new / plan.batch), 1)
    rate = rate_at(plan, generation)
    for group in learner.optimiser.param_groups:
        group["lr"] = rate
    totals, number = np.zeros(3), 0
    mean = [tensor.clone() for tensor in _floats(learner)]
    learner.network.train()
    with closing(learner.losses(data, steps, source)) as every:
        for loss in every:
            learner.optimiser.zero_grad()
            (loss.policy + loss.value).backward()
            torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 1.0)
            learner.optimiser.step()
            learner.network.after_step()
            number += 1
            kept = min(plan.average, number / (number + SHORTEST))
            torch._foreach_lerp_(mean, _floats(learner), 1.0 - kept)
            totals += [loss.policy.item(), loss.value.item(), loss.entropy]
    if not np.isfinite(totals).all():
        raise SelfPlayError(f"the loss of generation {generation} is not a number; a lower rate may help")
    learner.network.eval()
    _write(plan, generation, learner, mean, data, folder)
    policy_loss, value_loss, entropy = totals / steps
    return Learned(
        steps, len(window), len(data), policy_loss, value_loss, policy_loss - entropy,
        time.process_time() - begun,
    )  # fmt: skip


def _weighted(window: PlaySamples, plan: LoopPlan) -> PlaySamples:
    """Positions weighted by their surprise, which the records have as weight."""
    weights = surprise_weights(window.weight.astype(np.float64), plan.surprise).astype(np.float32)
    return replace(window, weight=weights)  # type: ignore[type-var]


def _load(path: Path, learner: Learner) -> None:
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        learner.network.load_state_dict(saved["network"])
        learner.optimiser.load_state_dict(saved["optimiser"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError) as error:
        raise SelfPlayError(f"the weights in {path} cannot be read: {error}") from error


def _floats(learner: Learner) -> list[torch.Tensor]:
    """Weights and running statistics."""
    state = [*learner.network.parameters(), *learner.network.buffers()]
    return [tensor.detach() for tensor in state if tensor.is_floating_point()]


def _write(
    plan: LoopPlan,
    generation: int,
    learner: Learner,
    mean: list[torch.Tensor],
    data: PlaySamples,
    folder: Path,
) -> None:
    """Write what learning goes on from, then the network with the mean weights."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {"network": learner.network.state_dict(), "optimiser": learner.optimiser.state_dict()}
    with replacing(folder / WEIGHTS) as part:
        torch.save({"format": FORMAT, **state}, part)
    for tensor, value in zip(_floats(learner), mean, strict=True):
        tensor.copy_(value)
    about = {
        "variant": learner.network.variant,
        "architecture": plan.network,
        "step": str(generation),
        "licence": "GPL-3.0-or-later",
        "plan": json.dumps(plan.as_dict()),
    }
    learner.write(folder / plan.network_name, about, data)
