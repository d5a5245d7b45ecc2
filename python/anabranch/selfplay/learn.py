"""Learning: one generation of training on the window, from the weights of the generation before.

It is a function of plan, generation, window and checkpoint, so that one that was interrupted is done again
with the same result. The only part of self-play that needs PyTorch.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import log_softmax

from anabranch.errors import SelfPlayError
from anabranch.jobs.files import replacing
from anabranch.networks.grid import GridInputs, inputs_of, write_grid
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import GridSamples
from anabranch.selfplay.schedule import rate_at
from anabranch.selfplay.symmetries import symmetries_of
from anabranch.selfplay.targets import surprise_weights
from anabranch.selfplay.window import canonical, merged, transformed
from anabranch.train.export import quantise
from anabranch.train.grid import GridNetwork, GridSparse, build_grid, load_grid
from anabranch.train.machine import prepare

CANARIES = 8
FORMAT = "anabranch-selfplay-1"


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


def suffix_of(plan: LoopPlan) -> str:
    """The ending of network files of a plan."""
    return ".safetensors" if plan.network == "sparse" else ".onnx"


def learn(
    plan: LoopPlan,
    generation: int,
    window: GridSamples,
    new: int,
    before: Path | None,
    folder: Path,
    threads: int,
) -> Learned:
    """Train on a window with `new` new positions; write `weights.pt` and `network.*` to a folder.

    `before` is the checkpoint to go on from; without one the weights are drawn from the seed, or read from
    the plan's initial network.
    """
    prepare(threads)
    begun = time.process_time()
    inputs = inputs_of(plan.game)
    network = build_grid(
        inputs, plan.network, plan.seed, policy_width=plan.policy_width, value_width=plan.value_width,
        channels=plan.channels, blocks=plan.blocks,
    )  # fmt: skip
    optimiser = _optimiser(network, plan)
    if before is not None:
        _load(before, network, optimiser)
    elif plan.initial is not None:
        load_grid(network, Path(plan.initial))
    symmetries = symmetries_of(inputs) if plan.symmetries else symmetries_of(inputs)[:1]
    weighted = _weighted(window, plan)
    data = merged(canonical(weighted, symmetries)) if plan.merge else weighted
    source = np.random.default_rng([plan.seed, 7, generation])
    steps = max(plan.least_steps, round(plan.reuse * new / plan.batch), 1)
    rate = rate_at(plan, generation)
    for group in optimiser.param_groups:
        group["lr"] = rate
    totals = np.zeros(3)
    network.train()
    for rows in _batches(data.weight, plan.batch, steps, source):
        part = data.take(rows)
        if len(symmetries) > 1:
            part = transformed(part, symmetries, source.integers(len(symmetries), size=len(part)))
        policy, value, entropy = _losses(network, part, plan)
        total = policy + value
        optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        network.after_step()
        totals += [policy.item(), value.item(), entropy]
    if not np.isfinite(totals).all():
        raise SelfPlayError(f"the loss of generation {generation} is not a number; a lower rate may help")
    network.eval()
    _write(plan, generation, inputs, network, optimiser, data, folder)
    policy_loss, value_loss, entropy = totals / steps
    return Learned(
        steps, len(window), len(data), policy_loss, value_loss, policy_loss - entropy,
        time.process_time() - begun,
    )  # fmt: skip


def _weighted(window: GridSamples, plan: LoopPlan) -> GridSamples:
    """Positions weighted by their surprise, which the records have as weight."""
    weights = surprise_weights(window.weight.astype(np.float64), plan.surprise).astype(np.float32)
    fields = (window.cells, window.constants, window.legal, window.policy, window.value, window.result)
    return GridSamples(*fields, window.exact, weights, window.has_policy)


def _batches(
    weights: NDArray[np.float32], batch: int, steps: int, source: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Rows of each step, drawn by weight: every row as often as its weight says, up to one more or less."""
    total = weights.astype(np.float64).sum()
    ends = np.cumsum(weights, dtype=np.float64) / total
    drawn = (np.arange(steps * batch) + source.random()) / (steps * batch)
    rows = np.minimum(np.searchsorted(ends, drawn, side="right"), len(weights) - 1)
    return list(source.permutation(rows).reshape(steps, batch))


