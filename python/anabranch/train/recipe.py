"""The recipe of a training run: all that decides what comes out, as one plain record.

Two runs with equal recipes and equal shards give the same network on the same machine. It is stored in every
checkpoint.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from anabranch.errors import TrainingError

NETWORKS = ("sparse", "rise", "resnet")
VARIANTS = ("chess", "crazyhouse")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to train, on what, and how."""

    variant: str
    network: str = "sparse"
    """sparse, rise or resnet."""
    seed: int = 1
    """Seed of weights, order and mirroring."""

    policy_width: int = 512
    """Units of the policy (sparse); with 0 only the value is trained."""
    value_width: int = 512
    """Units of the value (sparse); with 0 only the policy is trained."""
    channels: int = 64
    """Channels of the trunk (rise, resnet)."""
    blocks: int = 6
    """Residual blocks (rise, resnet)."""

    steps: int = 10_000
    """Steps of the optimiser."""
    batch: int = 4096
    """Positions in a step."""
    rate: float = 2e-3
    """The highest learning rate, after the warm-up."""
    last_rate: float = 0.01
    """Share of the highest rate that is left at the last step."""
    warmup: float = 0.02
    """Share of the steps over which the rate rises."""
    decay: float = 0.01
    """Weight decay of AdamW; biases have none."""
    clip: float = 1.0
    """Norm at which gradients are cut."""
    mirror: bool = True
    """Exchange left and right in a random half of the positions."""

    policy_temperature: float | None = None
    """Centipawns T in weight ~ exp(score / T).  [default: the weights of the shards]"""
    smoothing: float = 0.0
    """Share of the policy target that is spread over all legal moves."""
    result_share: float = 0.5
    """Share of the game's result in the value target; the rest is the teacher's score."""
    value_scale: float | None = None
    """Centipawns s in value = tanh(score / (2 s)).  [default: fitted to the results]"""
    draw_share: float | None = None
    """Probability of a draw where the score is 0.  [default: fitted to the results; without any, 0.5]"""
    score_limit: int | None = None
    """Centipawns; positions with a score beyond are left out."""
    decided_weight: float = 1.0
    """Weight of positions with a score beyond 600 centipawns."""
    policy_loss: float = 1.0
    """Weight of the policy's loss."""
    value_loss: float = 1.0
    """Weight of the value's loss."""
    held_out: float = 0.02
    """Share of the games kept for validation, never trained on."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        if self.network not in NETWORKS:
            raise TrainingError(f"there is no network {self.network}, only {', '.join(NETWORKS)}")
        if self.variant not in VARIANTS:
            raise TrainingError(f"networks are trained for {' and '.join(VARIANTS)}, not for {self.variant}")
        for name in ("policy_width", "value_width"):
            width = getattr(self, name)
            if not 0 <= width <= 4096 or width % 32:
                raise TrainingError(f"{name} is a multiple of 32 up to 4096, not {width}")
        if not self.policy_width and not self.value_width:
            raise TrainingError("policy_width and value_width are both 0, so there is nothing to train")
        for name in ("channels", "blocks", "steps", "batch"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("last_rate", "warmup", "smoothing", "result_share", "draw_share", "held_out"):
            if getattr(self, name) is not None and not 0.0 <= getattr(self, name) <= 1.0:
                raise TrainingError(f"{name} is a share between 0 and 1, not {getattr(self, name)}")
        for name in ("rate", "clip"):
            if not getattr(self, name) > 0.0:
                raise TrainingError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("decay", "decided_weight", "policy_loss", "value_loss"):
            if not getattr(self, name) >= 0.0:
                raise TrainingError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("policy_temperature", "value_scale", "score_limit"):
            number = getattr(self, name)
            if number is not None and not number > 0:
                raise TrainingError(f"{name} must be above 0, not {number}")

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and texts by name."""
        return asdict(self)

    def changed(self, **changes: Any) -> Recipe:
        """A recipe like this one but for some values."""
        return replace(self, **changes)


def read_recipe(content: Any) -> Recipe:
    """The recipe of a checkpoint."""
    if not isinstance(content, dict):
        raise TrainingError("the checkpoint has no recipe")
    known = {field.name for field in fields(Recipe)}
    strange = [name for name in content if name not in known]
    if strange or "variant" not in content:
        raise TrainingError("the recipe of the checkpoint is of another version of anabranch")
    recipe = Recipe(**content)
    recipe.check()
    return recipe
