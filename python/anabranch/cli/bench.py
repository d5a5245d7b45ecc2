"""`anabranch bench`: speed and memory as ratios and counts, and the signature of the search.

The measuring is done by `anabranch.bench`; this prints it. Absolute speeds are for orientation: the ratios
compare things measured in the same run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from anabranch.bench import BenchSpec
from anabranch.cli.from_settings import FromSettings, with_settings
from anabranch.cli.options import JsonOption, RayOption

if TYPE_CHECKING:
    from rich.console import RenderableType

BENCH = FromSettings(BenchSpec, short={"evaluator": "-e"}, metavars={"evaluator": "NAME|FILE"})


@with_settings
def bench(
    *, given: Annotated[dict[str, Any], BENCH], ray: RayOption = None, as_json: JsonOption = False
) -> None:
    """Measure speed and memory, and print the signature.

    On 12 chess and 12 crazyhouse middlegames, with the evaluator material, presets alphazero and
    mcgs-combined, one thread; 1,000,000 simulations on the first two positions of each. The full run takes 5
    to 10 minutes. The signature is one number that is equal for any number of threads and on every build.
    With --ray the sections run side by side on a cluster: compare numbers of one section only.

    Example: anabranch bench --quick --only signature --only memory
    """
    from anabranch.bench import run_benchmarks
    from anabranch.cli.interrupt import interruptible
    from anabranch.cli.output import notices, output, print_json
    from anabranch.errors import SettingError
    from anabranch.jobs.executor import executor_of

    spec = BenchSpec(**given)
    if spec.is_network and ray:
        raise SettingError("a network is a measurement of its own, without --only and --ray")
    executor = None if ray is None else executor_of(None, ray)
    console = notices()
    if console.is_terminal:
        with console.status("") as status:
            document = interruptible(lambda: run_benchmarks(spec, status.update, executor))
    else:
        document = interruptible(lambda: run_benchmarks(spec, executor=executor))
    if as_json:
        print_json(document)
        return
    show = output()
    for name, measured in document["sections"].items():
        if name == "signature":
            show.print(_signature(measured))
        elif name == "growth":
            show.print(_growth(measured))
        elif name == "threads":
            show.print(_cores(measured, "computed_speedup", "Amdahl"))
            overlap = "serial work overlaps with evaluation"
            show.print(_cores(measured, "computed_speedup_overlapping", overlap))
        for title, columns in _TABLES.get(name, ()):
            show.print(_table(title.format(**measured[0]), columns, measured))


def _signature(measured: dict[str, Any]) -> RenderableType:
    from rich.text import Text

    other = "the same" if measured["equal"] else f"{measured['signature_2_threads']}, which is WRONG"
    return Text(f"signature {measured['signature']} (two threads: {other})\n", style="bold")


def _table(title: str, columns: str, measured: list[dict[str, Any]]) -> RenderableType:
    """A table of rows; each column is given as `title=format`, and the format takes a row by name."""
    from anabranch.cli.output import table

    formats = dict(column.strip().split("=", 1) for column in columns.split("|"))
    rows = [{**row, "same": "yes" if row.get("same_nodes") else "NO"} for row in measured]
    return table(title, formats, [[form.format(**row) for form in formats.values()] for row in rows])


def _cores(measured: list[dict[str, Any]], name: str, how: str) -> RenderableType:
    alone = [row for row in measured if row[name] is not None]
    columns = ["variant={variant}", ">serial share={serial_share:.1%}"]
    columns += [f">{cores}={{{name}[{cores}]:.1f}}" for cores in alone[0][name]]
    title = f"cores: COMPUTED from the phases of one thread ({how}), not measured"
    return _table(title, " | ".join(columns), alone)


def _growth(measured: list[dict[str, Any]]) -> RenderableType:
    columns = ["variant={variant}"]
    for place, size in enumerate(measured[0]["sizes"]):
        at = f"sizes[{place}]"
        columns.append(f">{size['simulations']:,}={{{at}[microseconds]:.2f}} ({{{at}[mean_depth]:.1f}})")
    columns.append(
        ">cost={cost_growth:.2f} | >depth={depth_growth:.2f} | >cost / depth={cost_over_depth:.2f}"
    )
    title = f"growth: microseconds per simulation (mean depth), {measured[0]['preset']}"
    return _table(title, " | ".join(columns), measured)


_TABLES: dict[str, list[tuple[str, str]]] = {
    "speed": [
        (
            "speed: one thread, evaluator material",
            "variant={variant} | preset={preset} | >simulations={simulations:,} | >positions={positions} | "
            ">sim/s={simulations_per_second:,.0f} | >eval/s={evaluations_per_second:,.0f} | "
            ">edges/s={edges_per_second:,.0f} | >depth={mean_depth:.1f} | "
            ">bytes/node={bytes_per_node:.0f} | >reserved={reserved_bytes_per_node:.0f}",
        ),
        (
            "time: shares, and the search against its limit, the rules alone on the same trajectories",
            "variant={variant} | preset={preset} | >simulations={simulations:,} | "
            ">walking={share_walking:.0%} | >rules={share_rules:.0%} | >evaluator={share_evaluator:.0%} | "
            ">search / rules={search_over_rules:.2f}",
        ),
    ],
    "threads": [
        (
            "threads: networks of the package; where the search's own thread spends its time",
            "variant={variant} | >threads={threads} | >eval/s={evaluations_per_second:,.0f} | "
            ">against 1={against_one_thread:.2f} | >evaluate={share_evaluate:.0%} | "
            ">twigs={share_twigs:.0%} | >trunk={share_trunk:.1%} | >commit={share_commit:.1%} | "
            ">apply={share_apply:.1%} | "
            ">one by one={share_one_by_one:.1%} | same graph={same}",
        )
    ],
    "memory": [
        (
            "memory: graph (mcgs) against tree (alphazero)",
            "variant={variant} | equal={equal} | >nodes, graph={graph[nodes]:,} | "
            ">nodes, tree={tree[nodes]:,} | >nodes={nodes_ratio:.3f} | >bytes={bytes_ratio:.3f} | "
            ">simulations={simulations_ratio:.3f} | >evaluations={evaluations_ratio:.3f}",
        )
    ],
    "border": [
        (
            "border: the Python loop with an evaluator that returns zeros, batch {batch_size}, against the "
            "Rust loop that fills the same planes",
            "variant={variant} | >sim/s, Python={simulations_per_second_python:,.0f} | "
            ">sim/s, Rust={simulations_per_second_rust:,.0f} | >time of Python / Rust={ratio:.3f} | "
            "same graph={same}",
        )
    ],
    "network": [
        (
            "network: alone, one thread",
            "network={network} | variant={variant} | width={policy_width} + {value_width} | "
            ">positions={positions:,} | >moves={moves:.1f} | >features={features:.1f} | "
            ">eval/s={network_evaluations_per_second:,.0f}",
        ),
        (
            "network: in the search, one thread; microseconds per evaluation",
            "network={network} | variant={variant} | >evaluations={search_evaluations:,} | "
            ">eval/s={search_evaluations_per_second:,.0f} | >network={network_microseconds:.2f} | "
            ">all else={rest_microseconds:.2f} | >all else / network={rest_over_network:.2f}",
        ),
    ],
}
"""Of each section the titles and columns of its tables."""
