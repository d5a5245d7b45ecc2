"""What a search collects and counts: the trajectories of a mini-batch, and counters."""

from __future__ import annotations

from dataclasses import dataclass, field

from anabranch.reference.graph import MergeKey
from anabranch.reference.path import Trajectory


@dataclass
class MiniBatch:
    """Trajectories that wait for evaluations, and what else their collection met."""

    most_in_flight: int  # batches, this one included
    leaves: list[Trajectory] = field(default_factory=list)
    keys: set[MergeKey] = field(default_factory=set)
    evaluations: int = 0
    collisions: int = 0
    stops: int = 0
    terminals: int = 0
    waves: int = 0


@dataclass
class ReferenceStatistics:
    """Counters over the life of a search."""

    simulations: int = 0
    evaluations: int = 0
    transposition_links: int = 0
    corrections: int = 0
    stops: int = 0
    collisions: int = 0
    explorations: int = 0
    path_draws: int = 0
    terminals: int = 0
