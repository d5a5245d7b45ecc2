"""The study: the experiments of the paper and some of ours, as recipes that run at any scale."""

from anabranch.study.plan import Contest, Measurement, Plan, Recipe, Size, Study
from anabranch.study.recipes import RECIPES, find_recipe
from anabranch.study.report import build_report
from anabranch.study.run import run_study
from anabranch.study.summary import read_summary, summarise

__all__ = [
    "RECIPES",
    "Contest",
    "Measurement",
    "Plan",
    "Recipe",
    "Size",
    "Study",
    "build_report",
    "find_recipe",
    "read_summary",
    "run_study",
    "summarise",
]
