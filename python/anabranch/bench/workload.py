"""How much is measured: a full workload for figures that are quoted, a quick one to test that all runs.

Positions are always the first ones of `positions`. Sessions of the core are made here, without the engine
around them: only the search is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Self, TypeAlias

from anabranch import _core
from anabranch.bench.positions import POSITIONS
from anabranch.settings import Settings

Announce: TypeAlias = Callable[[str], object]
"""Receives a few words about the next measurement."""

PRESETS = ("alphazero", "mcgs-combined")
VARIANTS = ("chess", "crazyhouse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Simulations and numbers of positions, per variant; by default those behind figures that are quoted."""

    speed: tuple[tuple[int, int], ...] = ((10**5, 12), (10**6, 2))
    """Simulations, and the number of positions measured with so many."""
    speed_repeats: int = 2
    """Times each of them is measured; the best time of each part counts."""
    threads_evaluations: int = 100_000
    threads_positions: int = 3
    memory_simulations: int = 10**5
    memory_positions: int = 4
    growth_simulations: tuple[int, ...] = (10**4, 10**5, 10**6)
    growth_positions: int = 2
    border_simulations: int = 20_000
    border_positions: int = 3
    network_evaluations: int = 50_000
    network_positions: int = 6
    network_seconds: float = 0.5
    repeats: int = 5
    """Times that two things are measured in turn."""

    @classmethod
    def quick(cls) -> Self:
        """A workload of some seconds."""
        return cls(
            speed=((10**4, 2),),
            speed_repeats=2,
            threads_evaluations=5_000,
            threads_positions=1,
            memory_simulations=10**4,
            memory_positions=1,
            growth_simulations=(10**3, 10**4),
            growth_positions=1,
            border_simulations=5_000,
            border_positions=1,
            network_evaluations=3_000,
            network_positions=1,
            network_seconds=0.05,
            repeats=3,
        )


def positions(variant: str, number: int) -> tuple[str, ...]:
    """The first positions of a variant (FEN)."""
    return POSITIONS[variant][:number]


def session(
    variant: str, position: str, preset: str, *, external: bool = False, **changes: object
) -> _core.Session:
    """A session of the core at a position, with an empty graph."""
    settings = Settings.preset(preset).changed(changes)
    made = _core.Session(variant, False, asdict(settings), external)
    made.set_position(position, [])
    return made
