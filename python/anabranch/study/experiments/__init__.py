"""The recipes, by name: the experiments of the paper first, then ours. Those that are alike share a file."""

from __future__ import annotations

from anabranch.errors import StudyError
from anabranch.study.plan import Recipe
from anabranch.study.recipes.bars import BARS
from anabranch.study.recipes.leak import LEAK
from anabranch.study.recipes.memory import MEMORY
from anabranch.study.recipes.only_moves import ONLY_MOVES
from anabranch.study.recipes.proofs import PROOFS
from anabranch.study.recipes.regret import REGRET
from anabranch.study.recipes.reuse import REUSE
from anabranch.study.recipes.scaling import SCALING
from anabranch.study.recipes.tree import MCGS_VS_TREE

_ORDER = (MCGS_VS_TREE, SCALING, BARS["ablation"], MEMORY, REUSE)
_OURS = (
    *(BARS[name] for name in ("settings", "leave-one-out", "backups", "merge", "virtual", "q-epsilon")),
    LEAK,
    PROOFS,
    REGRET,
    ONLY_MOVES,
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (*_ORDER, *_OURS)}


def find_recipe(name: str) -> Recipe:
    """The recipe of that name.

    >>> find_recipe("ablation").of_paper
    True
    """
    if name not in RECIPES:
        raise StudyError(f"there is no recipe {name}; there are {', '.join(RECIPES)}")
    return RECIPES[name]
