"""Graph memory against tree memory, by phase of the game. These are exact counts.

At equal simulations the tree is `alphazero`, as in the paper. At equal evaluations it is `alphazero+cache`,
so that both have evaluated as many different positions. Memory is counted twice: the bytes that our graph
takes, and those with full lists, where every node keeps all its legal moves as in the paper's engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from anabranch.bench.positions import POSITIONS
from anabranch.study.experiment import Experiment
from anabranch.study.experiments.matches import Side, openings
from anabranch.study.experiments.measurements import measure_sides
from anabranch.study.figures import Chart, Figures, Point, Series, Table, columns, in_order, mean_of
from anabranch.study.folder import StudyResults
from anabranch.study.paper import MEMORY_SAVED, MOVE_BYTES
from anabranch.study.plan import VARIANTS, Plan, Size, Study, file_name
from anabranch.study.policies import CANDIDATE

COMPARED = {
    "simulations": ("alphazero", "alphazero+cache", "mcgs"),
    "evaluations": ("alphazero+cache", "mcgs"),
}
"""The presets by what is held equal; the first is the tree that the others are compared with."""
GRAPH = "mcgs"
STARTS = {
    "chess": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "crazyhouse": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
}
OPENINGS = 6
"""Openings of a variant: the start of the game, then the first ones of the package."""
WITH_PAWNS = (
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    "8/5pk1/R5pp/8/r6P/6P1/5PK1/8 w - - 0 1",
    "8/5pk1/6pp/8/7P/4KPP1/8/8 w - - 0 1",
    "8/1p3pk1/p2r2p1/2R4p/1P5P/P5P1/5PK1/8 w - - 0 1",
    "8/pp3pk1/2n3p1/3p4/3P4/2N3P1/PP3PK1/8 w - - 0 1",
    "8/pp3pk1/2p3p1/8/3P1P2/2K3P1/PP6/8 w - - 0 1",
)
"""Endings of pawns, of rooks and pawns, and of knights and pawns."""
WITHOUT_PAWNS = (
    "8/8/8/3k4/3r4/8/8/KQ6 w - - 0 1",
    "8/8/3kn3/8/8/3K4/8/R7 w - - 0 1",
    "3k4/4r3/3K4/3B4/8/8/8/5R2 w - - 0 1",
    "8/8/8/3k4/8/8/8/2BNK3 w - - 0 1",
    "8/8/3kb3/8/8/3K4/8/R7 w - - 0 1",
    "2k5/8/8/3q4/8/8/8/KQN5 w - - 0 1",
)
"""Queen against rook, rook against knight, rook and bishop against rook, bishop and knight against nothing,
rook against bishop, queen and knight against queen."""


class Phase(NamedTuple):
    """A phase of the game and its positions."""

    name: str
    first: int
    """Number of the first position. Middlegames have that of versions without phases, whose folders go on."""
    positions: tuple[str, ...]

    def described(self, _variant: str) -> list[dict[str, Any]]:
        """What is particular to the measurement of each position."""
        return [{"position": position, "phase": self.name} for position in self.positions]


def phases_of(variant: str) -> tuple[Phase, ...]:
    """The phases of a variant; besides chess and crazyhouse only openings.

    Crazyhouse has no endings: what is captured comes back.
    """
    begun = tuple(opening.fen for opening in openings(variant))
    if variant not in POSITIONS:
        return (Phase("openings", 0, begun),)
    phases: tuple[Phase, ...] = (
        Phase("openings", 100, (STARTS[variant], *begun)[:OPENINGS]),
        Phase("middlegames", 0, POSITIONS[variant]),
    )
    if variant == "chess":
        phases += (
            Phase("endings with pawns", 200, WITH_PAWNS),
            Phase("endings without pawns", 300, WITHOUT_PAWNS),
        )
    return phases


def middlegames(variant: str) -> list[dict[str, Any]]:
    """The positions of the benchmark; besides chess, random openings."""
    if variant not in POSITIONS:
        return [{"position": opening.fen} for opening in openings(variant)]
    return [{"position": position} for position in POSITIONS[variant]]


def _plan(study: Study) -> Plan:
    return Plan(
        measurements=tuple(
            one
            for variant in study.variants(VARIANTS)
            for phase in phases_of(variant)
            for equal, presets in COMPARED.items()
            for one in measure_sides(
                replace(study, games=(variant,)),
                "grow",
                [Side(preset, preset) for preset in presets],
                phase.described,
                f"equal {equal}",
                first=phase.first,
                equal=equal,
                checkpoints=list(study.size.simulations or ()),
                policies=True,
            )
        )
    )


def full_bytes(sample: Mapping[str, Any]) -> float | None:
    """The bytes of a graph in which every evaluated node keeps all its legal moves, as in the paper's engine.

    Our lists are taken out, without the unused rest of their blocks of four, and every legal move is put in.
    `None` for samples of earlier versions, which did not count moves.

    >>> full_bytes({"bytes": 1000, "listed": 50, "legal": 100})
    1600
    """
    if "legal" not in sample:
        return None
    return int(sample["bytes"] - CANDIDATE * sample["listed"] + MOVE_BYTES * sample["legal"])


SamplesByKey = dict[tuple[str, str, str, str, int, int], dict[str, Any]]
"""By variant, phase, group, preset, checkpoint and place."""
MEASURES: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
    "nodes": lambda sample: sample["nodes"],
    "full": full_bytes,
    "bytes": lambda sample: sample["bytes"],
}
LISTS = {"full": "full lists as in the paper", "bytes": "our lists"}


def _show(results: StudyResults) -> Figures:
    samples: SamplesByKey = {
        (one.variant, one.about["phase"], one.group, one.name, sample["checkpoint"], one.place): sample
        for one, found in results.measurements
        for sample in found["looks"]
        # A small graph has no more positions to evaluate.
        if sample[one.about["equal"]] >= sample["checkpoint"]
    }
    rows = [
        row
        for variant in results.variants
        for phase in phases_of(variant)
        for equal, (tree, *others) in COMPARED.items()
        for preset in others
        for checkpoint in results.study.size.simulations or ()
        if (row := _row(samples, (variant, phase.name, f"equal {equal}"), preset, tree, checkpoint))
    ]
    low, high = (f"{100 * share:.0f}" for share in MEMORY_SAVED)
    for row in rows:
        of_paper = row["name"] == GRAPH and row["group"] == "equal simulations"
        row["paper"] = f"{low} to {high} %" if of_paper else None
    head = (
        *columns("text", variant="variant", phase="phase", group="held equal", name="preset", tree="tree"),
        *columns("count", checkpoint="of them", positions="positions"),
        *columns("percent", nodes="nodes saved", full="memory saved, full lists"),
        *columns("percent", full_least="least", full_most="most"),
        *columns("percent", bytes="memory saved, our lists", bytes_least="least", bytes_most="most"),
        *columns("text", paper="the paper"),
    )
    note = (
        f"The paper observes a reduction of {low} to {high} %, depending on the position. Ours is the mean "
        "over positions, with the least and the most. With full lists every node keeps all its legal moves, "
        f"{MOVE_BYTES} bytes each, as in the paper's engine; our lists are made at the second visit and have "
        "the best moves first. Positions with fewer evaluations than the checkpoint are left out of it."
    )
    charts = tuple(
        _chart(variant, lists, rows)
        for variant in in_order(row["variant"] for row in rows)
        for lists in LISTS
    )
    return Figures((Table("Memory that is saved against a tree", head, tuple(rows)),), charts, (note,))


def _row(
    samples: SamplesByKey, head: tuple[str, str, str], preset: str, tree: str, checkpoint: int
) -> dict[str, Any]:
    """The row of a variant, a phase and a group; empty where nothing is measured yet."""
    saved: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    for key, sample in samples.items():
        other = samples.get((*head, tree, checkpoint, key[-1]))
        if key[:-1] != (*head, preset, checkpoint) or other is None:
            continue
        for name, measure in MEASURES.items():
            ours, theirs = measure(sample), measure(other)
            if ours is not None and theirs is not None:
                saved[name].append(1.0 - ours / theirs)
    if not saved["bytes"]:
        return {}
    row: dict[str, Any] = dict(zip(("variant", "phase", "group"), head, strict=True))
    row |= {"name": preset, "tree": tree, "checkpoint": checkpoint, "positions": len(saved["bytes"])}
    for name, shares in saved.items():
        row[name] = mean_of(shares)[0]
        row[f"{name}_least"], row[f"{name}_most"] = min(shares, default=None), max(shares, default=None)
    return row


def _chart(variant: str, lists: str, rows: list[dict[str, Any]]) -> Chart:
    """Means of the phases. Positions differ too much for an error; the table has the least and the most."""
    series = []
    mine = [row for row in rows if (row["variant"], row["name"]) == (variant, GRAPH)]
    for phase in in_order(row["phase"] for row in mine):
        here = [row for row in mine if (row["phase"], row["group"]) == (phase, "equal simulations")]
        points = tuple(Point(row["checkpoint"], 100.0 * row[lists]) for row in here if row[lists] is not None)
        if points:
            series.append(Series(phase, points))
    marks = [float(point.x) for one in series for point in one.points]
    for share, word in zip(MEMORY_SAVED, ("least", "most"), strict=True):
        if marks:
            ends = tuple(Point(x, 100.0 * share) for x in sorted({min(marks), max(marks)}))
            series.append(Series(f"the paper, {word}", ends, "paper"))
    name = f"memory-{file_name(variant)}-{'full' if lists == 'full' else 'ours'}"
    title = f"{variant}: memory that the graph saves, {LISTS[lists]}"
    return Chart(
        name, title, "lines", "simulations", "bytes saved, mean of positions, %", tuple(series), log_x=True
    )


MEMORY = Experiment(
    "memory",
    "Graph memory against tree memory",
    "How much memory does the graph save in openings, middlegames and endings, at equal simulations and at "
    "equal evaluations?",
    {
        "tiny": Size(positions=1, simulations=(200, 400)),
        "small": Size(positions=4, simulations=(10_000, 100_000)),
        "full": Size(positions=6, simulations=(10_000, 100_000, 1_000_000)),
    },
    _plan,
    _show,
    of_paper=True,
)
