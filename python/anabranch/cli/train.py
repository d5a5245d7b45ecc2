"""`anabranch train`: make networks from shards, measure them, write them as files.

Options become a recipe and the options of a run; the work is that of `anabranch.train`.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.from_settings import options_from
from anabranch.cli.options import RayOption
from anabranch.errors import SettingError
from anabranch.optional import lacking
from anabranch.train.options import RunOptions
from anabranch.train.recipe import Recipe

train = typer.Typer(help="Train networks from shards, measure and export them.", rich_markup_mode=None)

DataOption: TypeAlias = Annotated[
    list[Path] | None, typer.Option("--data", metavar="DIR", help="A folder with shards; may be repeated.")
]
TorchThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option("--threads", "-t", metavar="N", help="Threads of PyTorch.  [default: all cores]")
]


def _require() -> None:
    for package in ("torch", "pyarrow", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise lacking(f"training needs the package {package}", "train")
    # Threads that spin while they wait take the cores from those that encode batches; with this, steps take a
    # third of the time.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@train.command()
@options_from(Recipe, "recipe", skip=("variant", "steps"))
@options_from(RunOptions, "options", skip=("stop_at", "threads"))
def run(
    context: typer.Context,
    recipe: dict[str, Any],
    options: dict[str, Any],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of the run: checkpoints, metrics, curves.")
    ],
    variant: Annotated[
        str | None, typer.Option("--variant", "-v", metavar="NAME", help="chess or crazyhouse.")
    ] = None,
    data: DataOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, as it was begun.")
    ] = False,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of the optimiser.  [default: 10000]")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="Passes over the data, instead of --steps.")
    ] = None,
    threads: TorchThreadsOption = None,
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

    carried_out = RunOptions(threads=threads, **options)
    if resume:
        free = {"out", "resume", "threads", "ray", *options}
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
        if steps is not None and epochs is not None:
            raise SettingError("--steps and --epochs cannot be given together")
        wanted = Recipe(variant, **recipe) if steps is None else Recipe(variant, steps=steps, **recipe)
        job = TrainingJob(out, carried_out, wanted, tuple(data), epochs)
    if ray is not None:
        job = job.absolute()
    outcome = train_on(Processes(0) if ray is None else Ray(ray), job)
    state = "finished" if outcome.is_finished else "interrupted; --resume continues"
    typer.echo(f"{outcome.checkpoint}: step {outcome.step:,}, {state}")
    if outcome.was_stopped:
        raise typer.Exit(130)


@train.command()
def export(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CHECKPOINT", help="A checkpoint, or the folder of a run.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The network: .safetensors or .onnx.")],
    data: DataOption = None,
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Licence of the weights.")
    ] = "GPL-3.0-or-later",
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the network.")] = None,
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
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CHECKPOINT", help="A checkpoint, or the folder of a run.")
    ],
    data: DataOption = None,
    count: Annotated[int, typer.Option(metavar="N", help="Held-out positions to measure on.")] = 20_000,
    everything: Annotated[bool, typer.Option("--all", help="Also positions that are not held out.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
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


__all__ = ["train"]
