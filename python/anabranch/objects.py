"""Games written in Python: a position is an immutable object of a class with a handful of methods.

Such a class needs

* `legal_moves()`: the legal moves in a fixed order, equal positions the same; anything that `str` writes;
* `play(move)`: the position after a move; the object itself stays what it is;
* `outcome()`: `None` while the game goes on, else the result for player 0, from -1 (lost) to 1 (won);
* `player`: who is to move, 0 or 1 (an attribute or a method);
* `key()`: what makes two positions the same: an integer, a text, bytes, or a tuple of them.

Optional are `players` (2; 1 for a game of one player, whose outcomes are scores), `can_recur` (True; False
where no position can occur twice in a game), `most_moves` (10,000, after which a game that has not ended is
at fault), `move_text(move)` and `text()` (`str` without them).
`check_game` finds what is wrong with a class. `Engine(game=MyGame())` plays it: slow, because every new
position is a call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from typing import Any, Protocol, Self

from anabranch.errors import GameError
from anabranch.rows import clip, raise_endless, read_most_moves

MOST_MOVES = 1024
"""The largest number of moves of a position."""


class PythonGame(Protocol):
    """A position of a game that is written in Python."""

    @property
    def player(self) -> int:
        """The player to move, 0 or 1."""

    def legal_moves(self) -> Sequence[Any]:
        """The legal moves, in a fixed order."""

    def play(self, move: Any, /) -> Self:
        """The position after a move."""

    def outcome(self) -> float | None:
        """The result for player 0, from -1 to 1; `None` while the game goes on."""

    def key(self) -> Hashable:
        """What makes two positions the same."""


class ObjectAdapter:
    """The methods of a game written in Python as the core calls them, with their results checked."""

    def __init__(self, game: object) -> None:
        missing = [
            name
            for name in ("legal_moves", "play", "outcome", "key")
            if not callable(getattr(game, name, None))
        ]
        self.name = type(game).__name__
        if not self._guard("player", lambda: hasattr(game, "player")):
            missing.append("player")
        if missing:
            raise GameError(f"a game has {', '.join(missing)}, and {self.name} has not")
        players = getattr(game, "players", 2)
        if players not in (1, 2):
            raise GameError(f"a game has one or two players, and {self.name} has {players!r}")
        self.first = game
        self.takes_turns = players == 2
        self.arguments: str | None = None
        """Those of its class, where the game was loaded by name."""
        self.can_recur = bool(getattr(game, "can_recur", True))
        self.most_moves = read_most_moves(game)

    def first_key(self) -> Hashable:
        """What identifies the first position."""
        key: Hashable = self._ask(self.first, "key")
        return key

    def has_no_end(self) -> None:
        """Raise: a game goes on for too long."""
        raise_endless(self.name, self.most_moves)

    def describe(self, state: Any) -> tuple[int, int, float | None, list[Any], list[str]]:
        """Key, player, value for the side to move if the game is over, moves, and their texts."""
        player = self.player_of(state)
        outcome = self._ask(state, "outcome")
        key = key_number(self._ask(state, "key"), self.name)
        if outcome is not None:
            return key, player, self._value(outcome, player), [], []
        moves = self._guard("legal_moves", lambda: list(state.legal_moves()))
        if not moves:
            raise GameError(
                f"{self.name} has no legal move in a position where outcome() is None: {clip(state)}"
            )
        if len(moves) > MOST_MOVES:
            raise GameError(
                f"{self.name} has {len(moves)} legal moves in a position, and {MOST_MOVES} are the most"
            )
        write = getattr(state, "move_text", str)
        texts = self._guard("move_text", lambda: [str(write(move)) for move in moves])
        if len(set(texts)) < len(texts) or not all(texts) or any(text.split() != [text] for text in texts):
            raise GameError(f"the texts of moves of {self.name} are words, each once, not {clip(texts)}")
        return key, player, None, moves, texts

    def play(self, state: Any, move: Any) -> Any:
        """The position after a move."""
        after = self._ask(state, "play", move)
        if type(after) is not type(state):
            raise GameError(f"play() of {self.name} returns a {self.name}, not {type(after).__name__}")
        return after

    def picture(self, state: Any) -> str:
        """The position as people write it."""
        return str(self._ask(state, "text" if callable(getattr(state, "text", None)) else "__str__"))

    def text(self, state: Any) -> str:
        """The same in one word, and the side to move."""
        words = self.picture(state).split()
        return f"{'/'.join(words) or '-'} {'xo'[self.player_of(state)]}"

    def player_of(self, state: Any) -> int:
        """The player to move."""
        player = self._guard("player", lambda: state.player() if callable(state.player) else state.player)
        if player not in (0, 1) or (player == 1 and not self.takes_turns):
            most = "0 or 1" if self.takes_turns else "0 in a game of one player"
            raise GameError(f"the player of {self.name} is {most}, not {clip(player)}")
        return int(player)

    def _ask(self, state: Any, method: str, *arguments: Any) -> Any:
        return self._guard(method, lambda: getattr(state, method)(*arguments))

    def _guard(self, method: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except GameError:
            raise
        except Exception as error:
            raise GameError(f"{method}() of {self.name} raised {type(error).__name__}: {error}") from error

    def _value(self, outcome: Any, player: int) -> float:
        try:
            value = float(outcome)
        except (TypeError, ValueError):
            value = math.nan
        if not -1.0 <= value <= 1.0:
            raise GameError(f"outcome() of {self.name} is None or from -1 to 1, not {clip(outcome)}")
        return value if player == 0 else -value


def key_number(key: object, name: str) -> int:
    """A key as a number of 64 bits."""
    if not _is_plain(key):
        raise GameError(f"key() of {name} is an integer, a text, bytes or a tuple of them, not {clip(key)}")
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "little")


def _is_plain(key: object) -> bool:
    if isinstance(key, tuple):
        return all(_is_plain(part) for part in key)
    return key is None or type(key) in (int, str, bytes, bool)
