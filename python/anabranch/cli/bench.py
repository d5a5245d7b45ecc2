"""`anabranch bench`: speed and memory as ratios and counts, and the signature of the search.

The measuring is done by `anabranch.bench`; this prints it. Absolute speeds are for orientation: the ratios
compare things measured in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.options import JsonOption, RayOption

if TYPE_CHECKING:
    from rich.console import RenderableType

NAMES = ("signature", "speed", "threads", "memory", "growth", "border")


def bench(
    file: Annotated[
        Path | None, typer.Argument(help="Deprecated, with --network: the network.", hidden=True)
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            "--evaluator",
            "-e",
            metavar="NAME|FILE",
            help="Measure a network of the core instead: evaluations per second on one core, alone and in "
            "the search. chess, crazyhouse, or a .safetensors file.",
        ),
    ] = None,
    network: Annotated[
        bool, typer.Option("--network", hidden=True, help="Deprecated: --evaluator or --width.")
    ] = False,
    width: Annotated[
        int | None,
        typer.Option("--width", metavar="N", help="Measure networks of random weights, of this width."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few positions and at most 10,000 simulations: some seconds.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAME", help=f"A section; may be repeated. One of {', '.join(NAMES)}."
        ),
    ] = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure speed and memory, and print the signature.

    On 12 chess and 12 crazyhouse middlegames, with the evaluator material, presets alphazero and
    mcgs-combined, one thread; 1,000,000 simulations on the first two positions of each. The full run takes 5
    to 10 minutes. The signature is one number that is equal for any number of threads and on every build.
    With --ray the sections run side by side on a cluster: compare numbers of one section only.

    Example: anabranch bench --quick --only signature --only memory
    """
    from anabranch.bench import run_benchmarks
    from anabranch.bench.network import measure_network
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import notices, output, print_json
    from anabranch.errors import SettingError
    from anabranch.jobs.executor import executor_of

    network_path = _network_path(file, evaluator, network, width)
    is_network = network or evaluator is not None or width is not None
    if is_network and (only or ray):
        raise SettingError("a network is a measurement of its own, without --only and --ray")
    executor = None if ray is None else executor_of(None, ray)

    def measure(announce: Callable[[str], object]) -> dict[str, Any]:
        if is_network:
            rows = measure_network(network_path, width=width or 256, quick=quick, announce=announce)
            return {"sections": {"network": rows}}
        return run_benchmarks(only or (), quick=quick, announce=announce, executor=executor)

    console = notices()
    if console.is_terminal:
        with console.status("") as status:
            document = interruptible(lambda: measure(status.update))
    else:
        document = interruptible(lambda: measure(lambda words: None))
    if as_json:
        print_json(document)
        return
    show = output()
    for name, measured in document["sections"].items():
        if name == "signature":
            show.print(_signature(measured))
        elif name == "growth":
            show.print(_growth(measured))
        for title, formats in _TABLES.get(name, ()):
            show.print(_table(title.format(**measured[0]), formats, measured))


def _network_path(file: Path | None, evaluator: str | None, network: bool, width: int | None) -> Path | None:
    """The network file to measure, if the options name one."""
    from anabranch.errors import SettingError
    from anabranch.evaluators.resolve import network_file

    if file is not None and not network:
        raise SettingError(f"{file} is measured with --evaluator {file}")
    if width is not None and not (32 <= width <= 4096 and width % 32 == 0):
        raise SettingError(f"a width is a multiple of 32 up to 4096, not {width}")
    if evaluator is None:
        return file
    if network or width is not None:
        raise SettingError("--evaluator names one network, so --network and --width cannot be given")
    found = network_file(evaluator)
    if found is None:
        raise SettingError(
            f"--evaluator takes a network here, chess, crazyhouse or a .safetensors file, not {evaluator!r}"
        )
    return found


Formats = dict[str, str]
"""The format of each column of a table, by its title; it takes the values of a row by name."""


def _signature(measured: dict[str, Any]) -> RenderableType:
    from rich.text import Text

    other = "the same" if measured["equal"] else f"{measured['signature_2_threads']}, which is WRONG"
    return Text(f"signature {measured['signature']} (two threads: {other})\n", style="bold")


