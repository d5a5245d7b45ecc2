"""A plain residual network: blocks of two convolutions."""

from __future__ import annotations

from torch import Tensor, nn

from anabranch.train.planes import PlaneNetwork


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, C, 8, 8] to the same."""
        return (hidden + self.body(hidden)).relu()


class ResNet(PlaneNetwork):
    """`blocks` blocks of `channels` channels."""

    def __init__(self, variant: str, channels: int, blocks: int) -> None:
        super().__init__(variant, channels)
        self.trunk = nn.Sequential(self.stem(channels), *(Block(channels) for _ in range(blocks)))
