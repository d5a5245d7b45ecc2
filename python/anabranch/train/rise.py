"""RISEv2: inverted bottlenecks with depthwise convolutions, squeeze-excitation in the last blocks."""

from __future__ import annotations

from torch import Tensor, nn

from anabranch.train.planes import PlaneNetwork

EXCITED = 5
"""How many of thirteen blocks have squeeze-excitation; other sizes in proportion."""


class Excitation(nn.Module):
    """Scale channels by what is on the whole board."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = max(8, channels // 8)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, squeezed, 1),
            nn.ReLU(),
            nn.Conv2d(squeezed, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, C, 8, 8] to the same."""
        return hidden * self.gate(hidden)


class Bottleneck(nn.Module):
    """Wide in the middle, one filter per channel there, linear at the end, and a way around."""

    def __init__(self, channels: int, inner: int, excited: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            Excitation(channels) if excited else nn.Identity(),
            nn.Conv2d(channels, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Conv2d(inner, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, hidden: Tensor) -> Tensor:
        """[N, C, 8, 8] to the same."""
        return hidden + self.body(hidden)


class Rise(PlaneNetwork):
    """`blocks` blocks around a trunk of `channels`; block i is inside half as wide as the trunk and a quarter
    wider for each before it.
    """

    def __init__(self, variant: str, channels: int, blocks: int) -> None:
        super().__init__(variant, channels)
        excited = blocks - max(1, round(blocks * EXCITED / 13))
        body = (Bottleneck(channels, max(8, channels * (2 + i) // 4), i >= excited) for i in range(blocks))
        self.trunk = nn.Sequential(self.stem(channels), *body)
