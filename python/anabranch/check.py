"""Games written in Python, checked: `check_game` plays random games and says in sentences what is wrong.

It knows games alone, of rows (`anabranch.rows`) and of objects (`anabranch.objects`), and no search.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.objects import ObjectAdapter
from anabranch.rows import Array, RowsAdapter, clip, is_rows

def check_game(game: object, games: int = 50, *, most_moves: int = 1000, seed: int = 0) -> list[str]:
    """Play random games and say in sentences what is wrong with a game; an empty list means that nothing was
    found.

    Looked at are the answers of every method, whether positions stay what they are when a move is played,
    whether equal keys mean equal positions, and whether games end within `most_moves`.
    """
    found: list[str] = []
    try:
        adapter = ObjectAdapter(game)
        seen: dict[int, tuple[int, float | None, list[str]]] = {}
        random = Random(seed)
        for _ in range(games):
            found += _play_once(adapter, random, most_moves, seen)
            if found:
                break
    except GameError as error:
        found.append(str(error))
    return found


def _play_once(
    adapter: ObjectAdapter,
    random: Random,
    most_moves: int,
    seen: dict[int, tuple[int, float | None, list[str]]],
) -> list[str]:
    state: Any = adapter.first
    keys: list[int] = []
    for _ in range(most_moves):
        key, player, value, moves, texts = adapter.describe(state)
        facts = (player, value, texts)
        if adapter.describe(state)[:3] != (key, player, value) or adapter.describe(state)[4] != texts:
            return [f"{adapter.name} answers otherwise when it is asked twice"]
        if seen.setdefault(key, facts) != facts:
            return [f"two positions of {adapter.name} have one key and differ: {clip(state)}"]
        if not adapter.can_recur and key in keys:
            return [f"a position of {adapter.name} occurs twice in a game, although can_recur is False"]
        if value is not None:
            return []
        keys.append(key)
        place = random.randrange(len(moves))
        after = adapter.play(state, moves[place])
        if adapter.describe(state)[0] != key or adapter.describe(state)[4] != texts:
            return [f"play() of {adapter.name} changes the position that it is called on"]
        if adapter.describe(adapter.play(state, moves[place]))[0] != adapter.describe(after)[0]:
            return [f"the same move of {adapter.name} leads to two keys"]
        state = after
    return [f"a game of {adapter.name} has not ended after {most_moves} moves"]
