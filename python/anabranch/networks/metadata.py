"""The metadata of a network file, as typed fields and as the texts in the file.

The keys in a file have the prefix `anabranch.`. Whether the metadata are true is checked when the file is
opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

PREFIX = "anabranch."
SHA256 = PREFIX + "sha256"
CANARIES = PREFIX + "canaries"
FORMAT = "1"
CHOICES = {
    "policy_map": ("v1", "lc0"),
    "policy": ("logits", "probabilities"),
    "value": ("scalar", "wdl", "wdl_probabilities"),
}
NEEDED = ("format", "variant", "inputs", "policy_map", "policy", "value", "architecture", "licence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The facts about a network that a file carries."""

    variant: str
    inputs: str = "v3"
    """Version of the planes."""
    policy_map: str = "v1"
    """Version of the map from moves to places in the policy."""
    policy: str = "logits"
    """What the policy output holds: `logits` or `probabilities`."""
    value: str = "scalar"
    """What the value output holds: `scalar`, `wdl`, the logits of win, draw and loss, or
    `wdl_probabilities`."""
    architecture: str = "unknown"
    step: int | None = None
    """Step of the training."""
    licence: str = "unknown"
    more: Mapping[str, str] = field(default_factory=dict)
    """Anything else: data, recipe, seeds."""

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> Self | None:
        """From the texts of a file; `None` where it has none of ours. What makes no sense is a ValueError.

        >>> Metadata.read(Metadata(variant="chess", step=7).write()).step
        7
        """
        ours = {name.removeprefix(PREFIX): text for name, text in texts.items() if name.startswith(PREFIX)}
        if not ours:
            return None
        for name in ("sha256", "canaries"):
            ours.pop(name, None)
        for name in NEEDED:
            if name not in ours:
                raise ValueError(f"its metadata lack {name!r}")
        if (form := ours.pop("format")) != FORMAT:
            raise ValueError(f"its metadata are of format {form!r}, and this version reads {FORMAT}")
        for name, choices in CHOICES.items():
            if ours[name] not in choices:
                raise ValueError(
                    f"its metadata say {name} {ours[name]!r}, which is not {' or '.join(choices)}"
                )
        step = ours.pop("step", None)
        if step is not None and not (step.isascii() and step.isdigit()):
            raise ValueError(f"its metadata say step {step!r}, which is not a number")
        own = {name: ours.pop(name) for name in NEEDED if name != "format"}
        return cls(**own, step=None if step is None else int(step), more=ours)

    def write(self) -> dict[str, str]:
        """The texts for a file."""
        texts = {**self.more, "format": FORMAT, "variant": self.variant, "inputs": self.inputs}
        texts |= {"policy_map": self.policy_map, "policy": self.policy, "value": self.value}
        texts |= {"architecture": self.architecture, "licence": self.licence}
        if self.step is not None:
            texts["step"] = str(self.step)
        return {PREFIX + name: text for name, text in texts.items()}
