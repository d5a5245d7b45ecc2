"""`anabranch train`: make networks from shards, measure them, write them as files.

Options become a recipe; what is done with it, a program can do with `anabranch.train` as well.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from anabranch.errors import LimitError, SettingError
from anabranch.optional import lacking

train = typer.Typer(help="Train networks from shards, measure and export them.", rich_markup_mode=None)

DataOption: TypeAlias = Annotated[
    list[Path] | None, typer.Option("--data", metavar="DIR", help="A folder with shards; may be repeated.")
]
ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option("--threads", "-t", metavar="N", help="Threads of PyTorch.  [default: all cores]")
]

_SITTING = {
    "out",
    "resume",
    "threads",
    "workers",
    "checkpoint_every",
    "validate_every",
    "validation",
    "report_every",
    "minutes",
}


def _require() -> None:
    for package in ("torch", "pyarrow", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise lacking(f"training needs the package {package}", "train")
    # Threads that spin while they wait take the cores from those that encode batches; with this, steps take a
    # third of the time.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


@train.command()
def run(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder of the run: checkpoints, metrics, curves.")
    ],
    variant: Annotated[
        str | None, typer.Option("--variant", "-v", metavar="NAME", help="chess or crazyhouse.")
    ] = None,
    data: DataOption = None,
    network: Annotated[str, typer.Option(metavar="NAME", help="sparse, rise or resnet.")] = "sparse",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, as it was begun.")
    ] = False,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of the optimiser.  [default: 10000]")
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="Passes over the data, instead of --steps.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(metavar="N", help="End after that time with a checkpoint, wherever the run is."),
    ] = None,
    batch: Annotated[int, typer.Option(metavar="N", help="Positions per step.")] = 4096,
    rate: Annotated[float, typer.Option(metavar="X", help="The highest learning rate.")] = 2e-3,
    last_rate: Annotated[
        float, typer.Option(metavar="X", help="Share of it that is left at the end.")
    ] = 0.01,
    warmup: Annotated[
        float, typer.Option(metavar="X", help="Share of the steps over which it rises.")
    ] = 0.02,
    decay: Annotated[float, typer.Option(metavar="X", help="Weight decay.")] = 0.01,
    clip: Annotated[float, typer.Option(metavar="X", help="Norm at which gradients are cut.")] = 1.0,
    policy_width: Annotated[int, typer.Option(metavar="N", help="sparse: units for the policy.")] = 512,
    value_width: Annotated[int, typer.Option(metavar="N", help="sparse: units for the value.")] = 512,
    channels: Annotated[int, typer.Option(metavar="N", help="rise, resnet: channels.")] = 64,
    blocks: Annotated[int, typer.Option(metavar="N", help="rise, resnet: blocks.")] = 6,
    policy_temperature: Annotated[
        float | None,
        typer.Option(
            metavar="CP",
            help="Make the policy target from scores, exp(score / CP).  [default: as in the shards]",
        ),
    ] = None,
    smoothing: Annotated[
        float, typer.Option(metavar="X", help="Share of the policy target for all legal moves.")
    ] = 0.0,
    result_share: Annotated[
        float, typer.Option(metavar="X", help="Share of the game's result in the value target.")
    ] = 0.5,
    value_scale: Annotated[
        float | None,
        typer.Option(metavar="CP", help="s in value = tanh(score / 2s).  [default: fitted to the results]"),
    ] = None,
    score_limit: Annotated[
        int | None, typer.Option(metavar="CP", help="Leave out positions with a score beyond.")
    ] = None,
    decided_weight: Annotated[
        float, typer.Option(metavar="X", help="Weight of positions beyond 600 centipawns.")
    ] = 1.0,
    policy_loss: Annotated[float, typer.Option(metavar="X", help="Weight of the policy's loss.")] = 1.0,
    value_loss: Annotated[float, typer.Option(metavar="X", help="Weight of the value's loss.")] = 1.0,
    mirror: Annotated[
        bool, typer.Option("--mirror/--no-mirror", help="See half of the positions mirrored.")
    ] = True,
    held_out: Annotated[
        float, typer.Option(metavar="X", help="Share of the games kept for validation.")
    ] = 0.02,
    seed: Annotated[int, typer.Option(metavar="N", help="Of weights, order and mirroring.")] = 1,
    threads: ThreadsOption = None,
    workers: Annotated[int, typer.Option(metavar="N", help="Threads that encode batches.")] = 1,
    checkpoint_every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time between checkpoints.")
    ] = 300.0,
    validate_every: Annotated[int, typer.Option(metavar="N", help="Steps between validations.")] = 500,
    validation: Annotated[int, typer.Option(metavar="N", help="Held-out positions to validate on.")] = 20_000,
    report_every: Annotated[int, typer.Option(metavar="N", help="Steps between lines of the log.")] = 50,
) -> None:
    """Train a network.

    The run lives in the folder --out: the last two checkpoints, metrics.jsonl, a TensorBoard log, curves.png
    at the end. Ctrl-C and SIGTERM write a checkpoint and end with exit code 130; with --resume the run goes
    on exactly where the last checkpoint was.
    """
    _require()
    from anabranch.train import loop
    from anabranch.train.positions import list_shards
    from anabranch.train.recipe import Recipe

    for name, number in (
        ("validate-every", validate_every),
        ("report-every", report_every),
        ("workers", workers),
    ):
        if number < 1:
            raise LimitError(f"--{name} must be at least 1, not {number}")
    sitting = loop.Sitting(
        threads, workers, checkpoint_every, validate_every, max(0, validation), report_every, minutes
    )
    if resume:
        given = [
            name
            for name in context.params
            if name not in _SITTING and str(context.get_parameter_source(name)).endswith("COMMANDLINE")
        ]
        if given:
            option = given[0].replace("_", "-")
            raise SettingError(f"a run goes on as it was begun, so --{option} cannot be given with --resume")
        outcome = loop.resume(out, sitting, _say)
    else:
        if variant is None or not data:
            raise SettingError("a new run needs --variant and --data")
        if steps is not None and epochs is not None:
            raise SettingError("--steps and --epochs cannot be given together")
        recipe = Recipe(
            variant=variant,
            network=network,
            seed=seed,
            policy_width=policy_width,
            value_width=value_width,
            channels=channels,
            blocks=blocks,
            steps=10_000 if steps is None else steps,
            batch=batch,
            rate=rate,
            last_rate=last_rate,
            warmup=warmup,
            decay=decay,
            clip=clip,
            mirror=mirror,
            policy_temperature=policy_temperature,
            smoothing=smoothing,
            result_share=result_share,
            value_scale=value_scale,
            score_limit=score_limit,
            decided_weight=decided_weight,
            policy_loss=policy_loss,
            value_loss=value_loss,
            held_out=held_out,
        )
        recipe.check()
        outcome = loop.start(recipe, list_shards(data), epochs, out, sitting, _say)
    state = "finished" if outcome.is_finished else "interrupted; --resume goes on"
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
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="What people call it.")] = None,
) -> None:
    """Write a trained network as a file that the engine loads, and check it against its source."""
    _require()
    from anabranch.train.export import export_network

    typer.echo(export_network(checkpoint, file, data or None, licence, name, _say))


@train.command()
def evaluate(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="CHECKPOINT", help="A checkpoint, or the folder of a run.")
    ],
    data: DataOption = None,
    count: Annotated[int, typer.Option(metavar="N", help="Held-out positions to look at.")] = 20_000,
    everything: Annotated[bool, typer.Option("--all", help="Also positions that are not held out.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
    threads: ThreadsOption = None,
) -> None:
    """Measure a checkpoint on held-out games: those of its own shards, or of --data."""
    _require()
    import json

    from anabranch.train.evaluate import evaluate_checkpoint

    metrics = evaluate_checkpoint(checkpoint, data or None, count, everything, threads, _say)
    if as_json:
        typer.echo(json.dumps(metrics))
    else:
        for title, number in metrics.items():
            typer.echo(f"{title:<28} {number:.4f}")


__all__ = ["train"]
