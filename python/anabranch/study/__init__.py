"""The study: experiments of the paper and of ours, at any scale."""

from anabranch.study.experiment import Experiment
from anabranch.study.experiments import EXPERIMENTS, find_experiment
from anabranch.study.plan import Measurement, Plan, Size, Study, StudyMatch
from anabranch.study.report import build_report
from anabranch.study.run import run_study
from anabranch.study.summary import read_summary, summarise

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Measurement",
    "Plan",
    "Size",
    "Study",
    "StudyMatch",
    "build_report",
    "find_experiment",
    "read_summary",
    "run_study",
    "summarise",
]
