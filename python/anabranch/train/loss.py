"""What is minimised: the cross-entropy of the policy over legal moves, and the error of the value."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import log_softmax

from anabranch.train.batches import Batch
from anabranch.train.network import NetworkOutput
from anabranch.train.recipe import Recipe


def log_probabilities(logits: Tensor, offsets: Tensor) -> Tensor:
    """[M]: logarithms of the softmax over each position's moves."""
    counts = torch.diff(offsets)
    top = torch.segment_reduce(logits, "max", offsets=offsets)
    shifted = logits - top.repeat_interleave(counts)
    total = torch.segment_reduce(shifted.exp(), "sum", offsets=offsets)
    return shifted - total.log().repeat_interleave(counts)


class _CrossEntropy(Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, offsets: Tensor) -> Tensor:
        logarithms = log_probabilities(logits, offsets)
        ctx.save_for_backward(logarithms, target, offsets)
        return -torch.segment_reduce(target * logarithms, "sum", offsets=offsets)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        logarithms, target, offsets = ctx.saved_tensors
        counts = torch.diff(offsets)
        mass = torch.segment_reduce(target, "sum", offsets=offsets)
        spread = (mass * gradient).repeat_interleave(counts)
        return logarithms.exp() * spread - target * gradient.repeat_interleave(counts), None, None


def policy_loss(logits: Tensor, target: Tensor, offsets: Tensor) -> Tensor:
    """[B]: cross-entropy of each position."""
    return _CrossEntropy.apply(logits, target, offsets)


def value_loss(answer: NetworkOutput, wdl: Tensor) -> Tensor:
    """[B]: cross-entropy of win, draw, loss, or the squared error of networks that only have a value."""
    if answer.wdl is not None:
        return -(wdl * log_softmax(answer.wdl, 1)).sum(1)
    return (answer.value - (wdl[:, 0] - wdl[:, 2])).square()


def losses(answer: NetworkOutput, batch: Batch, recipe: Recipe) -> tuple[Tensor, Tensor, Tensor]:
    """The sum that is minimised, and its parts policy and value."""
    weight = batch.importance / batch.importance.sum().clamp(min=1e-9)
    policy = (
        policy_loss(answer.logits, batch.encoded["target"], batch.encoded["move_offsets"]) * weight
    ).sum()
    value = (value_loss(answer, batch.wdl) * weight).sum()
    return recipe.policy_loss * policy + recipe.value_loss * value, policy, value
