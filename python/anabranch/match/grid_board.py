"""A game besides chess under way in a match: its rules, its position and the moves so far.

The rules are those of the core or of a game written in Python. White is the first player, who is written x,
Black the second, o. Nothing here chooses moves.
"""

from __future__ import annotations

from anabranch.catalogue import base_name
from anabranch.engine import Engine
from anabranch.errors import AnabranchError, MatchError
from anabranch.match.adjudication import BLACK_WINS, DRAW, WHITE_WINS
from anabranch.named_games import (
    OBJECT,
    ROWS,
    Adapter,
    adapter_of,
    class_name,
    find_named,
    is_reference,
)
from anabranch.objects import key_number

RULES = "rules"
"""The reason of a game that was played to its end."""


class GridBoard:
    """A game from an opening on.

    >>> board = GridBoard("connect-four", "4 4")
    >>> board.push("3")
    >>> board.turn, board.position
    (False, '4 4 moves 3')
    """

    def __init__(self, variant: str, opening: str = "startpos", game: object = None) -> None:
        self._referee = referee_of(variant, game)
        self._opening = opening
        self._moves: list[str] = []
        try:
            self._referee.position = opening
        except AnabranchError as error:
            raise MatchError(f"the position {opening} cannot be read: {error}") from error
        if self._referee.is_over:
            raise MatchError(f"the game is already over in {opening}")

    @property
    def turn(self) -> bool:
        """Whether the first player is to move."""
        return self._referee.player == 0

    @property
    def text(self) -> str:
        """The board and the side to move."""
        return self._referee.position

    @property
    def position(self) -> str:
        """The opening and the moves since, as an engine takes them."""
        return f"{self._opening} moves {' '.join(self._moves)}" if self._moves else self._opening

    @property
    def fullmove_number(self) -> int:
        """The number of the next move, counted for both players together, from 1 on."""
        return len(self._moves) // 2 + 1

    @property
    def legal_moves(self) -> tuple[str, ...]:
        """The legal moves as texts."""
        return self._referee.legal_moves

    def push(self, move: str) -> None:
        """Play a move."""
        self._referee.play(move)
        self._moves.append(move)

    def ending(self) -> tuple[str, str] | None:
        """Result and reason where the rules end the game. Outcomes between a draw and a win count as wins."""
        value = self._referee.ending
        if value is None:
            return None
        if value == 0.0:
            return DRAW, RULES
        return (WHITE_WINS if (value > 0.0) == self.turn else BLACK_WINS), RULES


def referee_of(variant: str, game: object = None) -> Engine:
    """An engine that is asked for the rules alone."""
    return Engine(game=variant if game is None else game, evaluator="uniform", threads=1)


def canonical_name(variant: str, game: object = None) -> str:
    """The name of a game with its parameters, as the core writes it; refused if two cannot play it.

    >>> canonical_name("Hex:size=7"), canonical_name("tic_tac_toe")
    ('hex:size=7', 'tic-tac-toe')
    """
    has_name = game is None and is_reference(variant)
    adapter = _adapter_of(variant, game)
    if adapter is not None and not adapter.takes_turns:
        raise MatchError(f"a match is between two players, and {adapter.name} is a game of one")
    if adapter is None and base_name(variant) in (OBJECT, ROWS):
        raise MatchError(f"a match of {variant} needs the game itself: MatchSpec(..., game=...)")
    return variant if has_name else referee_of(variant, game).variant


def _adapter_of(variant: str, game: object) -> Adapter | None:
    """A game written in Python, if it is given or loaded: a description of a match imports no module."""
    if game is None or isinstance(game, str):
        return find_named(variant)
    return adapter_of(game)


def identity_of(variant: str, game: object = None) -> str:
    """What identifies a game written in Python: its class and first position; nothing for others."""
    adapter = _adapter_of(variant, game)
    if adapter is None:
        return ""
    key = key_number(adapter.first_key(), adapter.name)
    return f"{class_name(adapter).replace(':', '.')} {key:016x}"
