"""The status of a run: a row for each generation, and curves.

Everything is read from the folder; another process may be at work in it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.selfplay.folder import RunFolder
from anabranch.selfplay.judge import MOST_ELO, elo_text, finite_elo
from anabranch.selfplay.pictures import check_picture, write_picture


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """A generation in numbers; what is not known yet is `None`."""

    generation: int
    games: int
    positions: int
    length: float
    """Mean plies of a game."""
    results: tuple[int, int, int]
    """Games won by the first player, drawn, won by the second."""
    proven: float
    """Share of the games that ended with a proof."""
    evaluations: int
    unique: float | None
    """Share of different positions in the window."""
    policy_gap: float | None
    """Loss of the policy above the entropy of its targets."""
    value_loss: float | None
    gate: str | None
    """Elo against the network before, and whether it passed."""
    elo: float | None
    """The sum of the gates that were passed: Elo against the first network, inflated by self-play. A gate
    that was won without the loss of a point counts as if half a point had been lost."""
    outsiders: dict[str, float]
    """Elo against fixed outsiders."""
    errors: dict[str, float | None]
    """Half widths of the intervals of 95 % of these; `None` where the games do not determine it."""
    costs: tuple[float, float, float]
    """Processor seconds of play, learning and matches in this generation."""
    processor_seconds: float
    """Of all of these up to here."""
    minutes: float
    """Of the clock up to here."""


def rows_of(folder: RunFolder) -> list[GenerationRow]:
    """A row for each generation that has games."""
    rows: list[GenerationRow] = []
    elo, seconds = 0.0, 0.0
    for generation in folder.generations("play"):
        played = list(folder.records("play", generation).values())
        learned = next(iter(folder.records("learn", generation).values()), None)
        gate = next(iter(folder.records("gate", generation).values()), None)
        outside = folder.records("outsider", generation)
        every = [*played, *filter(None, (learned, gate)), *outside.values()]
        parts = (played, [learned], [gate, *outside.values()])
        costs = [sum(record.get("seconds", 0.0) for record in filter(None, part)) for part in parts]
        seconds += sum(costs)
        total = {name: sum(record[name] for record in played) for name in ("games", "positions", "plies")}
        if gate is not None and gate["passed"] and "elo" in gate:
            elo += finite_elo(gate["counts"]) if abs(gate["elo"]) >= MOST_ELO else gate["elo"]
        rows.append(
            GenerationRow(
                generation,
                total["games"],
                total["positions"],
                total["plies"] / max(1, total["games"]),
                tuple(sum(record["results"][i] for record in played) for i in range(3)),
                sum(record["proven"] for record in played) / max(1, total["games"]),
                sum(record["evaluations"] for record in played),
                None if learned is None else learned["unique"] / max(1, learned["positions"]),
                None if learned is None else learned["policy_gap"],
                None if learned is None else learned["value_loss"],
                _gate_text(gate),
                None if gate is None else elo,
                {key[2]: record["elo"] for key, record in outside.items()},
                {key[2]: record["error"] for key, record in outside.items()},
                (costs[0], costs[1], costs[2]),
                seconds,
                max(record["elapsed"] for record in every) / 60.0,
            )
        )
    return rows


def _gate_text(gate: dict[str, Any] | None) -> str | None:
    if gate is None:
        return None
    if "elo" not in gate:
        return "first"
    return f"{elo_text(gate['elo'], gate['error'])} {'passed' if gate['passed'] else 'failed'}"


def table(rows: list[GenerationRow]) -> str:
    """The rows as text."""
    outsiders = sorted({name for row in rows for name in row.outsiders})
    titles = [
        "gen",
        "games",
        "positions",
        "unique",
        "plies",
        "1st/=/2nd %",
        "proven",
        "policy",
        "value",
        "gate",
    ]
    titles += ["Elo", *(f"vs {name}" for name in outsiders), "CPU s: play/learn/judge", "CPU min", "min"]
    lines = [titles]
    for row in rows:
        shares = "/".join(f"{100.0 * count / max(1, row.games):.0f}" for count in row.results)
        lines.append(
            [
                str(row.generation),
                f"{row.games:,}",
                f"{row.positions:,}",
                _text(row.unique, "{:.0%}"),
                f"{row.length:.1f}",
                shares,
                f"{row.proven:.0%}",
                _text(row.policy_gap, "{:.4f}"),
                _text(row.value_loss, "{:.4f}"),
                row.gate or "-",
                _text(row.elo, "{:+.0f}"),
                *(
                    elo_text(row.outsiders[name], row.errors[name]) if name in row.outsiders else "-"
                    for name in outsiders
                ),
                "/".join(f"{cost:.0f}" for cost in row.costs),
                f"{row.processor_seconds / 60.0:.1f}",
                f"{row.minutes:.1f}",
            ]
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    return "\n".join(
        "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines
    )


def _text(number: float | None, form: str) -> str:
    return "-" if number is None else form.format(number)


def stage_of(folder: RunFolder) -> str:
    """Where a run is, in a sentence."""
    plan, begun = folder.plan, folder.generations("play")
    if not begun:
        return "no games yet"
    generation = begun[-1]
    games = sum(record["games"] for record in folder.records("play", generation).values())
    if games < plan.games:
        return f"generation {generation}: {games:,} of {plan.games:,} games are played"
    stages = [("learn", "learned"), ("gate", "judged")]
    done = [word for what, word in stages if folder.records(what, generation)]
    return (
        f"generation {generation}: all {games:,} games are played, {' and '.join(done) or 'nothing learned'}"
    )


def as_dict(folder: RunFolder) -> dict[str, Any]:
    """The status as plain values."""
    best = folder.best
    return {
        "plan": folder.plan.as_dict(),
        "best": None if best is None else str(folder.network_file(best)),
        "stage": stage_of(folder),
        "generations": [asdict(row) for row in rows_of(folder)],
    }


def draw(rows: list[GenerationRow], path: Path) -> None:
    """Curves of games and positions, losses, Elo, lengths, results and unique positions, as a picture."""
    check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    numbers = [row.generation for row in rows]
    axes[0, 0].plot(numbers, [row.policy_gap for row in rows], label="policy above its targets")
    axes[0, 0].plot(numbers, [row.value_loss for row in rows], label="value")
    axes[0, 0].set_ylabel("loss")
    axes[0, 1].plot(numbers, [row.elo for row in rows], label="gates, summed")
    for name in sorted({name for row in rows for name in row.outsiders}):
        met = [row for row in rows if name in row.outsiders and abs(row.outsiders[name]) < MOST_ELO]
        errors = [math.nan if (error := row.errors[name]) is None else error for row in met]
        elos = [row.outsiders[name] for row in met]
        axes[0, 1].errorbar([row.generation for row in met], elos, errors, capsize=2, label=f"against {name}")
    axes[0, 1].set_ylabel("Elo")
    axes[1, 0].plot(numbers, [row.length for row in rows], label="plies of a game")
    axes[1, 1].plot(numbers, [row.unique for row in rows], label="unique share of the window")
    axes[1, 1].plot(numbers, [row.proven for row in rows], label="games that end with a proof")
    for place, name in enumerate(("the first player wins", "draw", "the second player wins")):
        shares = [row.results[place] / max(1, row.games) for row in rows]
        axes[1, 2].plot(numbers, shares, label=name)
    axes[0, 2].plot(numbers, np.cumsum([row.games for row in rows]), label="games")
    axes[0, 2].plot(numbers, np.cumsum([row.positions for row in rows]), label="positions")
    axes[0, 2].set_yscale("log")
    for axis in axes.flat:
        axis.set_xlabel("generation")
        axis.legend()
    write_picture(figure, path)
