"""`anabranch train`: make networks from shards, measure them, write them as files.

Options become a recipe and the options of a run; the work is that of `anabranch.train`.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import JsonOption, RayOption, argument, group, option
from anabranch.errors import SettingError
from anabranch.optional import check_installed
from anabranch.train.options import RunOptions
from anabranch.train.recipe import Recipe

train = group("Train networks from shards, measure and export them.")

DataOption: TypeAlias = Annotated[
    list[Path] | None, option("DIR", "A folder with shards; may be repeated.", "--data")
]
TorchThreadsOption: TypeAlias = Annotated[
    int | None, option("N", "Threads of PyTorch.  [default: all cores]", "--threads", "-t")
]
CheckpointArgument: TypeAlias = Annotated[
    Path, argument("CHECKPOINT", "A checkpoint, or the folder of a run.")
]


def _require() -> None:
    check_installed("training", "train", "torch", "pyarrow", "safetensors")
    # Threads that spin while they wait take the cores from those that encode batches; with this, steps take a
    # third of the time.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@train.command()
@with_settings
def run(
    *,
    context: typer.Context,
    recipe: Annotated[dict[str, Any], FromSettings(Recipe, skip=("variant",))],
    options: Annotated[dict[str, Any], FromSettings(RunOptions, skip=("stop_at",), short={"threads": "-t"})],
    out: Annotated[Path, option("DIR", "The folder of the run: checkpoints, metrics, curves.")],
    variant: Annotated[str | None, option("NAME", "chess or crazyhouse.", "--variant", "-v")] = None,
    data: DataOption = None,
    resume: Annotated[
        bool, option(None, "Go on with the run in --out, as it was begun.", "--resume")
    ] = False,
    epochs: Annotated[float | None, option("N", "Passes over the data, instead of --steps.")] = None,
    initial: Annotated[
        Path | None,
        option("FILE", "Begin with the weights of a checkpoint, a run's folder or a .safetensors file."),
    ] = None,
    ray: RayOption = None,
) -> None:
    """Train a network.

    The run lives in the folder --out: the last two checkpoints, metrics.jsonl, a TensorBoard log, curves.png
    at the end. Ctrl-C and SIGTERM write a checkpoint and end with exit code 130; with --resume the run goes
    on exactly where the last checkpoint was.

    With --ray the whole run is one job on one machine of the cluster, which needs --out and --data under the
    same paths as here. If that machine dies, another continues from the last checkpoint. Ctrl-C ends the job
    without a new checkpoint.

    Example: anabranch train run --variant crazyhouse --data games --epochs 20 --out run
    """
    _require()
    from anabranch.jobs.executor import Processes, Ray
    from anabranch.train.loop import TrainingJob, train_on

    carried_out = RunOptions(**options)
    if resume:
        free = {"out", "resume", "ray", *(entry.name for entry in fields(RunOptions))}
        for name in context.params:
            if name not in free and str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
                option = name.replace("_", "-")
                raise SettingError(
                    f"a run goes on as it was begun, so --{option} cannot be given with --resume"
                )
        job = TrainingJob(out, carried_out)
    else:
        if variant is None or not data:
            raise SettingError("a new run needs --variant and --data")
        if "steps" in recipe and epochs is not None:
            raise SettingError("--steps and --epochs cannot be given together")
        job = TrainingJob(out, carried_out, Recipe(variant, **recipe), tuple(data), epochs, initial)
    if ray is not None:
        job = job.absolute()
    outcome = train_on(Processes(0) if ray is None else Ray(ray), job)
    state = "finished" if outcome.is_finished else "interrupted; --resume continues"
    typer.echo(f"{outcome.checkpoint}: step {outcome.step:,}, {state}")
    if outcome.was_stopped:
        raise typer.Exit(130)


@train.command()
def export(
    checkpoint: CheckpointArgument,
    file: Annotated[Path, argument("FILE", "The network: .safetensors or .onnx.")],
    data: DataOption = None,
    licence: Annotated[str, option("TEXT", "Licence of the weights.")] = "GPL-3.0-or-later",
    name: Annotated[str | None, option("TEXT", "Name of the network.")] = None,
) -> None:
    """Write a trained network as a file that the engine loads, and check it against its source.

    Example: anabranch train export run crazyhouse.safetensors
    """
    _require()
    from anabranch.train.export import export_network
    from anabranch.train.loop import print_notice

    typer.echo(export_network(checkpoint, file, data or None, licence, name, print_notice))


@train.command()
def evaluate(
    checkpoint: CheckpointArgument,
    data: DataOption = None,
    count: Annotated[int, option("N", "Held-out positions to measure on.")] = 20_000,
    everything: Annotated[bool, option(None, "Also positions that are not held out.", "--all")] = False,
    as_json: JsonOption = False,
    threads: TorchThreadsOption = None,
) -> None:
    """Measure a checkpoint on held-out games: those of its own shards, or of --data.

    Example: anabranch train evaluate run --data other-games
    """
    _require()
    import json

    from anabranch.train.evaluate import evaluate_checkpoint
    from anabranch.train.loop import print_notice

    metrics = evaluate_checkpoint(checkpoint, data or None, count, everything, threads, print_notice)
    if as_json:
        typer.echo(json.dumps(metrics))
    else:
        for title, number in metrics.items():
            typer.echo(f"{title:<28} {number:.4f}")
