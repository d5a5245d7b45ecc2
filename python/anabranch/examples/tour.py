"""The travelling salesman: a round tour through all cities, as short as possible.

Distances are whole numbers. A score of 1 is a tour as long as a lower bound of all tours, so only a tour that
meets this bound is proven to be the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anabranch.rows import States

STATE = np.dtype([("visited", "<u8"), ("length", "<i8"), ("city", "u1")])
MOST_CITIES = 60


class Tour:
    """A state is the set of cities that were visited, the way so far, and the city where it ends. The tour
    begins at city 0; an action is the next city.

    >>> from anabranch import Engine
    >>> distances = [[0, 1, 9, 1], [1, 0, 1, 9], [9, 1, 0, 1], [1, 9, 1, 0]]
    >>> Engine(game=Tour(distances)).search(simulations=100).best_move in ("1", "3")
    True
    """

    players = 1
    can_recur = False

    def __init__(self, distances: Sequence[Sequence[int]] | States) -> None:
        table = np.asarray(distances)
        count = len(table)
        is_table = table.shape == (count, count) and table.dtype.kind in "iu"
        if not is_table or not 3 <= count <= MOST_CITIES or (table < 0).any():
            raise ValueError(f"distances are a table of whole numbers for 3 to {MOST_CITIES} cities")
        self.distances = table.astype(np.int64)
        self.actions = tuple(str(city) for city in range(count))
        others = self.distances + np.diag(np.full(count, 1 << 40))
        arriving, leaving = others.min(axis=0).sum(), others.min(axis=1).sum()
        nearest = np.sort(np.minimum(others, others.T), axis=1)[:, :2].sum()
        self.least = int(max(arriving, leaving, -(-int(nearest) // 2)))
        """No tour is shorter: every city has a way in and a way out."""
        self.most = max(self.least + 1, self._greedy() * 5 // 4)
        """A quarter more than always going to the nearest city: longer tours are all worth -1."""
        self._everywhere = np.uint64((1 << count) - 1)

    def _greedy(self) -> int:
        """The length of the tour that always goes to the nearest city."""
        city, left, length = 0, set(range(1, len(self.distances))), 0
        while left:
            nearest = min(left, key=lambda other: (self.distances[city, other], other))
            length += int(self.distances[city, nearest])
            left.remove(nearest)
            city = nearest
        return length + int(self.distances[city, 0])

    @classmethod
    def random(cls, cities: int, seed: int = 0) -> Tour:
        """Cities at random places of a square of 1000 by 1000."""
        places = np.random.default_rng(seed).integers(0, 1000, (cities, 2))
        return cls.of_places(places)

    @classmethod
    def of_places(cls, places: States) -> Tour:
        """Cities at places of the plane; distances are rounded."""
        apart = places[:, None, :] - places[None, :, :]
        return cls(np.rint(np.hypot(apart[..., 0], apart[..., 1])).astype(np.int64))

    def first(self) -> States:
        """At city 0."""
        return np.array((1, 0, 0), STATE)

    def player(self, states: States) -> States:
        """The only one."""
        return np.zeros(len(states), np.uint8)

    def play(self, states: States, actions: States) -> States:
        """To the next city; after the last one back to city 0."""
        after = np.empty_like(states)
        after["visited"] = states["visited"] | (np.uint64(1) << actions.astype(np.uint64))
        way = self.distances[states["city"], actions]
        home = np.where(after["visited"] == self._everywhere, self.distances[actions, 0], 0)
        after["length"] = states["length"] + way + home
        after["city"] = actions
        return after

    def legal(self, states: States) -> States:
        """Cities that were not visited."""
        cities = np.arange(len(self.actions), dtype=np.uint64)
        legal: States = (states["visited"][:, None] >> cities) & np.uint64(1) == 0
        return legal

    def outcome(self, states: States) -> States:
        """How short the tour is, from 1 for `least` to -1 for `most` and more."""
        score = 1 - 2 * (states["length"] - self.least) / (self.most - self.least)
        return np.where(states["visited"] == self._everywhere, np.maximum(score, -1), np.nan)

    def length(self, outcome: float) -> int:
        """The length of a tour with an outcome above -1."""
        return round(self.least + (1 - outcome) / 2 * (self.most - self.least))
