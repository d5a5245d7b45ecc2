"""Games written in Python, checked: `check_game` plays random games and says in sentences what is wrong.

It knows games alone, of rows (`anabranch.rows`) and of objects (`anabranch.objects`), and no search.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import GameError
from anabranch.objects import ObjectAdapter
from anabranch.rows import Array, RowsAdapter, clip, is_rows

GAMES = 50
"""Random games that are played."""


def check_game(game: object, games: int = GAMES, *, most_moves: int = 1000, seed: int = 0) -> list[str]:
    """Play random games and say in sentences what is wrong with a game; an empty list means that nothing was
    found.

    It checks what every method returns, whether positions stay what they are when a move is played,
    whether equal keys mean equal positions, and whether games end within `most_moves`; in games of rows also
    whether the answer for a row depends on the other rows, whether texts lead back to their states, and
    whether symmetries are ones.

    >>> from anabranch.examples import ConnectFour
    >>> check_game(ConnectFour(), games=5)
    []
    """
    try:
        if isinstance(game, type):
            raise GameError(f"check_game takes a game, not its class: check_game({game.__name__}())")
        if is_rows(game):
            return _check_rows(RowsAdapter(game), games, most_moves, np.random.default_rng(seed))
        return _check_objects(ObjectAdapter(game), games, most_moves, Random(seed))
    except GameError as error:
        return [str(error)]


def _check_objects(adapter: ObjectAdapter, games: int, most_moves: int, random: Random) -> list[str]:
    seen: dict[int, tuple[int, float | None, list[str]]] = {}
    for _ in range(games):
        if found := _play_once(adapter, random, most_moves, seen):
            return found
    is_alone = all(player == 0 for player, _, _ in seen.values())
    return [_alone(adapter.name)] if adapter.takes_turns and is_alone else []


def _alone(name: str) -> str:
    return f"the player of {name} is 0 in every position: a game of one player has players = 1"


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


# Games of rows


class _Facts(NamedTuple):
    """What a game answers for some states."""

    legal: Array
    outcome: Array
    player: Array
    features: Array


def _facts(adapter: RowsAdapter, states: Array) -> _Facts:
    return _Facts(
        adapter.legal(states), adapter.outcome(states), adapter.player(states), adapter.planes(states)
    )


def _differ(one: _Facts, other: _Facts) -> str | None:
    """The name of an answer in which some states differ."""
    for name, left, right in zip(_Facts._fields, one, other, strict=True):
        if not np.array_equal(left, right, equal_nan=left.dtype.kind == "f"):
            return name
    return None


def _check_rows(adapter: RowsAdapter, games: int, most_moves: int, random: np.random.Generator) -> list[str]:
    """Play all games at once, a move in each at a time."""
    states = adapter.states(adapter.first()[0] * games)
    histories: list[set[bytes]] = [set() for _ in range(games)]
    is_alone = adapter.takes_turns
    for _ in range(most_moves):
        rows, bits, players, values = adapter.describe(states)
        is_alone = is_alone and not any(players)
        legal = np.unpackbits(
            np.frombuffer(bits, np.uint8).reshape(len(states), -1), axis=1, bitorder="little"
        )
        goes_on = np.isnan(np.frombuffer(values, "<f8"))
        found = (
            _check_answers(adapter, states, random)
            or _check_texts(adapter, rows)
            or _check_symmetries(adapter, states, legal, goes_on)
        )
        if not adapter.can_recur and not found:
            found = _check_recurrence(adapter, states, histories)
        if found:
            return [found]
        states, legal = states[goes_on], legal[goes_on]
        histories = [history for history, stays in zip(histories, goes_on, strict=True) if stays]
        if not len(states):
            return [_alone(adapter.name)] if is_alone else []
        actions = np.array([random.choice(np.flatnonzero(row)) for row in legal], np.intp)
        after = adapter.after(states, actions)
        order = random.permutation(len(states))
        again = adapter.after(states[order], actions[order])
        alone = adapter.after(states[:1], actions[:1])
        if again.tobytes() != after[order].tobytes() or alone.tobytes() != after[:1].tobytes():
            return [f"play() of {adapter.name} answers otherwise when other rows stand beside a row"]
        states = adapter.states(after.tobytes())
    return [f"a game of {adapter.name} has not ended after {most_moves} moves"]


def _check_answers(adapter: RowsAdapter, states: Array, random: np.random.Generator) -> str | None:
    """Answers are the same when they are asked twice, in another order, and for a row alone."""
    facts = _facts(adapter, states)
    if name := _differ(facts, _facts(adapter, states)):
        return f"{name}() of {adapter.name} answers otherwise when it is asked twice"
    order = random.permutation(len(states))
    shuffled = _Facts(*(answer[order] for answer in facts))
    alone = _Facts(*(answer[:1] for answer in facts))
    name = _differ(shuffled, _facts(adapter, states[order])) or _differ(alone, _facts(adapter, states[:1]))
    return (
        f"{name}() of {adapter.name} answers otherwise when other rows stand beside a row" if name else None
    )


def _check_texts(adapter: RowsAdapter, rows: bytes) -> str | None:
    row = rows[: adapter.bytes]
    text = adapter.text(row)
    back = adapter.read(text)[0]
    if back != row:
        return f"parse() of {adapter.name} does not lead back to the state of its text {clip(text)}"
    return None


def _check_recurrence(adapter: RowsAdapter, states: Array, histories: list[set[bytes]]) -> str | None:
    for state, history in zip(states, histories, strict=True):
        row = state.tobytes()
        if row in history:
            return f"a position of {adapter.name} occurs twice in a game, although can_recur is False"
        history.add(row)
    return None


def _check_symmetries(adapter: RowsAdapter, states: Array, legal: Array, goes_on: Array) -> str | None:
    """Mirrored states have mirrored moves, the same result and the same player; and a move after the mirror
    leads to the mirror of the move.
    """
    mirror = getattr(adapter.game, "symmetries", None)
    if not callable(mirror):
        return None
    name, count = adapter.name, len(adapter.texts)
    try:
        given = [(np.asarray(other), np.asarray(places)) for other, places in mirror(states)]
    except Exception as error:
        return f"symmetries() of {name} raised {type(error).__name__}: {error}"
    chosen = legal.argmax(axis=1)
    for number, (other, places) in enumerate(given):
        if (other.shape, other.dtype) != (states.shape, states.dtype) or places.shape != (count,):
            return f"symmetries() of {name} returns pairs: states like its argument, and {count} actions"
        if not np.array_equal(np.sort(places), np.arange(count)):
            return f"the actions of symmetry {number} of {name} are no permutation"
        same_legal = np.array_equal(adapter.legal(other)[goes_on][:, places], legal[goes_on][:, :count] > 0)
        same_end = np.array_equal(adapter.outcome(other), adapter.outcome(states), equal_nan=True)
        if (
            not same_legal
            or not same_end
            or not np.array_equal(adapter.player(other), adapter.player(states))
        ):
            return f"symmetry {number} of {name} changes the legal actions, the outcome or the player"
        if not goes_on.any():
            continue
        moved = adapter.after(other[goes_on], places[chosen[goes_on]])
        mirrored = np.asarray(mirror(adapter.after(states[goes_on], chosen[goes_on]))[number][0])
        if moved.tobytes() != mirrored.tobytes():
            return f"a move and symmetry {number} of {name} lead elsewhere than the symmetry and the move"
    return None
