"""The journal of a run: one JSON line per event in metrics.jsonl, TensorBoard where it is installed, curves
at the end.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from anabranch.jobs.files import replacing, write_atomic

FILE = "metrics.jsonl"


class Journal:
    """Takes events of kind `train` and `validation`."""

    def __init__(self, folder: Path, step: int) -> None:
        self._path = folder / FILE
        self._forget_after(step)
        self._file = self._path.open("a")
        self._board: Any = None
        if importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=step)

    def _forget_after(self, step: int) -> None:
        """Drop what happened after the checkpoint that a run goes on from."""
        events = [event for event in read_journal(self._path) if event["step"] <= step]
        write_atomic(self._path, "".join(f"{json.dumps(event)}\n" for event in events))

    def write(self, kind: str, step: int, **numbers: float) -> None:
        """Add an event."""
        event = {"kind": kind, "step": step} | {
            name: float(f"{number:.6g}") for name, number in numbers.items()
        }
        self._file.write(f"{json.dumps(event)}\n")
        self._file.flush()
        if self._board is not None:
            for name, number in numbers.items():
                self._board.add_scalar(f"{kind}/{name}", number, step)

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._board is not None:
            self._board.close()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The events of a journal. A half-written last line is left out."""
    events = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("step"), int):
                events.append(event)
    return events


def draw_curves(folder: Path) -> Path | None:
    """Draw the curves of a run to curves.png, where Matplotlib is installed."""
    events = read_journal(folder / FILE)
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
