"""`anabranch network`: what a network file says about itself, whether it is sound, how fast it is.

Reading and checking is done by `anabranch.networks`; this prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.cli.options import JsonOption
from anabranch.errors import AnabranchError, NetworkError

network = typer.Typer(
    name="network",
    help="Network files: what they are, whether they are sound, how fast they are.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", show_default=False)]


@network.command()
def info(file: FileArgument, as_json: JsonOption = False) -> None:
    """Say what a network file holds. It is checked, but not run."""
    from anabranch.cli.output import output, print_json
    from anabranch.networks import describe_network

    facts = describe_network(file)
    if as_json:
        print_json(facts)
        return
    show = output()
    width = max(len(name) for name in facts)
    for name, fact in facts.items():
        for line in fact or ["none"] if isinstance(fact, list) else [_text(fact)]:
            show.print(f"{name:{width}}  {line}", soft_wrap=True)


@network.command()
def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Check everything about network files: bytes, shapes, weights, and answers to known positions.

    The exit code is 0 if all are sound, and 2 if not.
    """
    from anabranch.cli.output import output, print_json
    from anabranch.evaluators.open import verify_network

    problems: dict[Path, str | None] = {}
    for file in files:
        try:
            verify_network(file)
            problems[file] = None
        except NetworkError as error:
            problems[file] = " ".join(str(error).split())
    if as_json:
        print_json([{"file": str(file), "problem": problem} for file, problem in problems.items()])
    else:
        for file, problem in problems.items():
            output().print(f"{file}: sound" if problem is None else f"refused: {problem}", soft_wrap=True)
    if any(problems.values()):
        raise typer.Exit(2)


@network.command()
def bench(
    file: FileArgument,
    batch_size: Annotated[int, typer.Option(metavar="N", help="Positions in a batch.")] = 16,
    threads: Annotated[int, typer.Option("--threads", "-t", metavar="N", help="Threads of the runtime.")] = 1,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="How long to measure, about.")] = 10.0,
    runtime: Annotated[
        str, typer.Option(metavar="NAME", help="One of onnxruntime, openvino.")
    ] = "onnxruntime",
    provider: Annotated[
        str, typer.Option(metavar="NAME", help="A provider of ONNX Runtime or a device of OpenVINO.")
    ] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure the runtime alone against the same network in a search, in turn."""
    from anabranch.bench.runtime import measure_network
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import output, print_json
    from anabranch.evaluators.onnx_network import OnnxNetwork
    from anabranch.evaluators.open import open_network

    opened = open_network(file, runtime=runtime, provider=provider, threads=threads)
    if not isinstance(opened, OnnxNetwork):
        raise AnabranchError(f"{file} has no runtime to measure; 'anabranch bench' measures the core")
    measured = interruptible(lambda: measure_network(opened, batch_size, seconds))
    if as_json:
        print_json({"file": str(file), "variant": opened.variant, **measured})
        return
    show = output()
    show.print(f"{file}: {opened.variant}, batch {batch_size}, threads {opened.threads}, {opened.provider}")
    show.print(f"runtime alone  {measured['evaluations_per_second_alone']:10,.0f} evaluations/s")
    show.print(f"in a search    {measured['evaluations_per_second_in_search']:10,.0f} evaluations/s")
    show.print(f"ratio          {measured['ratio']:10.3f}")
    show.print(f"batches full   {100 * measured['batches_full']:10.1f} %")
    if measured["gap_microseconds"] is not None:
        show.print(f"between them   {measured['gap_microseconds']:10,.0f} microseconds")


def _text(fact: Any) -> str:
    match fact:
        case None:
            return "none"
        case bool() | str():
            return str(fact)
        case int():
            return f"{fact:,}"
    return str(fact)
