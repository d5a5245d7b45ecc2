"""The search as a bot of OpenSpiel: it plays any game that `anabranch.openspiel.load_game` takes.

Games that the core knows too are played with its rules, which are much faster. Needs the extra
`anabranch[openspiel]`.

>>> import pyspiel
>>> game = pyspiel.load_game("tic_tac_toe")
>>> bots = [SearchBot(game, simulations=200), pyspiel.make_uniform_random_bot(1, 7)]
>>> pyspiel.evaluate_bots(game.new_initial_state(), bots, 7)[0] >= 0
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anabranch.engine import Engine
from anabranch.errors import GameError
from anabranch.limits import check_count, check_seconds
from anabranch.openspiel import OpenSpielGame, wrap_game
from anabranch.optional import require
from anabranch.result import Result

pyspiel = require("pyspiel", "openspiel")

MoveText = Callable[[Any, int], str]
"""A legal action of a state as a move of the engine."""
SIMULATIONS = 1000
"""Simulations of a move where no limit is given."""


class SearchBot(pyspiel.Bot):  # type: ignore[misc,name-defined]  # it has no types
    """A bot for one game of OpenSpiel; it may play either side.

    `simulations` and `time` (seconds) limit the search of a move. `merge` is that of `load_game`, for games
    that the core does not know. With `native=False` the rules are always OpenSpiel's. Everything else goes
    to the `Engine`: `evaluator`, `preset`, settings.
    """

    def __init__(
        self,
        game: Any,
        *,
        simulations: int | None = None,
        time: float | None = None,
        merge: bool = False,
        native: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        if isinstance(game, str) or not isinstance(game, pyspiel.Game):
            raise GameError(f"a bot takes a game of pyspiel.load_game, not {type(game).__name__}")
        first = wrap_game(game, merge=merge)
        self._simulations = check_count("simulations", simulations, 1)
        self._time = None if time is None else check_seconds("time", time, exclusive=True)
        if self._simulations is None and self._time is None:
            self._simulations = SIMULATIONS
        self._name = str(game)
        found = native_name(game) if native else None
        self._text: MoveText = OpenSpielGame.text_of if found is None else found[1]
        self._engine = Engine(game=first if found is None else found[0], **options)
        self._game = game
        self._begin()

    @property
    def engine(self) -> Engine:
        """The engine, with the graph of the last search."""
        return self._engine

    def restart(self) -> None:
        """Begin a new game."""
        self._engine.reset()
        self._begin()

    def restart_at(self, state: Any) -> None:
        """Begin in the middle of a game."""
        self.restart()
        self._go_to(state)

    def step(self, state: Any) -> int:
        """The action to play."""
        return self._search(state)[1]

    def provides_policy(self) -> bool:
        """The shares of the visits are a policy."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """The share of visits of each action."""
        return self.step_with_policy(state)[0]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """The share of visits of each action, and the action to play."""
        result, action = self._search(state)
        visits = {row.move: row.visits for row in result.moves}
        counts = {legal: visits.get(self._text(state, legal), 0) for legal in state.legal_actions()}
        total = sum(counts.values())
        if total == 0:
            return [(legal, float(legal == action)) for legal in counts], action
        return [(legal, count / total) for legal, count in counts.items()], action

    def _begin(self) -> None:
        self._state = self._game.new_initial_state()
        self._actions: list[int] = []
        self._moves: list[str] = []

    def _go_to(self, state: Any) -> None:
        """Moves of the engine for the actions that have led to a state."""
        if str(state.get_game()) != self._name:
            raise GameError(f"this bot plays {self._name}, not {state.get_game()}")
        actions = state.history()
        if actions[: len(self._actions)] != self._actions:
            self._begin()
        for action in actions[len(self._actions) :]:
            self._moves.append(self._text(self._state, action))
            self._state.apply_action(action)
            self._actions.append(action)
        self._engine.position = list(self._moves)

    def _search(self, state: Any) -> tuple[Result, int]:
        if state.is_terminal():
            raise GameError("the game is over, and there is no action to play")
        self._go_to(state)
        actions = {self._text(state, action): action for action in state.legal_actions()}
        result = self._engine.search(simulations=self._simulations, time=self._time)
        return result, actions[result.best_move]


def native_name(game: Any) -> tuple[str, MoveText] | None:
    """The game of the core that has the same rules, with its moves; `None` where there is none.

    >>> native_name(pyspiel.load_game("hex(board_size=5)"))[0]
    'hex:size=5'
    >>> native_name(pyspiel.load_game("nim")) is None
    True
    """
    given = game.get_parameters()
    match game.get_type().short_name:
        case "connect_four" if (given["rows"], given["columns"], given.get("x_in_row", 4)) == (6, 7, 4):
            return "connect-four", lambda _, action: str(action + 1)
        case "tic_tac_toe":
            return "tic-tac-toe", lambda _, action: f"{'abc'[action % 3]}{action // 3 + 1}"
        case "othello":
            return "othello", _in_lower_case
        case "hex":
            size = given.get("board_size", 11)
            columns, rows = given.get("num_cols", size), given.get("num_rows", size)
            if columns == rows and 2 <= rows <= 19 and not given.get("swap", False):
                return f"hex:size={rows}", _in_lower_case
        case "breakthrough" if 2 <= given["columns"] <= 8 and 4 <= given["rows"] <= 8:
            return f"breakthrough:width={given['columns']},height={given['rows']}", _from_the_top(
                given["rows"]
            )
    return None


def _in_lower_case(state: Any, action: int) -> str:
    text: str = state.action_to_string(action).lower()
    return text


def _from_the_top(rows: int) -> MoveText:
    """Moves of Breakthrough where the first player begins at the top."""

    def turned(state: Any, action: int) -> str:
        text: str = state.action_to_string(action)
        return f"{text[0]}{rows + 1 - int(text[1])}{text[2]}{rows + 1 - int(text[3])}"

    return turned
