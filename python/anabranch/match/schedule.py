"""The description of a match, and the games it consists of.

Every opening is played twice by two players with colours reversed, and all players of a round play the same
opening. Pairs are numbered so that a longer match begins with the games of a shorter one. Nothing here plays.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, Literal

from anabranch.catalogue import is_grid
from anabranch.errors import MatchError
from anabranch.match.adjudication import Adjudication
from anabranch.match.game import GameSpec
from anabranch.match.grid_board import canonical_name, identity_of
from anabranch.match.openings import Opening, digest, rules_of
from anabranch.match.player import PlayerSpec
from anabranch.match.statistics import Sprt

Mode = Literal["round-robin", "gauntlet"]


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """The description of a match. Equal ones consist of the same games.

    >>> from anabranch.match import read_player
    >>> texts = ("preset:mcgs,evaluations=100", "preset:alphazero,evaluations=100")
    >>> players = tuple(map(read_player, texts))
    >>> MatchSpec(players, (Opening("8/8/8/8/8/2k5/7P/K7 w - - 0 1"),), pairs=10).mode
    'round-robin'
    """

    players: tuple[PlayerSpec, ...]
    openings: tuple[Opening, ...]
    pairs: int = 100
    """Pairs of games of every two players that play each other."""
    variant: str = "chess"
    chess960: bool = False
    mode: Mode = "round-robin"
    """All against all (round-robin), or the first against all others (gauntlet)."""
    adjudication: Adjudication = field(default_factory=Adjudication)
    margin: float = 1.0
    """Seconds that a move may be late."""
    timeout: float = 60.0
    """Seconds without a reply, where there is no clock, after which a program counts as hanging."""
    seed: int = 0
    """Seed of the opening order; engines use seed + pair number."""
    sprt: Sprt | None = None
    anchor: tuple[str, float] | None = None
    """A player and its rating; by default the last of more than two players has 0."""
    game: object = None
    """A game written in Python, in place of a variant; it must be possible to pickle it."""
    first: int = 0
    """The number of the first pair: several machines can play parts of one match."""

    def __post_init__(self) -> None:
        self._check_rules()
        if len(self.players) < 2:
            raise MatchError("a match needs two players")
        names = [player.name for player in self.players]
        for name in names:
            if names.count(name) > 1:
                raise MatchError(f"two players are called {name}; write NAME=KIND:...")
        for player in self.players:
            if not player.budget.is_set:
                raise MatchError(
                    f"player {player.name} has no limit: evaluations, simulations, nodes, time or clock"
                )
        if self.pairs < 1:
            raise MatchError("a match has at least one pair of games")
        if self.first < 0:
            raise MatchError(f"the number of the first pair is 0 or more, not {self.first}")
        if not self.openings:
            raise MatchError("a match needs an opening")
        if self.mode not in ("round-robin", "gauntlet"):
            raise MatchError(f"a match is a round-robin or a gauntlet, not {self.mode!r}")
        if self.anchor is not None and self.anchor[0] not in names:
            raise MatchError(f"the anchor {self.anchor[0]} is no player of the match")
        if self.anchor is not None and not math.isfinite(self.anchor[1]):
            raise MatchError(f"the rating of an anchor is a number, not {self.anchor[1]}")
        if self.sprt is not None and len(self.players) != 2:
            raise MatchError("an SPRT is for two players")
        if not (self.margin >= 0.0 and self.timeout > 0.0):
            raise MatchError("margin and timeout are numbers of seconds")

    def _check_rules(self) -> None:
        """Refuse what cannot be played; the name of a game besides chess becomes that of the core."""
        if self.game is None and not is_grid(self.variant):
            rules_of(self.variant)
            return
        name = canonical_name(self.variant, self.game)
        object.__setattr__(self, "variant", name)
        self.adjudication.check_grid(name)
        for player in self.players:
            if player.kind == "uci":
                raise MatchError(
                    f"player {player.name} is a UCI program, which plays chess and its variants, not {name}"
                )
        if self.chess960:
            raise MatchError(f"Chess960 is for chess and its variants, not for {name}")

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """The players that play each other, by their indices."""
        others = range(1, len(self.players))
        if self.mode == "gauntlet":
            return [(0, other) for other in others]
        return list(combinations(range(len(self.players)), 2))

    @property
    def games(self) -> int:
        """The number of games."""
        return 2 * self.pairs * len(self.pairings)

    def schedule(self) -> Iterator[GameSpec]:
        """All games, in the order in which they are played."""
        order = self._order()
        meetings = len(self.pairings)
        for pair in range(self.first * meetings, (self.first + self.pairs) * meetings):
            for game in (0, 1):
                yield self._game(pair, game, order)

    def _order(self) -> list[int]:
        order = list(range(len(self.openings)))
        random.Random(self.seed).shuffle(order)
        return order

    def _game(self, pair: int, game: int, order: list[int]) -> GameSpec:
        turn, pairing = divmod(pair, len(self.pairings))
        first, second = (self.players[place] for place in self.pairings[pairing])
        white, black = (first, second) if game == 0 else (second, first)
        opening = self.openings[order[turn % len(order)]]
        seed = self.seed + pair
        return GameSpec(
            pair, game, self.variant, self.chess960, opening, white, black, self.adjudication, self.margin,
            self.timeout, seed, self.game,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As plain values; of the openings, number and checksum."""
        values = asdict(self)
        values["game"] = identity_of(self.variant, self.game) or None
        values["openings"] = {"count": len(self.openings), "sha256": digest(self.openings)}
        return values
