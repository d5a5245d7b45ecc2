"""Every constant of a search, and the presets of the paper's experiments.

The names are those of the core's settings; the defaults are the paper's table of hyperparameters. What a
constant does stands where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Constraint = Literal["greedy", "checks", "captures", "threats"]


@dataclass(frozen=True)
class ReferenceSettings:
    """Every constant of a search; the defaults are AlphaZero* of the paper's table, nothing added."""

    selection: Literal["puct", "ucb1", "improved"] = "puct"
    c_init: float = 2.5
    c_base: float = 19652.0
    c_ucb: float = 1.4
    ucd_value: int = 0
    ucd_parent: int = 0
    ucd_visits: int = 0
    q_init: float = -1.0
    urgency: Literal["fixed", "reduction"] = "fixed"
    urgency_reduction: float = 0.25
    table_values: bool = False
    node_temperature: float = 1.7
    virtual_mode: Literal["loss", "visit"] = "loss"
    virtual_loss: float = 1.0
    backup: Literal["tree", "tree+cache", "naive", "paper", "delta", "recompute", "all"] = "tree"
    stop: Literal["gap", "visits", "none"] = "gap"
    q_epsilon: float = 0.01
    value_min: float = -1.0
    value_max: float = 1.0
    contempt: float = 0.0
    merge: Literal["ply", "clock"] = "ply"
    solver: bool = False
    solver_rule: Literal["exact-win-2", "exact-win", "mcts-solver"] = "exact-win-2"
    skip_draws: bool = False
    mate_leaf: int = 0
    mate_leaf_value: float = 0.0
    mate_growth: float = 0.0
    mate_start: int = 32
    mate_root: float = 0.0
    pn_weight: float = 0.0
    epsilon_greedy: float = 0.0
    epsilon_checks: float = 0.0
    epsilon_captures: float = 0.0
    epsilon_threats: float = 0.0
    dirichlet_epsilon: float = 0.0
    dirichlet_alpha: float = 0.2
    gumbel: bool = False
    gumbel_considered: int = 16
    gumbel_scale: float = 1.0
    c_visit: float = 50.0
    c_scale: float = 1.0
    chooser: Literal["visits", "q", "linear", "lcb", "secure"] = "visits"
    q_weight: float = 2.0
    secure_weight: float = 1.0
    temperature: float = 0.0
    batch_size: int = 16
    batches_in_flight: int = 2
    width_visits: int = 0
    width_linear: int = 0
    wave_least: int = 0
    batch_collisions: int = 16
    batch_stops: int = 256
    batch_terminals: int = 32
    idle_collections: int = 128
    seed: int = 0

    @property
    def merges(self) -> bool:
        """Whether equal positions share one node."""
        return self.backup not in ("tree", "tree+cache")

    @property
    def allows_waves(self) -> bool:
        """Whether visits may go down together: a wave knows what selection, backup and proofs need."""
        return (
            self.selection == "puct"
            and self.backup != "all"
            and self.solver_rule == "exact-win-2"
            and not self.gumbel
            and not (self.table_values and self.merges)
        )

    @property
    def corrects(self) -> bool:
        """Whether the backup pulls the edge of a transposition node onto its target."""
        return self.backup in ("paper", "delta")

    @property
    def explorations(self) -> tuple[tuple[Constraint, float], ...]:
        """The four kinds of exploration with their probabilities, in the order in which they are drawn."""
        return (
            ("greedy", self.epsilon_greedy),
            ("checks", self.epsilon_checks),
            ("captures", self.epsilon_captures),
            ("threats", self.epsilon_threats),
        )


UCT = ReferenceSettings(
    selection="ucb1", node_temperature=1.0, virtual_mode="visit", batch_size=1, batches_in_flight=1
)
PRESETS: dict[str, ReferenceSettings] = {
    "alphazero": ReferenceSettings(),
    "alphazero+cache": ReferenceSettings(backup="tree+cache"),
    "alphazero+solver": ReferenceSettings(solver=True),
    "alphazero+epsilon": ReferenceSettings(epsilon_greedy=0.01),
    "alphazero+qmove": ReferenceSettings(chooser="q"),
    "alphazero+checks": ReferenceSettings(epsilon_checks=0.01),
    "mcgs": ReferenceSettings(backup="paper"),
    "mcgs-combined": ReferenceSettings(
        backup="paper", solver=True, epsilon_greedy=0.01, epsilon_checks=0.01, chooser="q"
    ),
    "gumbel": ReferenceSettings(
        selection="improved", gumbel=True, node_temperature=1.0, virtual_mode="visit", batches_in_flight=1
    ),
    "uct": UCT,
    "uct+solver": replace(UCT, solver=True, solver_rule="mcts-solver", chooser="secure"),
    "ucd": replace(UCT, backup="naive", stop="none", ucd_value=1, ucd_parent=1, ucd_visits=1),
    "update-all": replace(UCT, backup="all", stop="none"),
}
