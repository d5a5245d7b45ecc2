"""Learning of games of rows: features of their states, in a random one of their symmetric forms."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from anabranch.errors import TrainingError
from anabranch.rows import RowsAdapter, States
from anabranch.selfplay.learn_grid import grid_loss
from anabranch.selfplay.learner import Learner, StepLoss, drawn_rows
from anabranch.selfplay.plan import LoopPlan
from anabranch.selfplay.records import GridSamples, PlaySamples
from anabranch.selfplay.rows_records import game_of_rows
from anabranch.selfplay.window import comes_before, merged, moved
from anabranch.train.grid_onnx import write_grid_onnx
from anabranch.train.loop import make_optimiser
from anabranch.train.rows import build_rows, inputs_of_rows


class RowsLearner(Learner):
    """A network over the features of a game of rows."""

    def __init__(self, plan: LoopPlan) -> None:
        self._plan = plan
        self._adapter = game_of_rows(plan.game)
        self.network = build_rows(
            inputs_of_rows(self._adapter), plan.network, plan.seed, policy_width=plan.policy_width,
            value_width=plan.value_width, channels=plan.channels, blocks=plan.blocks,
        )  # fmt: skip
        self.optimiser = make_optimiser(self.network, plan.rate, plan.decay)
        self._has_forms = plan.symmetries and callable(getattr(self._adapter.game, "symmetries", None))

    def load_initial(self, path: Path) -> None:
        """Refuse: an ONNX file has no weights to go on from."""
        raise TrainingError(f"a network of a game of rows begins from nothing, not from {path}")

    def merged(self, window: PlaySamples) -> GridSamples:
        """Equal positions once, symmetric ones too."""
        assert isinstance(window, GridSamples)
        if not self._plan.merge:
            return window
        return merged(canonical_rows(window, self._adapter) if self._has_forms else window)

    def losses(self, data: PlaySamples, steps: int, source: np.random.Generator) -> Generator[StepLoss]:
        """The losses of each step."""
        assert isinstance(data, GridSamples)
        for rows in drawn_rows(data.weight, self._plan.batch, steps, source):
            part = data.take(rows)
            if self._has_forms:
                part = _any_form(part, self._adapter, source)
            planes = self._adapter.planes(_states(part, self._adapter))
            wdl, logits = self.network(torch.from_numpy(planes))
            yield grid_loss(self._plan, part, logits, wdl)

    def write(self, path: Path, about: dict[str, str], data: PlaySamples) -> None:
        """Write the network to a file."""
        write_grid_onnx(path, self.network, about)


class _Form(NamedTuple):
    """A symmetric form of states."""

    cells: NDArray[np.uint8]
    """[B, bytes]: the states."""
    places: NDArray[np.int64]
    """New policies are `policy[..., places]`."""


def _states(samples: GridSamples, adapter: RowsAdapter) -> States:
    return adapter.states(np.ascontiguousarray(samples.cells).tobytes())


def _forms(samples: GridSamples, adapter: RowsAdapter) -> list[_Form]:
    """All symmetric forms, the states themselves first."""
    forms = [_Form(samples.cells, np.arange(samples.policy.shape[1]))]
    for states, actions in adapter.game.symmetries(_states(samples, adapter)):
        cells = np.frombuffer(np.ascontiguousarray(states).tobytes(), np.uint8).reshape(samples.cells.shape)
        forms.append(_Form(cells, np.argsort(np.asarray(actions))))
    return forms


def _chosen(samples: GridSamples, forms: list[_Form], choice: NDArray[np.int64]) -> GridSamples:
    """Each position in the form that `choice` [B] names."""
    cells = np.stack([form.cells for form in forms])[choice, np.arange(len(samples))]
    places = np.stack([form.places for form in forms])[choice]
    return moved(samples, cells, places)


def _any_form(samples: GridSamples, adapter: RowsAdapter, source: np.random.Generator) -> GridSamples:
    """Each position in a random one of its forms."""
    forms = _forms(samples, adapter)
    return _chosen(samples, forms, source.integers(len(forms), size=len(samples)))


def canonical_rows(samples: GridSamples, adapter: RowsAdapter) -> GridSamples:
    """Every position in that of its symmetric forms whose bytes come first in order."""
    if len(samples) == 0:
        return samples
    forms = _forms(samples, adapter)
    best, choice = samples.cells, np.zeros(len(samples), np.int64)
    for number, form in enumerate(forms[1:], start=1):
        smaller = comes_before(form.cells, best)
        best = np.where(smaller[:, None], form.cells, best)
        choice[smaller] = number
    return _chosen(samples, forms, choice)
