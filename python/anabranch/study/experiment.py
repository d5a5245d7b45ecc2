"""An experiment: planned at a scale, and shown from the results of its study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.errors import StudyError
from anabranch.study.figures import Figures
from anabranch.study.folder import StudyResults
from anabranch.study.plan import Plan, Size, Study


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment: its question, its sizes, its plan, and how its results are shown."""

    name: str
    title: str
    question: str
    """A sentence or two."""
    sizes: Mapping[str, Size]
    """By the name of the scale."""
    plan: Callable[[Study], Plan]
    show: Callable[[StudyResults], Figures]
    of_paper: bool = False
    """Whether it is an experiment of the paper."""

    def study(self, scale: str = "small", **changes: Any) -> Study:
        """This experiment at a scale."""
        if scale not in self.sizes:
            raise StudyError(f"there is no scale {scale}; there are {', '.join(self.sizes)}")
        return replace(Study(self.name, scale, self.sizes[scale]), **changes)