def _table(title: str, formats: Formats, measured: list[dict[str, Any]]) -> RenderableType:
    from anabranch.cli.output import table

    rows = [{**row, "same": "yes" if row.get("same_nodes") else "NO"} for row in measured]
    return table(title, formats, [[form.format(**row) for form in formats.values()] for row in rows])


def _growth(measured: list[dict[str, Any]]) -> RenderableType:
    sizes = {}
    for place, size in enumerate(measured[0]["sizes"]):
        at = f"sizes[{place}]"
        sizes[f">{size['simulations']:,}"] = f"{{{at}[microseconds]:.2f}} ({{{at}[mean_depth]:.1f}})"
    ends = {
        ">cost": "{cost_growth:.2f}",
        ">depth": "{depth_growth:.2f}",
        ">cost / depth": "{cost_over_depth:.2f}",
    }
    title = f"growth: microseconds per simulation (mean depth), {measured[0]['preset']}"
    return _table(title, {"variant": "{variant}", **sizes, **ends}, measured)


_TABLES: dict[str, list[tuple[str, Formats]]] = {
    "speed": [
        (
            "speed: one thread, evaluator material",
            {
                "variant": "{variant}",
                "preset": "{preset}",
                ">simulations": "{simulations:,}",
                ">positions": "{positions}",
                ">sim/s": "{simulations_per_second:,.0f}",
                ">eval/s": "{evaluations_per_second:,.0f}",
                ">edges/s": "{edges_per_second:,.0f}",
                ">depth": "{mean_depth:.1f}",
                ">bytes/node": "{bytes_per_node:.0f}",
                ">reserved": "{reserved_bytes_per_node:.0f}",
            },
        ),
        (
            "time: shares, and the search against its limit, the rules alone on the same trajectories",
            {
                "variant": "{variant}",
                "preset": "{preset}",
                ">simulations": "{simulations:,}",
                ">walking": "{share_walking:.0%}",
                ">rules": "{share_rules:.0%}",
                ">evaluator": "{share_evaluator:.0%}",
                ">search / rules": "{search_over_rules:.2f}",
            },
        ),
    ],
    "threads": [
        (
            "threads: evaluator hash at {cost_us} microseconds",
            {
                "variant": "{variant}",
                ">sim/s, 1 thread": "{simulations_per_second_1:,.0f}",
                ">sim/s, 2 threads": "{simulations_per_second_2:,.0f}",
                ">2 against 1": "{ratio:.2f}",
                "same graph": "{same}",
            },
        )
    ],
    "memory": [
        (
            "memory: graph (mcgs) against tree (alphazero)",
            {
                "variant": "{variant}",
                "equal": "{equal}",
                ">nodes, graph": "{graph[nodes]:,}",
                ">nodes, tree": "{tree[nodes]:,}",
                ">nodes": "{nodes_ratio:.3f}",
                ">bytes": "{bytes_ratio:.3f}",
                ">simulations": "{simulations_ratio:.3f}",
                ">evaluations": "{evaluations_ratio:.3f}",
            },
        )
    ],
    "border": [
        (
            "border: the Python loop with an evaluator that returns zeros, batch {batch_size}, against the "
            "Rust loop that fills the same planes",
            {
                "variant": "{variant}",
                ">sim/s, Python": "{simulations_per_second_python:,.0f}",
                ">sim/s, Rust": "{simulations_per_second_rust:,.0f}",
                ">time of Python / Rust": "{ratio:.3f}",
                "same graph": "{same}",
            },
        )
    ],
    "network": [
        (
            "network: alone, one thread",
            {
                "network": "{network}",
                "variant": "{variant}",
                "width": "{policy_width} + {value_width}",
                ">positions": "{positions:,}",
                ">moves": "{moves:.1f}",
                ">features": "{features:.1f}",
                ">eval/s": "{network_evaluations_per_second:,.0f}",
            },
        ),
        (
            "network: in the search, one thread; microseconds per evaluation",
            {
                "network": "{network}",
                "variant": "{variant}",
                ">evaluations": "{search_evaluations:,}",
                ">eval/s": "{search_evaluations_per_second:,.0f}",
                ">network": "{network_microseconds:.2f}",
                ">all else": "{rest_microseconds:.2f}",
                ">all else / network": "{rest_over_network:.2f}",
            },
        ),
    ],
}
