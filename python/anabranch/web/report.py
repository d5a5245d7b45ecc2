"""What a search has found, as the page reads it: plain values, everything for the side to move. Games on a
grid have no centipawns.

Nothing here searches. Moves stay UCI: the page knows the rules, and writes them as players do.
"""

from __future__ import annotations

from typing import Any

from anabranch.formats.scores import centipawns
from anabranch.graph import SearchGraph
from anabranch.result import Line, Result
from anabranch.sharing import Sharing

MOST_SHARED = 8
"""Transpositions that are sent, the largest effect first."""
LEAST_GAIN = 0.0005
"""Smaller effects are rounding."""
MOST_LINES = 3
"""Lines to a transposition."""
MOST_MOVES = 60
"""Moves of the root that are sent, the best first."""

_NODE = ("position", "depth", "visits", "value", "raw", "state", "plies", "transposition", "legal")
_EDGE = ("source", "target", "move", "visits", "q", "prior", "child_value", "pruned")


def report(result: Result) -> dict[str, Any]:
    """A result."""
    variant = result.root.variant
    solved = result.solved
    statistics = result.statistics
    return {
        "fen": result.position,
        "best": result.best_move,
        "value": round(result.value, 5),
        "cp": None if result.root.is_grid else centipawns(result.value, variant),
        "solved": None
        if solved is None
        else {"state": solved.state, "plies": solved.plies, "mate": solved.mate},
        "lines": [_line(line, variant) for line in result.lines],
        "moves": [
            {
                "move": row.move,
                "visits": row.visits,
                "q": None if row.q is None else round(row.q, 5),
                "prior": round(row.prior, 5),
                "policy": round(row.policy, 5),
                "child": None if row.child_value is None else round(row.child_value, 5),
                "state": row.state,
                "plies": row.plies,
            }
            for row in result.moves[:MOST_MOVES]
        ],
        "statistics": {
            "visits": statistics.root_visits,
            "nodes": statistics.nodes,
            "edges": statistics.edges,
            "transpositions": statistics.transposition_nodes,
            "corrections": statistics.corrections,
            "solved": statistics.solved_nodes,
            "leak": round(statistics.leak, 6),
            "mean_depth": round(statistics.mean_depth, 2),
            "max_depth": statistics.max_depth,
            "bytes": statistics.bytes,
            "tablebase_hits": statistics.tablebase_hits,
        },
    }


def _line(line: Line, variant: str) -> dict[str, Any]:
    return {
        "moves": list(line.moves),
        "value": round(line.value, 5),
        "cp": None if line.root.is_grid else centipawns(line.value, variant),
        "mate": line.mate,
        "visits": line.visits,
        "state": line.state,
        "plies": line.plies,
        "wdl": list(line.wdl),
    }


def graph(part: SearchGraph) -> dict[str, Any]:
    """A part of the graph, in columns, so that names are sent once."""
    return {
        "nodes": {name: [_short(getattr(node, name)) for node in part.nodes] for name in _NODE},
        "edges": {name: [_short(getattr(edge, name)) for edge in part.edges] for name in _EDGE},
    }


def sharing(found: Sharing, part: SearchGraph) -> dict[str, Any]:
    """What sharing does to the moves of the root, and the transpositions that do most of it."""
    shown = [row for row in found.nodes if max(map(abs, row.gains.values())) >= LEAST_GAIN][:MOST_SHARED]
    return {
        "best": found.best,
        "best_alone": found.best_alone,
        "lead": _short(found.lead),
        "decides": found.decides,
        "moves": [
            {
                "move": row.move,
                "visits": row.visits,
                "shared": _short(row.shared),
                "alone": _short(row.alone),
            }
            for row in found.moves
        ],
        "nodes": [
            {
                "position": part.nodes[row.node].position,
                "depth": part.nodes[row.node].depth,
                "visits": part.nodes[row.node].visits,
                "lines": [list(line) for line in row.lines[:MOST_LINES]],
                "parents": len(row.lines),
                "gains": {move: _short(gain) for move, gain in row.gains.items()},
                "decides": row.decides,
            }
            for row in shown
        ],
    }


def _short(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value
