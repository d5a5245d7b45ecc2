"""The plan of a run: all that decides what comes out, as one plain record that is stored in its folder.

Two runs with equal plans give the same networks on the same machine, however often they were interrupted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from anabranch.catalogue import base_name, is_grid
from anabranch.errors import SelfPlayError
from anabranch.evaluators.resolve import network_file
from anabranch.named_games import is_reference
from anabranch.networks.sparse import SUFFIX, open_sparse

TARGETS = ("auto", "visits", "completed-q")
NETWORKS = ("sparse", "conv")
OPENINGS = ("random", "policy")
LEARNED = ("chess", "crazyhouse")
"""Variants of chess that have networks to train."""
BACKUPS = ("tree", "tree+cache", "naive", "paper", "delta", "recompute")


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """What is played and learned, and how."""

    game: str
    seed: int = 1
    """Seed of games, weights and order."""
    network: str = "sparse"
    """sparse (in the core; ONNX for games written in Python) or conv (ONNX)."""
    initial: str | None = None
    """Network to begin with, a file or 'network' for that of the package.  [default: from nothing, the first
    games with random playouts, in chess and its variants by counted material]"""
    data: tuple[str, ...] = ()
    """Folder with shards of 'anabranch data' to learn from beside the games; may be repeated (chess and its
    variants)."""
    data_share: float = 0.5
    """Share of the positions of a step that come from those shards."""

    games: int = 512
    """Games of a generation."""
    evaluations: int = 64
    """Evaluations of a full search, in the first generation."""
    last_evaluations: int = 256
    """Evaluations of a full search at the end of the growth."""
    growth: int = 8
    """Generations over which the evaluations grow."""
    cheap_share: float = 0.25
    """Evaluations of a cheap search, as a share of those of a full one."""
    full_share: float = 0.5
    """Share of the moves that get a full search and are recorded."""
    backup: str = "recompute"
    """The backup of the searches for data: tree, tree+cache, naive, paper, delta or recompute."""
    c_init: float = 1.5
    """Exploration in PUCT."""
    noise: float = 0.25
    """Weight of the Dirichlet noise in full searches; cheap ones have none."""
    alpha: float = 1.0
    """Shape of the Dirichlet noise: alpha = this times 10 / the number of moves that is usual in the game."""
    random_plies: int = 8
    """Most plies at the start of a game without a search; each game draws its number."""
    opening: str = "random"
    """How they are drawn: random (uniformly) or policy (by the network's policy)."""
    temperature: float = 1.0
    """Temperature of the moves of the first plies."""
    temperature_plies: int = 12
    """Plies with that temperature; later moves have a quarter of it."""
    simulations: float = 4.0
    """Most simulations of a search, as a multiple of its evaluations."""
    longest: int = 500
    """Plies after which a game is a draw."""

    target: str = "auto"
    """Policy target: visits, completed-q, or auto (completed-q up to 64 evaluations)."""
    result_share: float = 0.3
    """Share of the game's result in the value target; the rest is the value of the root."""
    surprise: float = 0.5
    """Share of the weights of the window that goes to positions where the search changed the policy."""
    proofs: bool = True
    """Solved positions have their exact result, and the policy target on moves that are proven best."""
    harvest: int = 8
    """Proven positions of its last graph that a game adds, with their exact value and no policy."""
    symmetries: bool = True
    """Every position is trained on in a random one of its symmetric forms."""
    merge: bool = True
    """Equal positions of the window are averaged, with weight log2(n) + 1."""

    window: int = 100_000
    """Positions of the smallest window; it grows as a power of all positions."""
    window_power: float = 0.75
    """Exponent of that growth."""
    reuse: float = 8.0
    """Positions trained on for each new one."""
    least_steps: int = 200
    """Fewest steps of a generation."""
    batch: int = 1024
    """Positions in a step."""
    rate: float = 2e-3
    """Learning rate."""
    last_rate: float = 0.1
    """Share of it that is left at the end of the generations over which it falls."""
    anneal: int = 30
    """Generations over which the rate falls."""
    decay: float = 1.0
    """Weight decay."""
    average: float = 0.98
    """The network has the mean of the weights of the last steps: what is left of it after each of them."""
    policy_width: int = 128
    """Units of the policy (sparse)."""
    value_width: int = 128
    """Units of the value (sparse)."""
    channels: int = 32
    """Channels (conv)."""
    blocks: int = 3
    """Residual blocks (conv)."""

    gate: bool = True
    """A network plays for data only if a match with its predecessor does not show it to be weaker (SPRT)."""
    gate_pairs: int = 40
    """Most pairs of that match."""
    gate_evaluations: int = 64
    """Evaluations of a move in matches."""
    gate_elo: float = 30.0
    """The test decides between this many Elo worse and equal strength."""
    outsiders: tuple[str, ...] = ("rollout", "first")
    """What every network plays for its Elo: evaluators, uci:COMMAND,nodes=N in chess and its variants, and
    first, the network that the run began with or that of the first generation; may be repeated."""
    outsider_pairs: int = 10
    """Pairs against each of them."""
    outsider_factor: float = 4.0
    """Evaluations of the outsiders for each one of the network; first has as many as it."""

    def check(self) -> None:
        """Refuse values that make no sense."""
        words = (("network", NETWORKS), ("target", TARGETS), ("backup", BACKUPS), ("opening", OPENINGS))
        for name, choices in words:
            if getattr(self, name) not in choices:
                raise SelfPlayError(f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}")
        self._check_game()
        for name in (
            "data_share",
            "cheap_share",
            "full_share",
            "noise",
            "result_share",
            "surprise",
            "last_rate",
            "average",
        ):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SelfPlayError(f"{name} is a share between 0 and 1, not {getattr(self, name)}")
        least = {"games": 1, "evaluations": 2, "last_evaluations": 2, "growth": 0, "longest": 1, "batch": 1}
        least |= {"random_plies": 0, "temperature_plies": 0, "window": 1, "anneal": 0, "gate_pairs": 1}
        least |= {"gate_evaluations": 1, "outsider_pairs": 0, "channels": 1, "blocks": 0, "seed": 0}
        least |= {"harvest": 0, "least_steps": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise SelfPlayError(f"{name} must be at least {bound}, not {getattr(self, name)}")
        for name in (
            "full_share",
            "alpha",
            "rate",
            "reuse",
            "window_power",
            "outsider_factor",
            "gate_elo",
            "simulations",
        ):
            if not getattr(self, name) > 0.0:
                raise SelfPlayError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("temperature", "decay", "c_init"):
            if not getattr(self, name) >= 0.0:
                raise SelfPlayError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("policy_width", "value_width"):
            width = getattr(self, name)
            if not 32 <= width <= 4096 or width % 32:
                raise SelfPlayError(f"{name} is a multiple of 32 up to 4096, not {width}")

    def _check_game(self) -> None:
        if self.network == "conv" and self.initial is not None:
            raise SelfPlayError("a run with a conv network begins from nothing, without an initial network")
        if is_grid(self.game):
            if self.data:
                raise SelfPlayError(f"shards have positions of chess and its variants, not of {self.game}")
            if is_reference(self.game) and self.initial is not None:
                raise SelfPlayError(f"a run of a game written in Python begins from nothing: {self.game}")
            return
        if self.game not in LEARNED:
            known = f"{' and '.join(LEARNED)} and the games of 'anabranch games'"
            raise SelfPlayError(f"there are networks to train for {known}, not for {self.game}")
        if self.network != "sparse":
            raise SelfPlayError(f"in {self.game} self-play trains a sparse network, not {self.network}")

    @property
    def network_name(self) -> str:
        """The name of the network files of a run."""
        is_inside = self.network == "sparse" and not is_reference(self.game)
        return "network.safetensors" if is_inside else "network.onnx"

    def as_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return asdict(self)

    def changed(self, **changes: Any) -> LoopPlan:
        """A plan like this one but for some values."""
        return replace(self, **changes)


USUAL: dict[str, dict[str, Any]] = {
    "connect-four": {
        "games": 1600,
        "evaluations": 96,
        "last_evaluations": 320,
        "growth": 12,
        "random_plies": 14,
        "temperature_plies": 16,
        "gate_pairs": 24,
        "outsider_pairs": 6,
    },
    "tic-tac-toe": {"games": 128, "random_plies": 4, "temperature_plies": 4, "window": 5_000},
    "hex": {"random_plies": 4},
    "othello": {"random_plies": 8, "temperature_plies": 20},
    "go": {"random_plies": 4, "longest": 200},
    "chess": {
        "games": 1000,
        "evaluations": 128,
        "last_evaluations": 400,
        "growth": 10,
        "full_share": 0.25,
        "random_plies": 12,
        "opening": "policy",
        "temperature_plies": 20,
        "longest": 300,
        "harvest": 2,
        "window": 400_000,
        "batch": 4096,
        "rate": 1e-3,
        "decay": 0.01,
        "policy_width": 512,
        "value_width": 512,
        "gate_pairs": 100,
        "gate_evaluations": 128,
        "gate_elo": 20.0,
        "outsiders": ("first",),
        "outsider_pairs": 40,
    },
}
"""What goes better with a game than the defaults of `LoopPlan`."""
USUAL["crazyhouse"] = USUAL["chess"]


def usual_of(game: str) -> dict[str, Any]:
    """What goes better with a game than the defaults; nothing for a game written in Python."""
    return {} if is_reference(game) else USUAL.get(base_name(game), {})


def plan_of(game: str, **changes: Any) -> LoopPlan:
    """The usual plan of a game, with changes. A network to begin with has its own widths.

    >>> plan_of("connect-four", games=10).random_plies
    14
    """
    widths = _widths(changes.get("initial"), game)
    plan = LoopPlan(**{"game": game, **usual_of(game), **widths, **changes})
    plan.check()
    for name, width in widths.items():
        if getattr(plan, name) != width:
            raise SelfPlayError(f"{name} is {width} in {plan.initial}, not {getattr(plan, name)}")
    if not widths and plan.initial is not None and plan.network == "sparse":
        raise SelfPlayError(f"a sparse network begins from one of its own kind, not from {plan.initial}")
    return plan


def _widths(initial: str | None, game: str) -> dict[str, int]:
    """The widths of the network to begin with, where it is one of the core."""
    file = None if initial is None else network_file(initial, game)
    if file is None or file.suffix != SUFFIX:
        return {}
    policy, value = open_sparse(file).widths
    return {"policy_width": policy, "value_width": value}


def read_plan(content: dict[str, Any]) -> LoopPlan:
    """The plan that a folder stores."""
    known = {field.name for field in fields(LoopPlan)}
    if strange := [name for name in content if name not in known]:
        raise SelfPlayError(f"the plan is of another version of anabranch: it has {strange[0]!r}")
    plan = LoopPlan(**content)
    plan = plan.changed(outsiders=tuple(plan.outsiders), data=tuple(plan.data))
    plan.check()
    return plan
