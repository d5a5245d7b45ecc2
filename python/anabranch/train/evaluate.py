"""Measure a checkpoint on games it was not trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import DataError, TrainingError
from anabranch.train.build import build_network
from anabranch.train.checkpoint import read_checkpoint, read_newest
from anabranch.train.loop import Say
from anabranch.train.machine import prepare
from anabranch.train.measures import measure
from anabranch.train.network import Network
from anabranch.train.positions import Material, list_shards, name_shards, read_material
from anabranch.train.recipe import Recipe, read_recipe


def load_network(path: Path, say: Say) -> tuple[Network, Recipe, dict[str, Any]]:
    """The network of a checkpoint, or of the newest in the folder of a run."""
    saved = read_newest(path, say) if path.is_dir() else read_checkpoint(path)
    recipe = read_recipe(saved["recipe"])
    network = build_network(recipe)
    try:
        network.load_state_dict(saved["network"])
    except (RuntimeError, TypeError, AttributeError) as error:
        raise TrainingError(f"the weights of {path} do not fit its recipe") from error
    network.eval()
    return network, recipe, saved


def load_material(recipe: Recipe, saved: dict[str, Any], folders: list[Path] | None, say: Say) -> Material:
    """The positions of a checkpoint's own shards, or of other folders, with its targets."""
    if folders is None:
        present = [path for path in saved["shards"] if Path(path).is_file()]
        gone = len(saved["shards"]) - len(present)
        if gone:
            say(f"{gone} of {len(saved['shards'])} shards of the run are gone; --data names other folders")
        shards = name_shards(present)
    else:
        shards = list_shards(folders)
    return read_material(
        shards,
        recipe.changed(value_scale=saved["value_scale"]),
        lambda damage: say(f"left out: {damage.reason}"),
        saved["draw_share"],
    )


def evaluate_checkpoint(
    path: Path, folders: list[Path] | None, count: int, everything: bool, threads: int | None, say: Say
) -> dict[str, float]:
    """Metrics by name, and on how many positions."""
    prepare(threads)
    network, recipe, saved = load_network(path, say)
    material = load_material(recipe, saved, folders, say)
    chosen = material.train if everything else material.held_out
    if len(chosen) == 0:
        raise DataError("there is no held-out position")
    rows = np.sort(np.random.default_rng(recipe.seed).permutation(len(chosen))[:count])
    metrics = measure(network, chosen.take(rows), saved["value_scale"])
    return {"positions": float(len(rows)), **metrics}
