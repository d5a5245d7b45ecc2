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
NetworkArgument: TypeAlias = Annotated[
    Path, argument("FILE", "A network, .safetensors, .onnx or .pb.gz, or the name of an installed one.")
]


@network.command()
def info(file: NetworkArgument, as_json: JsonOption = False) -> None:
    """Describe a network file. It is checked, but not run.

    Example: anabranch network info net.onnx
    """
    from anabranch.cli.output import output, print_json
    from anabranch.networks import describe_network

    facts = describe_network(_find(file))
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
    files: Annotated[list[Path], argument("FILE...", "Networks, or names of installed ones.")],
    as_json: JsonOption = False,
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
            verify_network(_find(file))
            problems[file] = None
        except NetworkError as error:
            problems[file] = " ".join(str(error).split())
    if as_json:
        print_json([{"file": str(file), "problem": problem} for file, problem in problems.items()])
    else:
        for file, problem in problems.items():
            output().print(f"{file}: sound" if problem is None else problem, soft_wrap=True)
    if any(problems.values()):
        raise typer.Exit(2)


@network.command()
def bench(
    file: NetworkArgument,
    batch_size: Annotated[int, option("N", "Positions in a batch.")] = 16,
    threads: Annotated[int, option("N", "Threads of the runtime.", "--threads", "-t")] = 1,
    seconds: Annotated[float, option("SECONDS", "Time for the measurement, roughly.")] = 10.0,
    runtime: Annotated[
        str | None, option("NAME", "One of onnxruntime, openvino, openvino-bf16.  [default: onnxruntime]")
    ] = None,
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
    from anabranch.evaluators.open import DEFAULT_RUNTIME, open_network, split_runtime

    named, rest = split_runtime(str(file))
    if named is not None and runtime not in (None, named):
        raise NetworkError(f"{file} and --runtime {runtime} name two runtimes; leave one of them out")
    chosen = named or runtime or DEFAULT_RUNTIME
    opened = open_network(_find(Path(rest)), runtime=chosen, provider=provider, threads=threads)
    if not isinstance(opened, OnnxNetwork):
        raise AnabranchError(f"{file} has no runtime to measure; 'anabranch bench' measures the core")
    measured = interruptible(lambda: measure_network(opened, batch_size, seconds))
    if as_json:
        print_json({"file": str(file), "variant": opened.variant, **measured})
        return
    show = output()
    facts = f"{opened.variant}, batch {batch_size}, threads {opened.threads}, {opened.provider}"
    show.print(f"{file}: {facts}", soft_wrap=True)
    show.print(f"runtime alone  {measured['evaluations_per_second_alone']:10,.0f} evaluations/s")
    show.print(f"in a search    {measured['evaluations_per_second_in_search']:10,.0f} evaluations/s")
    show.print(f"ratio          {measured['ratio']:10.3f}")
    show.print(f"batches full   {100 * measured['batches_full']:10.1f} %")
    if measured["gap_microseconds"] is not None:
        show.print(f"between them   {measured['gap_microseconds']:10,.0f} microseconds")


@network.command()
def combine(
    policy: Annotated[Path, argument("POLICY", "The network whose policy is taken: a file or a name.")],
    value: Annotated[Path, argument("VALUE", "The network whose value is taken: a file or a name.")],
    out: Annotated[Path, option("FILE", "The new network, .safetensors.", "--out", "-o")],
    name: Annotated[str | None, option("TEXT", "Name of the network.")] = None,
) -> None:
    """Make one network of the policy of one file and the value of another, both of the family sparse.

    Example: anabranch network combine policy.safetensors value.safetensors --out both.safetensors
    """
    from anabranch.networks.combine import combine_networks

    combine_networks(_find(policy), _find(value), out, name)
    typer.echo(str(out))


@network.command("list")
def list_installed(as_json: JsonOption = False) -> None:
    """List the installed networks: the files of one folder, which can be named without path and ending.

    Example: anabranch network list
    """
    from anabranch.cli.output import output, print_json
    from anabranch.networks import list_networks
    from anabranch.networks.folders import network_directory

    rows = list_networks()
    if as_json:
        print_json({"folder": str(network_directory()), "networks": rows})
        return
    show = output()
    show.print(f"{len(rows)} in {network_directory()}", soft_wrap=True)
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        what = row["problem"] or f"{row['variant']}, {row['architecture']}"
        show.print(f"{row['name']:{width}}  {what}", soft_wrap=True)


@network.command()
def predict(
    given: Annotated[str, argument("NETWORK", "A network: a file or a name.")],
    files: Annotated[list[Path], argument("GAMES...", "PGN files of chess games.")],
    moves: Annotated[int, option("N", "Moves to predict at most.")] = 10_000,
    skip: Annotated[int, option("PLIES", "Plies to leave out at the start of each game.")] = 10,
    lowest: Annotated[int, option("RATING", "Lowest rating of the player who moves.")] = 0,
    highest: Annotated[int, option("RATING", "Highest rating of the player who moves.")] = 9999,
    threads: Annotated[int, option("N", "Threads of the runtime.", "--threads", "-t")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Count how many moves of people the policy of a network predicts, without search.

    Moves with less than 30 seconds on the clock are left out, if the file has clocks.

    Example: anabranch network predict maia-1500.pb.gz games.pgn --lowest 1400 --highest 1600
    """
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import output, print_json
    from anabranch.evaluators.resolve import resolve_evaluator
    from anabranch.predictions import MoveSelection
    from anabranch.predictions import predict as predict_moves

    if moves < 1 or skip < 0:
        raise AnabranchError("--moves is a number from 1 on, and --skip one from 0 on")
    evaluator = resolve_evaluator(given, "chess", threads=threads)
    selection = MoveSelection(moves, skip, lowest, highest)
    found = interruptible(lambda: predict_moves(evaluator, files, selection))
    if not found.moves:
        raise AnabranchError(f"there is no move to predict in {', '.join(str(file) for file in files)}")
    rows = [
        {"rating": rating, "moves": count, "share": first / count}
        for rating, (count, first) in sorted(found.by_rating.items())
    ]
    if as_json:
        counts = {"games": found.games, "unreadable": found.unreadable, "moves": found.moves}
        shares = {"share": found.share, "error": found.error, "top_three": found.among_three / found.moves}
        loss = {"log_loss": found.log_loss / found.moves, "by_rating": rows}
        print_json({"network": given, **counts, **shares, **loss})
        return
    show = output()
    damaged = f", {found.unreadable} games cannot be read" if found.unreadable else ""
    show.print(f"{found.moves:,} moves of {found.games:,} games{damaged}")
    show.print(f"predicted      {100 * found.share:5.1f} % (standard error {100 * found.error:.1f})")
    show.print(f"among three    {100 * found.among_three / found.moves:5.1f} %")
    show.print(f"log loss       {found.log_loss / found.moves:5.2f} per move")
    for row in rows:
        span = f"{row['rating']} to {row['rating'] + 199}"
        show.print(f"{span:13}  {100 * row['share']:5.1f} % of {row['moves']:,} moves")


def _find(given: Path) -> Path:
    """The file; where there is none, the network that is installed or comes with the package by that name."""
    from anabranch.evaluators.open import split_runtime
    from anabranch.networks import is_network_path
    from anabranch.networks.folders import installed_networks
    from anabranch.networks.shipped import named_network

    name = str(given)
    runtime, _ = split_runtime(name)
    if runtime is not None and not given.exists():
        raise NetworkError(f"{name} names a runtime, which this does not need; leave out {runtime}:")
    if given.exists() or is_network_path(name):
        return given
    return named_network(name) or installed_networks().get(name, given)


def _text(fact: Any) -> str:
    return "none" if fact is None else f"{fact:,}" if type(fact) is int else str(fact)
