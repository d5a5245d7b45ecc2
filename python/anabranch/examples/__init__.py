"""Games of rows as examples of the contract (`anabranch.rows`): Connect Four for two players, and puzzles of
one player.

They use NumPy alone, and nothing of the search.
"""

from anabranch.examples.connect_four import ConnectFour

__all__ = ["ConnectFour"]
