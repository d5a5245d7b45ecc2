"""Learning of games on a grid: positions as arrays, in a random one of their symmetric forms."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import log_softmax

from anabranch.catalogue import base_name
from anabranch.networks.grid import GridInputs, inputs_of, write_grid
from anabranch.selfplay.learner import CANARIES, Learner, StepLoss, drawn_rows
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import GridSamples, PlaySamples
from anabranch.selfplay.symmetries import symmetries_of
from anabranch.selfplay.targets import value_target, wdl_of
from anabranch.selfplay.window import canonical, merged, transformed
from anabranch.train.export import quantise
from anabranch.train.grid import GridSparse, build_grid, load_grid
from anabranch.train.loop import make_optimiser


class GridLearner(Learner):
    """A sparse or convolutional network of a game on a grid."""

    def __init__(self, plan: LoopPlan) -> None:
        self._plan = plan
        self._inputs = inputs_of(plan.game)
        self.network = build_grid(
            self._inputs, plan.network, plan.seed, policy_width=plan.policy_width,
            value_width=plan.value_width, channels=plan.channels, blocks=plan.blocks,
        )  # fmt: skip
        self.optimiser = make_optimiser(self.network, plan.rate, plan.decay)
        every = symmetries_of(self._inputs)
        self._symmetries = every if plan.symmetries else every[:1]

    def load_initial(self, path: Path) -> None:
        """Take the weights of a network file."""
        load_grid(self.network, path)

    def merged(self, window: PlaySamples) -> GridSamples:
        """Equal positions once, symmetric ones too."""
        assert isinstance(window, GridSamples)
        if not self._plan.merge:
            return window
        return merged(canonical(window, self._symmetries), whole=base_name(self._plan.game) != "go")

    def losses(self, data: PlaySamples, steps: int, source: np.random.Generator) -> Generator[StepLoss]:
        """The losses of each step."""
        assert isinstance(data, GridSamples)
        for rows in drawn_rows(data.weight, self._plan.batch, steps, source):
            part, forms = data.take(rows), len(self._symmetries)
            if forms > 1:
                part = transformed(part, self._symmetries, source.integers(forms, size=len(part)))
            logits, wdl = self.network.answer(part.cells, part.constants)
            yield grid_loss(self._plan, part, logits, wdl)

    def write(self, path: Path, about: dict[str, str], data: PlaySamples) -> None:
        """Write the network to a file."""
        assert isinstance(data, GridSamples)
        rows = np.flatnonzero(data.has_policy)[:CANARIES]
        texts = [text_of(data.cells[row], data.constants[row], self._inputs) for row in rows]
        if isinstance(self.network, GridSparse):
            write_grid(path, self._inputs, quantise(self.network), about, texts)
        else:
            from anabranch.train.grid_onnx import write_grid_onnx

            write_grid_onnx(path, self.network, about)


def grid_loss(plan: LoopPlan, part: GridSamples, logits: Tensor, wdl: Tensor) -> StepLoss:
    """The losses of logits [B, A] of the policy and [B, 3] of win, draw and loss."""
    target = torch.from_numpy(part.policy)
    masked = logits.masked_fill(torch.from_numpy(~part.legal), -1e9)
    count = max(1, int(part.has_policy.sum()))
    policy = -(target * log_softmax(masked, 1)).sum() / count
    share = np.where(part.exact, 0.0, plan.result_share)
    value = value_target(part.value, part.result, share)
    # A result 0 is a draw; a value of the search has no draws of its own.
    drawn = np.where(part.exact, 1.0 - np.abs(part.value), share * part.drawn)
    wanted = torch.from_numpy(wdl_of(value, drawn))
    value_loss = -(wanted * log_softmax(wdl, 1)).sum(1).mean()
    logarithms = np.log(np.maximum(part.policy, 1e-9))
    entropy = -np.where(part.policy > 0.0, part.policy * logarithms, 0.0).sum()
    return StepLoss(policy, value_loss, float(entropy) / count)


def text_of(cells: NDArray[np.uint8], constants: NDArray[np.uint8], inputs: GridInputs) -> str:
    """The text of a position."""
    player = 0 if constants[0] else 1
    letters = np.array([".", "xo"[player], "xo"[1 - player]])[cells].reshape(inputs.height, inputs.width)
    passed = " 1" if inputs.constants > 1 and constants[1] else ""
    return "/".join("".join(row) for row in letters) + f" {'xo'[player]}{passed}"