def _losses(network: GridNetwork, part: GridSamples, plan: LoopPlan) -> tuple[Tensor, Tensor, float]:
    """Cross-entropy of the policy over legal moves, of win, draw and loss; entropy of the policy targets."""
    logits, wdl = network.answer(part.cells, part.constants)
    target = torch.from_numpy(part.policy)
    masked = logits.masked_fill(torch.from_numpy(~part.legal), -1e9)
    count = max(1, int(part.has_policy.sum()))
    policy = -(target * log_softmax(masked, 1)).sum() / count
    share = np.where(part.exact, 0.0, plan.result_share)
    value = (1.0 - share) * part.value + share * part.result
    # A result 0 is a draw; a value of the search has no draws of its own.
    drawn = np.where(part.exact, 1.0 - np.abs(part.value), share * (1.0 - np.abs(part.result)))
    chances = np.stack([(1.0 - drawn + value) / 2.0, drawn, (1.0 - drawn - value) / 2.0], axis=1)
    wanted = torch.from_numpy(np.clip(chances, 0.0, 1.0).astype(np.float32))
    value_loss = -(wanted * log_softmax(wdl, 1)).sum(1).mean()
    entropy = -np.where(part.policy > 0.0, part.policy * np.log(np.maximum(part.policy, 1e-9)), 0.0).sum(1)
    return policy, value_loss, float(entropy.sum()) / count


def _optimiser(network: GridNetwork, plan: LoopPlan) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        network.parameters(), plan.rate, (0.9, 0.99), weight_decay=plan.decay, fused=True
    )


def _load(path: Path, network: GridNetwork, optimiser: torch.optim.AdamW) -> None:
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        network.load_state_dict(saved["network"])
        optimiser.load_state_dict(saved["optimiser"])
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError) as error:
        raise SelfPlayError(f"the weights in {path} cannot be read: {error}") from error


def _write(
    plan: LoopPlan,
    generation: int,
    inputs: GridInputs,
    network: GridNetwork,
    optimiser: torch.optim.AdamW,
    data: GridSamples,
    folder: Path,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / "weights.pt") as part:
        torch.save(
            {"format": FORMAT, "network": network.state_dict(), "optimiser": optimiser.state_dict()}, part
        )
    about = {
        "variant": inputs.game,
        "architecture": plan.network,
        "step": str(generation),
        "licence": "GPL-3.0-or-later",
        "plan": json.dumps(plan.as_dict()),
    }
    path = folder / f"network{suffix_of(plan)}"
    rows = np.flatnonzero(data.has_policy)[:CANARIES]
    texts = [text_of(data.cells[row], data.constants[row], inputs) for row in rows]
    if isinstance(network, GridSparse):
        write_grid(path, inputs, quantise(network), about, texts)
    else:
        from anabranch.train.grid_onnx import write_grid_onnx

        write_grid_onnx(path, network, about)


def text_of(cells: NDArray[np.uint8], constants: NDArray[np.uint8], inputs: GridInputs) -> str:
    """The text of a position."""
    player = 0 if constants[0] else 1
    letters = np.array([".", "xo"[player], "xo"[1 - player]])[cells].reshape(inputs.height, inputs.width)
    passed = " 1" if inputs.constants > 1 and constants[1] else ""
    return "/".join("".join(row) for row in letters) + f" {'xo'[player]}{passed}"


def digest(state: dict[str, Any]) -> str:
    """A hash of the tensors of a checkpoint, for comparing runs."""
    hashed = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        hashed.update(name.encode() + tensor.numpy().tobytes())
    return hashed.hexdigest()
