"""The proof of a forced win or loss as a tree, as the page draws it.

The certificate of `Engine.solve` is a graph: positions that several lines reach stand in it once. Here it is
unrolled from the root, layer by layer, up to a number of nodes; a position that is already in the tree is
named there and not repeated.
"""

from __future__ import annotations

import json
from typing import Any

from anabranch.solution import Solution

MOST_NODES = 400
"""Nodes of the tree."""


def tree_of(solution: Solution, most: int = MOST_NODES) -> dict[str, Any]:
    """The verdict for the side to move, and the tree in columns; without a proof the tree is empty.

    >>> from anabranch import Engine
    >>> found = tree_of(Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000))
    >>> found["result"], found["mate"], found["tree"]["move"]
    ('win', 1, ['', 'a1a8'])
    """
    positions = _read(solution.certificate)
    columns: dict[str, list[Any]] = {"parent": [], "move": [], "plies": [], "same": [], "hidden": []}
    places: dict[int, int] = {}
    waiting: list[tuple[int | None, str, int]] = [(None, "", 0)] if positions else []
    for parent, move, number in waiting:
        place = len(columns["move"])
        following = positions[number]["moves"]
        is_known = number in places
        if is_known or len(waiting) + len(following) > most:
            hidden = 0 if is_known else len(following)
            following = {}
        else:
            hidden = 0
        columns["parent"].append(parent)
        columns["move"].append(move)
        columns["plies"].append(positions[number]["plies"])
        columns["same"].append(places.get(number))
        columns["hidden"].append(hidden)
        places.setdefault(number, place)
        longest_first = sorted(following.items(), key=lambda item: -positions[item[1]]["plies"])
        waiting.extend((place, text, target) for text, target in longest_first)
    return {
        "fen": solution.position,
        "result": solution.result,
        "mate": solution.mate,
        "plies": solution.plies,
        "no_win": solution.no_win,
        "positions": solution.positions,
        "proof": solution.proof_positions,
        "seconds": round(solution.time, 3),
        "tree": columns,
    }


def _read(certificate: str | None) -> dict[int, dict[str, Any]]:
    """The positions of a certificate by number; moves with the number of the position after each."""
    rows = [json.loads(line) for line in (certificate or "").splitlines()[1:]]
    return {
        row["id"]: {
            "plies": row["plies"],
            "moves": {row["move"]: row["to"]} if "move" in row else row.get("moves", {}),
        }
        for row in rows
    }
