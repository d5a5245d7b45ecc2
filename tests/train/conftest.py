"""Small shards of random games, and recipes that train in seconds."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from anabranch import _core
from anabranch.data.shards import write_shard

WORTH = {"P": 100, "N": 300, "B": 300, "R": 500, "Q": 900}
WORTH |= {letter.lower(): -worth for letter, worth in WORTH.items()}


def play_games(variant: str, games: int, seed: int = 1, plies: int = 40) -> list[dict[str, Any]]:
    """Random games; scores count the material, and the first legal moves by name are the best."""
    rows = []
    for game in range(games):
        source = random.Random(f"{seed}/{game}")
        rules = _core.Session(variant, False, {}, False)
        rules.set_position(None, [])
        played: list[dict[str, Any]] = []
        while rules.ending() is None and len(played) < plies:
            legal = sorted(rules.legal_moves())
            fen = rules.fen()
            white = sum(WORTH.get(letter, 0) for letter in fen.split()[0])
            score = white if fen.split()[1] == "w" else -white
            move = source.choice(legal)
            few = legal[:2]
            played.append(
                {
                    "game": source.getrandbits(64) if not played else played[0]["game"],
                    "ply": len(played),
                    "fen": fen,
                    "move": move,
                    "moves": few,
                    "weights": [0.75, 0.25][: len(few)] if len(few) == 2 else [1.0],
                    "scores": [score, score - 50][: len(few)],
                    "score": score,
                    "value": 0.0,
                    "source": "random",
                }
            )
            rules.play(move)
        final = played[-1]["score"] * (1 if len(played) % 2 else -1)
        for row in played:
            sign = 1 if row["ply"] % 2 == 0 else -1
            row["result"] = 0 if abs(final) < 100 else sign * (1 if final > 0 else -1)
        rows += played
    return rows


Shards = Callable[..., Path]


@pytest.fixture
def shards(tmp_path: Path) -> Shards:
    """Make a folder with shards."""

    def make(variant: str = "crazyhouse", games: int = 12, files: int = 2, name: str = "data") -> Path:
        folder = tmp_path / name
        for number in range(files):
            write_shard(folder, number, play_games(variant, games, seed=number), {"variant": variant})
        return folder

    return make
