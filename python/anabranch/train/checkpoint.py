"""Checkpoints: all that a run needs to go on exactly where it was.

Tensors and plain containers, never pickled code.
"""

from __future__ import annotations

import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from anabranch.errors import TrainingError
from anabranch.jobs.files import replacing

FORMAT = "anabranch-checkpoint"
VERSION = 1
KEPT = 2
"""Older ones are removed."""
_NAME = re.compile(r"step-(\d{8})\.pt")
_PARTS = ("recipe", "network", "optimiser", "step", "random", "shards", "value_scale", "draw_share")


def find_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, newest first."""
    if not folder.is_dir():
        raise TrainingError(f"{folder} is not the folder of a training run")
    found = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.name, reverse=True)


def write_checkpoint(folder: Path, content: dict[str, Any]) -> Path:
    """Write beside and rename; then remove all but the newest few."""
    path = folder / f"step-{content['step']:08d}.pt"
    with replacing(path) as part:
        torch.save({"format": FORMAT, "version": VERSION, **content}, part)
    for old in find_checkpoints(folder)[KEPT:]:
        old.unlink(missing_ok=True)
    return path


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint, or a sentence about why it is none."""
    if not path.is_file():
        raise TrainingError(f"there is no checkpoint {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise TrainingError(f"{path} is not a checkpoint, or is damaged")
        content = torch.load(path, map_location="cpu", weights_only=True)
    except zipfile.BadZipFile as error:
        raise TrainingError(f"{path} is not a checkpoint, or is damaged") from error
    except pickle.UnpicklingError as error:
        raise TrainingError(f"{path} is not a checkpoint: it holds more than tensors and numbers") from error
    except (RuntimeError, EOFError, OSError, KeyError, TypeError, AttributeError) as error:
        raise TrainingError(f"{path} is not a checkpoint, or is damaged") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TrainingError(f"{path} is not a checkpoint of anabranch")
    if content.get("version") != VERSION:
        raise TrainingError(f"{path} is of another version of anabranch")
    missing = [name for name in _PARTS if name not in content]
    if missing:
        raise TrainingError(f"{path} lacks its {missing[0]}")
    return content


def read_newest(folder: Path, report: Callable[[str], object]) -> dict[str, Any]:
    """The newest checkpoint of a run that can be read. Damaged ones are reported."""
    for path in find_checkpoints(folder):
        try:
            return read_checkpoint(path)
        except TrainingError as error:
            report(str(error))
    raise TrainingError(f"there is no checkpoint in {folder} to go on from")


def read_saved(path: Path, report: Callable[[str], object]) -> dict[str, Any]:
    """The content of a checkpoint, or of the newest one in the folder of a run."""
    return read_newest(path, report) if path.is_dir() else read_checkpoint(path)
