"""The settings of a search, as a typed mirror of the core's table.

The core owns names, ranges and meanings, and checks every value; this file gives them types and defaults
that tools can read. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Self

from anabranch import _core

Urgency = Literal["fixed", "reduction"]
Selection = Literal["puct", "ucb1", "improved"]
SolverRule = Literal["exact-win-2", "exact-win", "mcts-solver"]
Backup = Literal["tree", "tree+cache", "naive", "paper", "delta", "recompute", "all"]
Stop = Literal["gap", "visits", "none"]
Merge = Literal["ply", "clock"]
Chooser = Literal["visits", "q", "linear", "lcb", "secure"]
VirtualMode = Literal["loss", "visit"]
BuiltIn = Literal["uniform", "material", "hash", "rollout", "network"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every constant of the search. Making one checks all of it.

    >>> Settings(q_epsilon=0.02).q_epsilon
    0.02
    >>> Settings.preset("alphazero").backup
    'tree'
    >>> Settings(batch_size=0)
    Traceback (most recent call last):
        ...
    anabranch.errors.SettingError: setting 'batch_size' takes a whole number from 1 to 4096, not 0
    """

    selection: Selection = "puct"
    """By what moves are chosen inside the search: PUCT, UCB1 without priors, or the improved policy."""
    c_init: float = 2.5
    """Weight of exploration in PUCT, Eq. (6)."""
    c_base: float = 19652.0
    """Visits after which the weight of exploration begins to grow, Eq. (6)."""
    c_ucb: float = 1.4
    """Weight of exploration with selection = ucb1, Eq. (2)."""
    ucd_value: int = 0
    """Depth below an edge from which UCD takes its mean, with selection = ucb1; 255: infinite."""
    ucd_parent: int = 0
    """Depth below its edges from which UCD takes the visits of a node; 255: infinite."""
    ucd_visits: int = 0
    """Depth below an edge from which UCD takes its visits; 255: infinite."""
    q_init: float = -1.0
    """Value of an unvisited move when urgency is fixed."""
    urgency: Urgency = "reduction"
    """Value of unvisited moves: fixed at q_init, or the node's value less a reduction."""
    urgency_reduction: float = 0.3
    """Reduction per square root of visited prior, with urgency = reduction."""
    table_values: bool = False
    """Unvisited moves whose child is in the graph take its value; slow: it computes every child's key."""
    node_temperature: float = 1.0
    """Flattens (above 1) or sharpens the priors of every node."""
    value_min: float = -1.0
    """Lower end of the value range, Eq. (10)."""
    value_max: float = 1.0
    """Upper end of the value range, Eq. (10)."""
    backup: Backup = "paper"
    """How values travel up: trees, merged without correction, the paper's correction, or three more."""
    stop: Stop = "gap"
    """When a trajectory ends at a transposition node without an evaluation."""
    q_epsilon: float = 0.01
    """Gap between edge and node above which a trajectory stops, Eq. (8)."""
    merge: Merge = "ply"
    """Positions are one node at equal ply (the paper), or at equal reversible-move clock."""
    contempt: float = 0.0
    """What a draw costs the side to move at the root, and gives the other side."""
    solver: bool = True
    """The exact terminal solver, Algorithm 3."""
    solver_rule: SolverRule = "exact-win-2"
    """How proofs go up: to all parents (the paper), or up the trajectory, with draws or without."""
    skip_draws: bool = False
    """Selection leaves out moves that are proven draws while there is another: proofs come sooner."""
    improve: bool = False
    """After the root is solved, look for the shortest proof; then the length is the true distance."""
    mate_leaf: int = 0
    """Positions of the search for a mate at a new leaf; 0 leaves it out."""
    mate_leaf_value: float = 0.0
    """Evaluation for the side to move from which on a leaf is searched for a mate."""
    mate_growth: float = 0.0
    """Positions per visit and squared score of the search for a mate, each time a node's visits double."""
    mate_start: int = 32
    """Visits of a node at its first search for a mate."""
    mate_root: float = 0.3
    """Positions per visit of the search for a mate at the root, and after the move to play."""
    pn_weight: float = 0.0
    """Weight of the proof numbers in selection; 0 leaves them out."""
    epsilon_greedy: float = 0.01
    """Share of simulations that explore the next unvisited move on a disconnected trajectory."""
    epsilon_checks: float = 0.01
    """Share of simulations that explore unvisited checks first."""
    epsilon_captures: float = 0.0
    """Share of simulations that explore unvisited captures first."""
    epsilon_threats: float = 0.0
    """Share of simulations that explore unvisited threats first."""
    dirichlet_epsilon: float = 0.0
    """Weight of Dirichlet noise in the root's priors."""
    dirichlet_alpha: float = 0.3
    """Shape of the Dirichlet noise."""
    gumbel: bool = False
    """The root by sequential halving over moves drawn with Gumbel noise, which also choose the move."""
    gumbel_considered: int = 16
    """Moves of the root that the first halving considers."""
    gumbel_scale: float = 1.0
    """Weight of the Gumbel noise; 0 makes the root deterministic."""
    c_visit: float = 50.0
    """Visits added to the weight of values in the improved policy."""
    c_scale: float = 1.0
    """Weight of values in the improved policy."""
    chooser: Chooser = "q"
    """How the move is chosen: visits, Q-value correction, linear mix, lower bounds of two kinds."""
    q_weight: float = 2.0
    """Weight of the Q-value correction in move choice, Eq. (15)."""
    linear_weight: float = 0.7
    """Share of the values in the linear mix of move choice."""
    bound_width: float = 1.96
    """Standard errors below the mean in the lower confidence bound."""
    secure_weight: float = 1.0
    """What a single visit costs in the choice of the secure child."""
    temperature: float = 0.0
    """Temperature of move choice; 0 takes the best."""
    virtual_mode: VirtualMode = "visit"
    """How trajectories in flight look to the next one: as losses or as visits only."""
    virtual_loss: float = 1.0
    """Size of a virtual loss."""
    batch_size: int = 512
    """Evaluations in a mini-batch."""
    batches_in_flight: int = 2
    """Mini-batches under way at once: one is collected while the other is evaluated."""
    width_visits: int = 1024
    """Visits of the root for each leaf in flight beyond the first; 0 means no bound."""
    width_linear: int = 16
    """Leaves in flight beyond the first from which on they grow as the square root of visits; 0: never."""
    wave_least: int = 4
    """Fewest visits that go down the graph together, as a wave; fewer go one by one. 0: never together."""
    batch_collisions: int = 16
    """Collisions after which a mini-batch is closed."""
    batch_stops: int = 256
    """Stops at transpositions after which a mini-batch is closed."""
    batch_terminals: int = 32
    """Exact ends after which a mini-batch is closed."""
    idle_collections: int = 128
    """Collections in a row without an evaluation after which the search ends."""
    threads: int = 1
    """Threads that search and evaluate; the graph does not depend on it."""
    seed: int = 0
    """Seed of the random source."""
    memory: int = 2 << 30
    """Hard cap of the graph in bytes."""
    reuse: bool = True
    """Keep the part of the graph below a move that was played."""
    tablebase_men: int = 7
    """Most men of a position that is looked up in the tablebases; 0 leaves them aside."""
    tablebase_fifty: bool = True
    """Tablebase wins that the 50-move rule spoils are draws; without it they are wins."""
    evaluator: BuiltIn = "material"
    """The evaluator in the core; network where a file was given."""
    hash_cost_us: int = 0
    """Artificial cost of the hash evaluator in microseconds."""
    rollouts: int = 1
    """Random playouts of an evaluation by the evaluator rollout."""

    def __post_init__(self) -> None:
        for name, value in _core.check_settings(self.to_dict()).items():
            object.__setattr__(self, name, value)

    @classmethod
    @cache
    def preset(cls, name: str) -> Self:
        """The settings of a preset; `presets` has the names.

        >>> Settings.preset("alphazero").backup
        'tree'
        """
        return cls().changed(_core.preset(name))

    def to_dict(self) -> dict[str, bool | int | float | str]:
        """All settings by name. They are plain values, so nothing is copied, as `dataclasses.asdict` does.

        >>> Settings(q_epsilon=0.02).to_dict()["q_epsilon"]
        0.02
        """
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def changed(self, changes: Mapping[str, object]) -> Self:
        """These settings with others in place of some, by name; words are read as on the command line.

        >>> Settings().changed({"solver": "off"}).solver
        False
        >>> Settings().changed({"bacth_size": 8})
        Traceback (most recent call last):
            ...
        anabranch.errors.SettingError: there is no setting 'bacth_size'; ... (did you mean 'batch_size'?)
        """
        return replace(self, **_core.check_settings({**self.to_dict(), **changes}))


@dataclass(frozen=True, slots=True)
class SettingRow:
    """The description of a setting, from the core."""

    name: str
    symbol: str
    """Symbol in the paper, or nothing."""
    default: bool | int | float | str
    range: str
    """What it takes, in words."""
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    meaning: str


def settings_table() -> tuple[SettingRow, ...]:
    """All settings, in the order in which people should read them.

    >>> settings_table()[0].name
    'selection'
    """
    return tuple(SettingRow(**{**row, "choices": tuple(row["choices"])}) for row in _core.settings_table())


def presets() -> tuple[str, ...]:
    """The names of the presets.

    >>> "mcgs-combined" in presets()
    True
    """
    return tuple(_core.presets())


def variants() -> tuple[str, ...]:
    """The names of the variants.

    >>> variants()[:2]
    ('chess', 'crazyhouse')
    """
    return tuple(_core.variants())
