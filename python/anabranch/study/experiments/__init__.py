"""The experiments, by name: those of the paper first, then ours. Experiments of one form share a file."""

from __future__ import annotations

from anabranch.errors import StudyError
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.bars import BARS
from anabranch.study.experiments.games import GAMES_EXPERIMENT
from anabranch.study.experiments.gumbel import GUMBEL
from anabranch.study.experiments.leak import LEAK
from anabranch.study.experiments.memory import MEMORY
from anabranch.study.experiments.moves import MOVES
from anabranch.study.experiments.only_moves import ONLY_MOVES
from anabranch.study.experiments.proofs import PROOFS
from anabranch.study.experiments.regret import REGRET
from anabranch.study.experiments.reuse import REUSE
from anabranch.study.experiments.scaling import SCALING
from anabranch.study.experiments.solvers import SOLVERS
from anabranch.study.experiments.tree import MCGS_VS_TREE
from anabranch.study.experiments.ucd import UCD

_PAPER = (MCGS_VS_TREE, SCALING, BARS["ablation"], MEMORY, REUSE)
_OURS = (
    *(BARS[name] for name in ("settings", "leave-one-out", "backups", "merge", "virtual", "q-epsilon")),
    *(BARS[name] for name in ("dose", "width", "tuning")),
    MOVES,
    LEAK,
    PROOFS,
    REGRET,
    ONLY_MOVES,
    GAMES_EXPERIMENT,
    UCD,
    SOLVERS,
    GUMBEL,
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in (*_PAPER, *_OURS)}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    >>> find_experiment("ablation").of_paper
    True
    """
    if name not in EXPERIMENTS:
        raise StudyError(f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
