"""`anabranch network`: describe, check and measure network files.

`anabranch.networks` reads and checks them; this file prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from anabranch.cli.options import JsonOption, argument, group, option
from anabranch.errors import AnabranchError, NetworkError

network = group("Describe, check and measure network files.")
NetworkArgument: TypeAlias = Annotated[Path, argument("FILE", "A network, .safetensors or .onnx.")]


@network.command()
def info(file: NetworkArgument, as_json: JsonOption = False) -> None:
    """Describe a network file. It is checked, but not run.

    Example: anabranch network info net.onnx
    """
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
    files: Annotated[list[Path], argument("FILE...", "Networks.")], as_json: JsonOption = False
) -> None:
    """Check network files: bytes, shapes, weights, and the outputs for known positions.

    The exit code is 0 if all are sound, and 2 if not.

    Example: anabranch network verify nets/*.safetensors
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
    file: NetworkArgument,
    batch_size: Annotated[int, option("N", "Positions in a batch.")] = 16,
    threads: Annotated[int, option("N", "Threads of the runtime.", "--threads", "-t")] = 1,
    seconds: Annotated[float, option("SECONDS", "Time for the measurement, roughly.")] = 10.0,
    runtime: Annotated[str, option("NAME", "One of onnxruntime, openvino.")] = "onnxruntime",
    provider: Annotated[str, option("NAME", "A provider of ONNX Runtime or a device of OpenVINO.")] = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure the speed of an ONNX network: in its runtime alone, and in a search.

    Example: anabranch network bench net.onnx --batch-size 64 --threads 2
    """
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
    return "none" if fact is None else f"{fact:,}" if type(fact) is int else str(fact)
