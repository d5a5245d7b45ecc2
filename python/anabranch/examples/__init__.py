"""Games of rows as examples of the contract (`anabranch.rows`): Connect Four for two players, and puzzles of
one player.

They use NumPy alone, and nothing of the search.
"""

from anabranch.examples.connect_four import ConnectFour
from anabranch.examples.left_right import LeftRight
from anabranch.examples.morpion import Morpion
from anabranch.examples.same_game import SameGame
from anabranch.examples.tour import Tour

__all__ = ["ConnectFour", "LeftRight", "Morpion", "SameGame", "Tour"]
