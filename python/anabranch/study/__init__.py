"""The study: experiments of the paper and of ours, at any scale."""

from anabranch.study.experiments import EXPERIMENTS
from anabranch.study.pool import pool
from anabranch.study.report import build_report
from anabranch.study.run import run_study
from anabranch.study.summary import read_summary, summarise

__all__ = ["EXPERIMENTS", "build_report", "pool", "read_summary", "run_study", "summarise"]
