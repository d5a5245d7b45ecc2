"""The journal of a run: one JSON line per event in metrics.jsonl, TensorBoard where it is installed, curves
at the end.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anabranch.errors import TrainingError
from anabranch.jobs.files import replacing, write_atomic
from anabranch.jobs.journal import Journal, JournalFormat

FILE = "metrics.jsonl"
EVENTS = JournalFormat[tuple[str, int], dict[str, Any]](
    "an event of training",
    lambda event: ((event["kind"], int(event["step"])), event),
    lambda key, event: event,
    TrainingError,
)


class TrainingJournal:
    """Takes events of kind `train` and `validation`."""

    def __init__(self, journal: Journal[tuple[str, int], dict[str, Any]], board: Any) -> None:
        self._journal = journal
        self._board = board

    def write(self, kind: str, step: int, **numbers: float) -> None:
        """Add an event."""
        rounded = {name: float(f"{number:.6g}") for name, number in numbers.items()}
        self._journal.add((kind, step), {"kind": kind, "step": step} | rounded)
        if self._board is not None:
            for name, number in numbers.items():
                self._board.add_scalar(f"{kind}/{name}", number, step)


@contextmanager
def open_journal(folder: Path, step: int) -> Iterator[TrainingJournal]:
    """The journal of a run that goes on from the checkpoint of a step. Later events are dropped."""
    path = folder / FILE
    kept = [event for (_, at), event in EVENTS.read(path).items() if at <= step]
    write_atomic(path, "".join(f"{json.dumps(event)}\n" for event in kept))
    board: Any = None
    if importlib.util.find_spec("tensorboard") is not None:
        from torch.utils.tensorboard import SummaryWriter

        board = SummaryWriter(str(folder / "tensorboard"), purge_step=step)
    try:
        with EVENTS.open(path) as journal:
            yield TrainingJournal(journal, board)
    finally:
        if board is not None:
            board.close()


def draw_curves(folder: Path) -> Path | None:
    """Draw the curves of a run to curves.png, where Matplotlib is installed."""
    events = list(EVENTS.read(folder / FILE).values())
    if not events or importlib.util.find_spec("matplotlib") is None:
        return None
    from matplotlib.figure import Figure

    panels = [
        ("policy loss", "policy_loss"),
        ("value loss", "value_loss"),
        ("policy, first move", "top1"),
        ("policy, first three", "top3"),
        ("value correlation, undecided", "undecided_value_correlation"),
        ("learning rate", "rate"),
    ]
    figure = Figure(figsize=(12, 7), layout="constrained")
    for axes, (title, name) in zip(figure.subplots(2, 3).flat, panels, strict=True):
        for kind, style in (("train", "-"), ("validation", "o-")):
            points = [
                (event["step"], event[name]) for event in events if event["kind"] == kind and name in event
            ]
            if points:
                axes.plot(*zip(*points, strict=True), style, label=kind, markersize=3, linewidth=1)
        axes.set_title(title)
        axes.set_xlabel("step")
        axes.grid(alpha=0.3)
        if axes.lines:
            axes.legend()
    path = folder / "curves.png"
    with replacing(path) as part:
        figure.savefig(part, dpi=110, format="png")
    return path
