"""Measure a checkpoint on games it was not trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from anabranch.data.shards import list_shards, named_shards
from anabranch.errors import DataError, TrainingError
from anabranch.train.build import build_network
from anabranch.train.checkpoint import read_saved
from anabranch.train.loop import Notify
from anabranch.train.machine import prepare
from anabranch.train.measures import measure
from anabranch.train.network import TrainableNetwork
from anabranch.train.positions import TrainingData, read_training_data
from anabranch.train.recipe import Recipe, read_recipe


def load_network(path: Path, notify: Notify) -> tuple[TrainableNetwork, Recipe, dict[str, Any]]:
    """The network of a checkpoint, or of the newest in the folder of a run."""
    saved = read_saved(path, notify)
    recipe = read_recipe(saved["recipe"])
    network = build_network(recipe)
    try:
        network.load_state_dict(saved["network"])
    except (RuntimeError, TypeError, AttributeError) as error:
        raise TrainingError(f"the weights of {path} do not fit its recipe") from error
    network.eval()
    return network, recipe, saved


def load_training_data(
    recipe: Recipe, saved: dict[str, Any], folders: list[Path] | None, notify: Notify
) -> TrainingData:
    """The positions of a checkpoint's own shards, or of other folders, with its targets."""
    if folders is None:
        present = [path for path in saved["shards"] if Path(path).is_file()]
        gone = len(saved["shards"]) - len(present)
        if gone:
            notify(f"{gone} of {len(saved['shards'])} shards of the run are gone; --data names other folders")
        shards = named_shards(present)
    else:
        shards = list_shards(folders)
    return read_training_data(
        shards,
        recipe.changed(value_scale=saved["value_scale"], draw_share=saved["draw_share"]),
        lambda damage: notify(f"left out: {damage.reason}"),
    )


def evaluate_checkpoint(
    path: Path, folders: list[Path] | None, count: int, everything: bool, threads: int | None, notify: Notify
) -> dict[str, float]:
    """Metrics by name, and on how many positions."""
    prepare(threads)
    network, recipe, saved = load_network(path, notify)
    material = load_training_data(recipe, saved, folders, notify)
    chosen = material.train if everything else material.held_out
    if len(chosen) == 0:
        raise DataError("there is no held-out position")
    rows = np.sort(np.random.default_rng(recipe.seed).permutation(len(chosen))[:count])
    metrics = measure(network, chosen.take(rows), saved["value_scale"])
    return {"positions": float(len(rows)), **metrics}
