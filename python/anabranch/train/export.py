"""From a checkpoint to a file that the engine loads, checked against its source before anybody uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from anabranch.errors import TrainingError
from anabranch.jobs.files import replacing
from anabranch.train.batches import make_batch
from anabranch.train.evaluate import load_network, load_training_data
from anabranch.train.loop import Notify
from anabranch.train.network import TrainableNetwork
from anabranch.train.positions import Positions
from anabranch.train.recipe import Recipe

CHECKED = 1000
"""Held-out positions on which the file is compared with its source."""
VALUE_BOUND = 0.002
"""Largest difference of a value that arithmetic may make; the mean has a tenth of it.

Weights are rounded in training already.
"""
LOGIT_BOUND = 0.005
"""The same for a logit."""
CANARIES = 8


def export_network(
    path: Path, file: Path, folders: list[Path] | None, licence: str, name: str | None, notify: Notify
) -> str:
    """Write the network of a checkpoint; a sentence about what was written.

    It is checked on positions of the checkpoint's own shards, or of `folders`.
    """
    network, recipe, saved = load_network(path, notify)
    suffix = ".safetensors" if recipe.network == "sparse" else ".onnx"
    if file.suffix != suffix:
        raise TrainingError(
            f"a {recipe.network} network is written to a file named {suffix}, not {file.name!r}"
        )
    if not file.absolute().parent.is_dir():
        raise TrainingError(f"there is no directory {file.absolute().parent} to write the network in")
    material = load_training_data(recipe, saved, folders, notify)
    positions = material.held_out if len(material.held_out) else material.train
    rows = np.random.default_rng(recipe.seed).permutation(len(positions))[:CHECKED]
    checked = positions.take(rows)
    about = describe(recipe, saved, licence, name)
    with replacing(file, file.with_name(f".{file.name}.part{suffix}")) as part:
        if recipe.network == "sparse":
            difference = write_compared(network, part, about, checked)
        else:
            difference = _write_planes(network, part, about, checked)
        check_difference(difference)
    return (
        f"{file}: {recipe.network} network for {recipe.variant}, step {saved['step']:,}; "
        f"against its source on {len(checked):,} positions "
        f"value within {difference['value_max']:.1e} (mean {difference['value_mean']:.1e}), "
        f"logits within {difference['logit_max']:.1e} (mean {difference['logit_mean']:.1e})"
    )


def describe(recipe: Recipe, saved: dict[str, Any], licence: str, name: str | None) -> dict[str, str]:
    """Metadata: for the loader and for people."""
    notes = dict(saved.get("about", {}))
    if "job" in notes:
        notes["job"] = without_folders(notes["job"])
    about = {
        "variant": recipe.variant,
        "architecture": recipe.network,
        "step": str(saved["step"]),
        "licence": licence,
        "data": json.dumps(
            {
                "positions": saved.get("positions"),
                "shards": len(saved["shards"]),
                **{note: notes[note] for note in ("teacher", "job") if note in notes},
            }
        ),
        "recipe": json.dumps(
            {**recipe.as_dict(), "value_scale": saved["value_scale"], "draw_share": saved["draw_share"]}
        ),
        "metrics": json.dumps(saved.get("metrics", {})),
    }
    return about | ({} if name is None else {"name": name})


def without_folders(text: str) -> str:
    """The job of a shard as others may read it: its files by their names, not where they were.

    >>> without_folders('{"variant": "chess", "sources": ["data/games"], "engine": "bin/stockfish"}')
    '{"variant": "chess", "sources": ["games"], "engine": "stockfish"}'
    """
    job = json.loads(text)
    for key in ("engine", "source"):
        if key in job:
            job[key] = Path(job[key]).name
    if "sources" in job:
        job["sources"] = [Path(source).name for source in job["sources"]]
    return json.dumps(job)


def check_difference(difference: dict[str, float]) -> None:
    """Refuse a file whose answers differ from those of its source."""
    for kind, bound in (("value", VALUE_BOUND), ("logit", LOGIT_BOUND)):
        for what, limit in (("max", bound), ("mean", bound / 10.0)):
            found = difference[f"{kind}_{what}"]
            if not found <= limit:
                raise TrainingError(
                    "the exported network differs too much from its source: "
                    f"{kind} by {found:.4f} ({what}), at most {limit:g}"
                )


def quantise(network: Any) -> dict[str, NDArray[Any]]:
    """The tensors of the file: integers where the contract has integers."""
    scales = {
        "policy.inputs.weight": (128.0, np.int8),
        "policy.inputs.bias": (128.0, np.int16),
        "policy.moves.weight": (64.0, np.int8),
        "policy.contexts.weight": (64.0, np.int8),
        "value.inputs.weight": (128.0, np.int8),
        "value.inputs.bias": (128.0, np.int16),
        "value.hidden1.weight": (64.0, np.int8),
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name, tensor in network.folded().items():
        array = tensor.detach().numpy()
        if name in scales:
            scale, kind = scales[name]
            limit = 127 if kind is np.int8 else 16_384
            arrays[name] = np.clip(np.rint(array * scale), -limit, limit).astype(kind)
        else:
            arrays[name] = np.ascontiguousarray(array, np.float32)
    return arrays


@torch.no_grad()
def answers(
    network: TrainableNetwork, positions: Positions
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Values [B], logits [M] and where each position's logits begin [B + 1]."""
    batch = make_batch(network, positions)
    answer = network(batch.encoded)
    return answer.value.numpy(), answer.logits.numpy(), batch.encoded["move_offsets"].numpy()


def differences(
    values: NDArray[np.float32],
    others: NDArray[np.float32],
    logits: NDArray[np.float32],
    other_logits: NDArray[np.float32],
) -> dict[str, float]:
    """Largest and mean difference of values and of logits."""
    value, logit = np.abs(values - others), np.abs(logits - other_logits)
    return {
        "value_max": float(value.max()),
        "value_mean": float(value.mean()),
        "logit_max": float(logit.max()),
        "logit_mean": float(logit.mean()),
    }


def write_compared(
    network: TrainableNetwork, path: Path, about: dict[str, str], positions: Positions
) -> dict[str, float]:
    """Write a sparse network to a file, and compare its answers with those of its source."""
    from anabranch import _core
    from anabranch.networks.sparse import write_sparse

    fens = positions.fens.to_pylist()
    write_sparse(path, quantise(network), about, fens[:CANARIES])
    values, logits, _ = answers(network, positions)
    found = _core.Network(str(path)).evaluate(fens)
    others = np.array([value for value, _, _ in found], np.float32)
    other_logits = np.array([logit for _, _, moves in found for _, logit in moves], np.float32)
    if other_logits.shape != logits.shape:
        raise TrainingError("the exported network sees other legal moves than its source")
    return differences(values, others, logits, other_logits)


def _write_planes(network: Any, path: Path, about: dict[str, str], positions: Positions) -> dict[str, float]:
    from anabranch.evaluators.stamp import stamp_onnx
    from anabranch.networks import Metadata
    from anabranch.train.to_onnx import compare_onnx, write_onnx

    write_onnx(network, path)
    known = {name: about[name] for name in ("variant", "architecture", "licence")}
    more = {name: text for name, text in about.items() if name not in (*known, "step")}
    stamp_onnx(path, Metadata(**known, step=int(about["step"]), more=more))
    return compare_onnx(network, path, positions)
