"""Games of OpenSpiel as games written in Python: deterministic ones of perfect information, for one or two
players.

Needs the extra `anabranch[openspiel]`. The games on a grid of the core are much faster than these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.errors import GameError
from anabranch.optional import require


class OpenSpielGame:
    """A position of a game of OpenSpiel.

    >>> from anabranch import Engine
    >>> engine = Engine(game=load_game("tic_tac_toe"))
    >>> engine.search(simulations=200).best_move in engine.legal_moves
    True
    """

    def __init__(self, state: Any, merge: bool) -> None:
        game = state.get_game()
        self._state = state
        self._merge = merge
        self._most = max(abs(game.max_utility()), abs(game.min_utility()))
        self.players: int = game.num_players()
        self.can_recur = merge

    @property
    def player(self) -> int:
        """The player to move; where the game is over, who would be next does not matter."""
        number: int = self._state.current_player()
        return max(number, 0)

    def legal_moves(self) -> Sequence[int]:
        """The actions."""
        actions: list[int] = self._state.legal_actions()
        return actions

    def move_text(self, move: int) -> str:
        """An action as OpenSpiel writes it, in one word."""
        return self.text_of(self._state, move)

    @staticmethod
    def text_of(state: Any, action: int) -> str:
        """The same for a state of OpenSpiel."""
        return "".join(state.action_to_string(action).split()) + f"#{action}"

    def play(self, move: int) -> OpenSpielGame:
        """The position after an action."""
        return OpenSpielGame(self._state.child(move), self._merge)

    def outcome(self) -> float | None:
        """The return of player 0, as a share of the largest."""
        return self._state.returns()[0] / self._most if self._state.is_terminal() else None

    def key(self) -> tuple[str, int]:
        """The text of the position, or all actions that led to it."""
        text = str(self._state) if self._merge else self._state.history_str()
        return text, self._state.current_player()

    def __str__(self) -> str:
        return str(self._state)


def load_game(name: str, *, merge: bool = False) -> OpenSpielGame:
    """The first position of a game of OpenSpiel, by the name that `pyspiel.load_game` takes.

    With `merge`, positions with equal texts are one. That is right where the text shows all that matters;
    without it nothing is merged. Games of chance, of hidden information or of more players are refused.

    >>> load_game("tic_tac_toe").legal_moves()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    spiel = require("pyspiel", "openspiel")
    try:
        game = spiel.load_game(name)
    except spiel.SpielError as error:
        raise GameError(f"OpenSpiel has no game {name!r}: {' '.join(str(error).split())[:200]}") from error
    return wrap_game(game, merge=merge)


def wrap_game(game: Any, *, merge: bool = False) -> OpenSpielGame:
    """The same for a game that `pyspiel.load_game` has loaded.

    >>> import pyspiel
    >>> wrap_game(pyspiel.load_game("tic_tac_toe")).outcome() is None
    True
    """
    spiel = require("pyspiel", "openspiel")
    kind, name = game.get_type(), str(game)
    if kind.chance_mode != spiel.GameType.ChanceMode.DETERMINISTIC:
        raise GameError(f"{name} is a game of chance, and the search is for deterministic games")
    if kind.information != spiel.GameType.Information.PERFECT_INFORMATION:
        raise GameError(f"{name} hides information, and the search is for games of perfect information")
    if kind.dynamics != spiel.GameType.Dynamics.SEQUENTIAL:
        raise GameError(f"the players of {name} move at once, and the search is for games with turns")
    if game.num_players() > 2:
        raise GameError(f"{name} has {game.num_players()} players, and the search is for one or two")
    if game.num_players() == 2 and kind.utility != spiel.GameType.Utility.ZERO_SUM:
        raise GameError(f"{name} is not a game of zero sum")
    return OpenSpielGame(game.new_initial_state(), merge)
