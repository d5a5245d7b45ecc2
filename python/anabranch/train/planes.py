"""What convolutional networks share: planes in, a convolutional policy head and a value head out, as
docs/onnx.md has it.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor, nn

from anabranch import _core
from anabranch.networks.planes import shape_of
from anabranch.train.network import NetworkOutput, RawSamples, Tensors, TrainableNetwork, tensors

VERSION = "v3"


class PlaneNetwork(TrainableNetwork):
    """A trunk between planes [N, C, 8, 8] and the two heads."""

    trunk: nn.Module

    def __init__(self, variant: str, channels: int) -> None:
        super().__init__()
        self.variant = variant
        self.input_planes, self.moves = shape_of(variant, VERSION)
        self.policy_head = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, self.moves // 64, 3, padding=1),
            nn.Flatten(),
        )
        self.value_head = nn.Sequential(
            nn.Conv2d(channels, 8, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(8 * 64, 128),
            nn.ReLU(),
            nn.Linear(128, 1),
            nn.Tanh(),
        )

    def stem(self, channels: int) -> nn.Module:
        """From planes to channels."""
        return nn.Sequential(
            nn.Conv2d(self.input_planes, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
        )

    def answer(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Value [N, 1] and logits [N, A], index = plane * 64 + square."""
        hidden = self.trunk(planes)
        return self.value_head(hidden), self.policy_head(hidden)

    def encode(self, samples: RawSamples, threads: int) -> Tensors:
        """Planes, and where the logits of legal moves stand in [N * A]."""
        arrays = _core.encode_planes(self.variant, VERSION, *samples, threads)
        counts = np.diff(arrays["move_offsets"])
        first = np.arange(len(counts), dtype=np.int64) * self.moves
        arrays["places"] = np.repeat(first, counts) + arrays.pop("move_index")
        return tensors(arrays)

    def forward(self, batch: Tensors) -> NetworkOutput:
        """Logits of the legal moves, and the value."""
        value, logits = self.answer(batch["planes"])
        return NetworkOutput(logits.view(-1)[batch["places"]], value.squeeze(1), None)


class Contract(nn.Module):
    """The network as a file has it: planes in, value and logits out."""

    def __init__(self, network: PlaneNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, data: Tensor) -> tuple[Tensor, Tensor]:
        """Value [N, 1], logits [N, A]."""
        return self.network.answer(data)
