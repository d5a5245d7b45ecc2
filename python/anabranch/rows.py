"""Games of rows: the fast way to write a game in Python. A state is a row of an array, and every function of
the game answers for many states at once.

Such a class needs

* `first()`: the first state, an array of any shape and plain type, the same for all states of the game;
* `actions`: the number A of actions, or their texts in a list (without texts, `"0"` to `"A-1"`);
* `play(states, actions)`: the states after one legal action in each, states `[B, ...]` and actions `[B]`;
* `legal(states)`: which actions are legal, `[B, A]` of booleans; what it has for a game that is over does not
  matter;
* `outcome(states)`: the results for player 0, `[B]` from -1 (lost) to 1 (won), `nan` while the game goes on;
* `player(states)`: who is to move, `[B]` of 0 and 1.

Optional are `features(states)`, `[B, C, H, W]` or `[B, F]`, the planes for evaluators (the bytes of the state
without it); `symmetries(states)`, a list of pairs: the mirrored states, and for each action the one that it
becomes; `text(state)` and `parse(text)`, a position as people write it, with a `/` in it; `players` (2; 1 for
a game of one player, whose outcomes are scores); `can_recur` (True; False where no state can occur twice in a
game); `most_moves` (10,000), after which a game that has not ended is at fault.

The states are read-only and belong to the caller; two of them are one position if their bytes are equal.
`anabranch.check_game` finds what is wrong with a class. `Engine(game=MyRows())` plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from anabranch.errors import GameError

MOST_ACTIONS = 65535
"""The largest number of actions of a game."""
MOST_LEGAL = 1024
"""The largest number of legal actions in a state."""
MOST_BYTES = 65536
"""The largest size of a state in bytes."""
MOST_MOVES = 10_000
"""Moves after which a game that has not ended is at fault, unless it says otherwise."""

States: TypeAlias = NDArray[Any]
RowBytes: TypeAlias = tuple[bytes, bytes, bytes, bytes]
"""Rows, legal actions as bits, players, and values for the sides to move, as the core takes them."""


class RowsGame(Protocol):
    """A game whose functions answer for many states at once."""

    @property
    def actions(self) -> int | Sequence[str]:
        """The number of actions, or their texts."""

    def first(self) -> States:
        """The first state."""

    def play(self, states: States, actions: States, /) -> States:
        """The states after one action in each."""

    def legal(self, states: States, /) -> States:
        """Which actions are legal."""

    def outcome(self, states: States, /) -> States:
        """The results for player 0; `nan` while the game goes on."""

    def player(self, states: States, /) -> States:
        """Who is to move."""


def is_rows(game: object) -> bool:
    """Whether a game is one of rows: it has `first` and `legal`."""
    return callable(getattr(game, "legal", None)) and callable(getattr(game, "first", None))


class RowsAdapter:
    """What the core asks a game of rows, with its answers checked. States go in and out as bytes."""

    def __init__(self, game: object) -> None:
        self.name = type(game).__name__
        self.game: Any = game
        names = ("first", "play", "legal", "outcome", "player")
        missing = [name for name in names if not callable(getattr(game, name, None))]
        if not hasattr(game, "actions"):
            missing.append("actions")
        if missing:
            raise GameError(f"a game of rows has {', '.join(missing)}, and {self.name} has not")
        players = getattr(game, "players", 2)
        if players not in (1, 2):
            raise GameError(f"a game has one or two players, and {self.name} has {players!r}")
        self.takes_turns = players == 2
        self.arguments: str | None = None
        """Those of its class, where the game was loaded by name."""
        self.can_recur = bool(getattr(game, "can_recur", True))
        self.most_moves = read_most_moves(game)
        self.texts = self._read_actions(game.actions)  # type: ignore[attr-defined]
        start = self._first()
        self._dtype, self._shape = start.dtype, start.shape
        self.bytes: int = start.nbytes
        self._start = start.tobytes()
        self.plane_shape = self._read_plane_shape()
        self.text(self._start)

    def first_key(self) -> bytes:
        """What identifies the first state."""
        return self._start

    # What the core calls

    def first(self) -> RowBytes:
        """The first state."""
        return self.describe(self.states(self._start))

    def play(self, rows: bytes, actions: bytes) -> RowBytes:
        """The states after one action in each."""
        states = self.states(rows)
        codes = np.frombuffer(actions, "<u2").astype(np.intp)
        return self.describe(self.after(states, codes))

    def features(self, rows: bytes) -> bytes:
        """The features of some states."""
        return self.planes(self.states(rows)).tobytes()

    def text(self, row: bytes) -> str:
        """A state as people write it; its bytes where the game reads no texts."""
        if not callable(getattr(self.game, "parse", None)) or not self._has_text:
            return f"row/{row.hex()}"
        text = self._written(row)
        if "/" not in text or text != " ".join(text.split()):
            raise GameError(
                f"text() of {self.name}, which has parse(), writes a position in one line with a / in it, "
                f"not {clip(text)}"
            )
        return text

    def picture(self, row: bytes) -> str:
        """The board in lines of text."""
        return self._written(row) if self._has_text else f"row/{row.hex()}"

    def read(self, text: str) -> RowBytes:
        """A position from its text."""
        parse = getattr(self.game, "parse", None)
        if text.startswith("row/") and not callable(parse):
            try:
                row = bytes.fromhex(text.removeprefix("row/").split()[0])
            except (ValueError, IndexError):
                row = b""
            if len(row) != self.bytes:
                raise GameError(f"a position of {self.name} is row/ and {self.bytes} bytes in hexadecimal")
            return self.describe(self.states(row))
        if not callable(parse):
            raise GameError(f"{self.name} has no parse(): a position is given by its moves")
        state = self._guard("parse", parse, text)
        if not isinstance(state, np.ndarray) or (state.shape, state.dtype) != (self._shape, self._dtype):
            raise GameError(f"parse() of {self.name} returns {self._kind()}, not {_kind_of(state)}")
        return self.describe(state[None])

    def has_no_end(self) -> None:
        """Raise: a game goes on for too long."""
        raise_endless(self.name, self.most_moves)

    # The same with arrays

    def states(self, rows: bytes) -> States:
        """States from bytes."""
        flat = np.frombuffer(rows, self._dtype)
        return flat.reshape(-1, *self._shape)

    def after(self, states: States, actions: States) -> States:
        """The states after one action in each, checked."""
        states.setflags(write=False)
        after = self._guard("play", self.game.play, states, actions)
        if (
            type(after) is not np.ndarray
            or after.dtype != self._dtype
            or after.shape != (len(states), *self._shape)
        ):
            expected = self._kind(len(states))
            raise GameError(f"play() of {self.name} returns {expected}, not {_kind_of(after)}")
        return cast(States, after)

    def legal(self, states: States) -> NDArray[np.bool_]:
        """Which actions are legal, checked."""
        legal = self._guard("legal", self.game.legal, states)
        shape = (len(states), len(self.texts))
        if type(legal) is not np.ndarray or legal.dtype != np.bool_ or legal.shape != shape:
            raise GameError(
                f"legal() of {self.name} returns an array {list(shape)} of bool, not {_kind_of(legal)}"
            )
        return cast(NDArray[np.bool_], legal)

    def outcome(self, states: States) -> NDArray[np.float64]:
        """The results for player 0, checked."""
        outcome = self._guard("outcome", self.game.outcome, states)
        if type(outcome) is not np.ndarray or outcome.dtype.kind != "f" or outcome.shape != (len(states),):
            raise GameError(
                f"outcome() of {self.name} returns an array [{len(states)}] of float, not {_kind_of(outcome)}"
            )
        values = outcome.astype(np.float64)
        if np.any(np.abs(values) > 1.0):
            wrong = values[np.abs(values) > 1.0][0]
            raise GameError(f"outcome() of {self.name} is nan or from -1 to 1, not {wrong}")
        return values

    def player(self, states: States) -> NDArray[np.uint8]:
        """Who is to move, checked."""
        player = self._guard("player", self.game.player, states)
        if type(player) is not np.ndarray or player.dtype.kind not in "iub" or player.shape != (len(states),):
            raise GameError(
                f"player() of {self.name} returns an array [{len(states)}] of integers, "
                f"not {_kind_of(player)}"
            )
        most = 1 if self.takes_turns else 0
        if len(player) and not 0 <= int(player.min()) <= int(player.max()) <= most:
            allowed = "0 or 1" if self.takes_turns else "0 in a game of one player"
            wrong = player[(player < 0) | (player > most)][0]
            raise GameError(f"the player of {self.name} is {allowed}, not {wrong}")
        return player.astype(np.uint8)

    def planes(self, states: States) -> NDArray[np.float32]:
        """The features as planes `[B, C, H, W]`, checked."""
        planes = self._features(states)
        if planes.shape != (len(states), *self.plane_shape):
            raise GameError(
                f"features() of {self.name} returned {list(planes.shape)} for {len(states)} states, "
                f"which are {[len(states), *self.plane_shape]} by the first state"
            )
        return planes

    def describe(self, states: States) -> RowBytes:
        """States as the core takes them, with what the game says of them."""
        values, players, legal = self.outcome(states), self.player(states), self.legal(states)
        goes_on = np.isnan(values)
        counts = legal.sum(axis=1)
        if np.any(goes_on & (counts == 0)):
            stuck = states[np.flatnonzero(goes_on & (counts == 0))[0]]
            raise GameError(
                f"{self.name} has no legal action in a state where outcome() is nan: {clip(stuck)}"
            )
        if len(self.texts) > MOST_LEGAL and counts.max() > MOST_LEGAL:
            raise GameError(
                f"{self.name} has {counts.max()} legal actions in a state, and {MOST_LEGAL} are the most"
            )
        if self.takes_turns:
            values = np.where(players == 0, values, -values)
        bits = np.packbits(legal, axis=1, bitorder="little")
        return states.tobytes(), bits.tobytes(), players.tobytes(), values.astype("<f8").tobytes()

    @property
    def _has_text(self) -> bool:
        return callable(getattr(self.game, "text", None))

    def _written(self, row: bytes) -> str:
        text = self._guard("text", self.game.text, self.states(row)[0])
        if not isinstance(text, str):
            raise GameError(f"text() of {self.name} returns a text, not {type(text).__name__}")
        return text

    def _features(self, states: States) -> NDArray[np.float32]:
        if not callable(getattr(self.game, "features", None)):
            flat = np.frombuffer(states.tobytes(), np.uint8).reshape(len(states), -1, 1, 1)
            return flat.astype(np.float32)
        given = self._guard("features", self.game.features, states)
        if type(given) is not np.ndarray or given.dtype.kind not in "fiub" or given.ndim not in (2, 4):
            raise GameError(
                f"features() of {self.name} returns numbers [B, C, H, W] or [B, F], not {_kind_of(given)}"
            )
        flat = given if given.ndim == 4 else given[:, :, None, None]
        return np.ascontiguousarray(flat, np.float32)

    def _read_plane_shape(self) -> tuple[int, int, int]:
        features = self._features(self.states(self._start))
        if features.shape[0] != 1 or 0 in features.shape:
            raise GameError(f"features() of {self.name} returned {list(features.shape)} for one state")
        _, planes, rows, columns = features.shape
        return planes, rows, columns

    def _first(self) -> States:
        first = self._guard("first", self.game.first)
        if not isinstance(first, (np.ndarray, np.generic)):
            raise GameError(f"first() of {self.name} returns an array, not {type(first).__name__}")
        array = np.ascontiguousarray(first).reshape(np.shape(first))
        plain = array.dtype.fields is not None or array.dtype.kind in "biuS"
        if array.dtype.hasobject or not plain:
            raise GameError(
                f"states of {self.name} are arrays of integers, booleans or a structure of them, "
                f"not of {array.dtype}"
            )
        if array.dtype.fields is not None:
            sizes = sum(field[0].itemsize for field in array.dtype.fields.values())
            if sizes != array.dtype.itemsize:
                raise GameError(f"the structure of states of {self.name} has gaps between its fields")
        if not 1 <= array.nbytes <= MOST_BYTES:
            raise GameError(
                f"a state of {self.name} has {array.nbytes} bytes, and 1 to {MOST_BYTES} are possible"
            )
        return array

    def _read_actions(self, actions: object) -> list[str]:
        if isinstance(actions, (int, np.integer)) and not isinstance(actions, bool):
            count = int(actions)
        elif isinstance(actions, Sequence) and not isinstance(actions, str):
            count = len(actions)
        else:
            raise GameError(
                f"the actions of {self.name} are their number or their texts, not {clip(actions)}"
            )
        if not 1 <= count <= MOST_ACTIONS:
            raise GameError(f"{self.name} has {count} actions, and 1 to {MOST_ACTIONS} are possible")
        if not isinstance(actions, Sequence):
            return [str(number) for number in range(count)]
        texts = list(actions)
        is_word = all(isinstance(text, str) and text.split() == [text] for text in texts)
        if not is_word or len(set(texts)) < count or any("/" in text for text in texts):
            raise GameError(
                f"the texts of actions of {self.name} are words, each once and without /, not {clip(texts)}"
            )
        return texts

    def _kind(self, count: int | None = None) -> str:
        shape = [*([] if count is None else [count]), *self._shape]
        return f"an array {shape} of {self._dtype}"

    def _guard(self, method: str, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except GameError:
            raise
        except Exception as error:
            raise GameError(f"{method}() of {self.name} raised {type(error).__name__}: {error}") from error


def read_most_moves(game: object) -> int:
    """After how many moves a game that has not ended is at fault."""
    most = getattr(game, "most_moves", MOST_MOVES)
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or not 1 <= most <= 1 << 30:
        raise GameError(f"most_moves of {type(game).__name__} is a number of moves, not {clip(most)}")
    return int(most)


def raise_endless(name: str, most_moves: int) -> None:
    """Raise: a game goes on for too long."""
    raise GameError(
        f"a game of {name} has not ended after {most_moves} moves; if that is right, its most_moves is larger"
    )


def clip(value: object) -> str:
    """The beginning of a value, for messages."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _kind_of(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {list(value.shape)} of {value.dtype}"
    return f"{type(value).__name__} {clip(value)}"
