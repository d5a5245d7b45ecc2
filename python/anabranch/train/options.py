"""How a training run is carried out, as opposed to what comes out, which the recipe decides."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.errors import TrainingError


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is carried out. It may change whenever a run goes on."""

    threads: int | None = None
    """Threads of PyTorch.  [default: all cores]"""
    workers: int = 1
    """Threads that encode batches."""
    checkpoint_every: float = 300.0
    """Seconds between checkpoints."""
    validate_every: int = 500
    """Steps between validations."""
    validation: int = 20_000
    """Held-out positions to validate on."""
    report_every: int = 50
    """Steps between lines of the log."""
    minutes: float | None = None
    """Minutes after which the run ends with a checkpoint, wherever it is."""
    stop_at: int | None = None
    """Step at which the run ends with a checkpoint, though its schedule goes on."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        for name, least in (("validate_every", 1), ("report_every", 1), ("workers", 1), ("validation", 0)):
            if getattr(self, name) < least:
                raise TrainingError(f"{name} must be at least {least}, not {getattr(self, name)}")
