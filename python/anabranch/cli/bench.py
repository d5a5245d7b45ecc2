"""`anabranch bench`: speed and memory as ratios and counts, and the signature of the search.

The measuring is done by `anabranch.bench`; this prints it. Absolute speeds are for orientation: the ratios
compare things measured in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.cli.options import JsonOption

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
    as_json: JsonOption = False,
) -> None:
    """Measure speed and memory, and print the signature.

    On 12 chess and 12 crazyhouse middlegames, with the evaluator material, presets alphazero and
    mcgs-combined, one thread; 1,000,000 simulations on the first two positions of each. The full run takes 5
    to 10 minutes. The signature is one number that is equal for any number of threads and on every build.
    """
    from anabranch.bench import run_benchmarks
    from anabranch.bench.network import measure_network
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import notices, output, print_json
    from anabranch.errors import SettingError
    from anabranch.evaluators.resolve import network_file

    if file is not None and not network:
        raise SettingError(f"{file} is measured with --evaluator {file}")
    if width is not None and not (32 <= width <= 4096 and width % 32 == 0):
        raise SettingError(f"a width is a multiple of 32 up to 4096, not {width}")
    if evaluator is not None:
        if network or width is not None:
            raise SettingError("--evaluator names one network, so --network and --width cannot be given")
        file = network_file(evaluator)
        if file is None:
            raise SettingError(
                "--evaluator takes a network here, chess, crazyhouse or a .safetensors file, "
                f"not {evaluator!r}"
            )
    is_network = network or evaluator is not None or width is not None
    if is_network and only:
        raise SettingError("a network is a measurement of its own, without --only")

    def measure(on_progress: Callable[[str], object]) -> dict[str, Any]:
        if is_network:
            rows = measure_network(file, width=width or 256, quick=quick, on_progress=on_progress)
            return {"sections": {"network": rows}}
        return run_benchmarks(only or (), quick=quick, on_progress=on_progress)

    console = notices()
    if console.is_terminal:
        with console.status("") as status:
            document = interruptible(lambda: measure(status.update))
    else:
        document = interruptible(lambda: measure(lambda news: None))
    if as_json:
        print_json(document)
        return
    show = output()
    for name, measured in document["sections"].items():
        show.print(_VIEWS[name](measured))


def _signature(measured: dict[str, Any]) -> RenderableType:
    from rich.text import Text

    said = "the same" if measured["equal"] else f"{measured['signature_2_threads']}, which is WRONG"
    return Text(f"signature {measured['signature']} (two threads: {said})\n", style="bold")


def _speed(measured: list[dict[str, Any]]) -> RenderableType:
    from rich.console import Group

    from anabranch.cli.output import table

    rates = [
        [
            row["variant"],
            row["preset"],
            f"{row['simulations']:,}",
            f"{row['positions']}",
            f"{row['simulations_per_second']:,.0f}",
            f"{row['evaluations_per_second']:,.0f}",
            f"{row['edges_per_second']:,.0f}",
            f"{row['mean_depth']:.1f}",
            f"{row['bytes_per_node']:.0f}",
            f"{row['reserved_bytes_per_node']:.0f}",
        ]
        for row in measured
    ]
    shares = [
        [
            row["variant"],
            row["preset"],
            f"{row['simulations']:,}",
            f"{100 * row['share_walking']:.0f} %",
            f"{100 * row['share_rules']:.0f} %",
            f"{100 * row['share_evaluator']:.0f} %",
            f"{row['search_over_rules']:.2f}",
        ]
        for row in measured
    ]
    head = ["variant", "preset", ">simulations"]
    return Group(
        table(
            "speed: one thread, evaluator material",
            [*head, ">positions", ">sim/s", ">eval/s", ">edges/s", ">depth", ">bytes/node", ">reserved"],
            rates,
        ),
        table(
            "time: shares, and the search against its limit, the rules alone on the same trajectories",
            [*head, ">walking", ">rules", ">evaluator", ">search / rules"],
            shares,
        ),
    )


def _threads(measured: list[dict[str, Any]]) -> RenderableType:
    from anabranch.cli.output import table

    return table(
        f"threads: evaluator hash at {measured[0]['cost_us']} microseconds",
        ["variant", ">sim/s, 1 thread", ">sim/s, 2 threads", ">2 against 1", "same graph"],
        [
            [
                row["variant"],
                f"{row['simulations_per_second_1']:,.0f}",
                f"{row['simulations_per_second_2']:,.0f}",
                f"{row['ratio']:.2f}",
                _yes(row["same_nodes"]),
            ]
            for row in measured
        ],
    )


def _memory(measured: list[dict[str, Any]]) -> RenderableType:
    from anabranch.cli.output import table

    return table(
        "memory: graph (mcgs) against tree (alphazero)",
        [
            "variant",
            "equal",
            ">nodes, graph",
            ">nodes, tree",
            ">nodes",
            ">bytes",
            ">simulations",
            ">evaluations",
        ],
        [
            [
                row["variant"],
                row["equal"],
                f"{row['graph']['nodes']:,}",
                f"{row['tree']['nodes']:,}",
                f"{row['nodes_ratio']:.3f}",
                f"{row['bytes_ratio']:.3f}",
                f"{row['simulations_ratio']:.3f}",
                f"{row['evaluations_ratio']:.3f}",
            ]
            for row in measured
        ],
    )


def _growth(measured: list[dict[str, Any]]) -> RenderableType:
    from anabranch.cli.output import table

    sizes = [size["simulations"] for size in measured[0]["sizes"]]
    return table(
        f"growth: microseconds per simulation (mean depth), {measured[0]['preset']}",
        ["variant", *(f">{size:,}" for size in sizes), ">cost", ">depth", ">cost / depth"],
        [
            [
                row["variant"],
                *(f"{size['microseconds']:.2f} ({size['mean_depth']:.1f})" for size in row["sizes"]),
                f"{row['cost_growth']:.2f}",
                f"{row['depth_growth']:.2f}",
                f"{row['cost_over_depth']:.2f}",
            ]
            for row in measured
        ],
    )


def _border(measured: list[dict[str, Any]]) -> RenderableType:
    from anabranch.cli.output import table

    return table(
        f"border: the Python loop with an evaluator that does nothing, batch {measured[0]['batch_size']}, "
        "against the Rust loop that fills the same planes",
        ["variant", ">sim/s, Python", ">sim/s, Rust", ">time of Python / Rust", "same graph"],
        [
            [
                row["variant"],
                f"{row['simulations_per_second_python']:,.0f}",
                f"{row['simulations_per_second_rust']:,.0f}",
                f"{row['ratio']:.3f}",
                _yes(row["same_nodes"]),
            ]
            for row in measured
        ],
    )


def _network(measured: list[dict[str, Any]]) -> RenderableType:
    from rich.console import Group

    from anabranch.cli.output import table

    alone = [
        [
            row["network"],
            row["variant"],
            f"{row['policy_width']} + {row['value_width']}",
            f"{row['positions']:,}",
            f"{row['moves']:.1f}",
            f"{row['features']:.1f}",
            f"{row['network_evaluations_per_second']:,.0f}",
        ]
        for row in measured
    ]
    search = [
        [
            row["network"],
            row["variant"],
            f"{row['search_evaluations']:,}",
            f"{row['search_evaluations_per_second']:,.0f}",
            f"{row['network_microseconds']:.2f}",
            f"{row['rest_microseconds']:.2f}",
            f"{row['rest_over_network']:.2f}",
        ]
        for row in measured
    ]
    return Group(
        table(
            "network: alone, one thread",
            ["network", "variant", "width", ">positions", ">moves", ">features", ">eval/s"],
            alone,
        ),
        table(
            "network: in the search, one thread; microseconds per evaluation",
            ["network", "variant", ">evaluations", ">eval/s", ">network", ">all else", ">all else / network"],
            search,
        ),
    )


def _yes(fact: bool) -> str:
    return "yes" if fact else "NO"


_VIEWS: dict[str, Callable[[Any], RenderableType]] = {
    "signature": _signature,
    "speed": _speed,
    "threads": _threads,
    "memory": _memory,
    "growth": _growth,
    "border": _border,
    "network": _network,
}
