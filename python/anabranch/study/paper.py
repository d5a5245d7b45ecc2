"""The numbers that the paper reports, and under which conditions.

Czech, Korus, Kersting: Monte-Carlo Graph Search for AlphaZero. Its figures are pictures; these are the
numbers of its text.
"""

from __future__ import annotations

ABLATION: dict[tuple[str, str], float] = {
    ("crazyhouse", "mcgs"): 110.0,
    ("crazyhouse", "alphazero+epsilon"): 100.0,
    ("crazyhouse", "mcgs-combined"): 310.0,
    ("chess", "mcgs-combined"): 69.0,
}
"""Elo above `alphazero`, by variant and preset, five seconds per move."""
CONDITIONS = (
    "The paper played at five seconds per move, which on its hardware is about 17,000 evaluations per second "
    "and graphs of 100,000 to 800,000 nodes in crazyhouse; its curves show gains that grow with the budget."
)
MEMORY_SAVED = (0.3, 0.7)
"""The share of memory that the graph saves, least and most, depending on the position."""
MOVE_BYTES = 8
"""Bytes of a legal move in the paper's engine, CrazyAra: every node has an array of priors (`float`) and one
of moves (`int`) of the length of its policy, whether a move is ever tried or not. Read in a version of its
source that may not be the paper's."""
REUSED_NODES = (100_000, 800_000)
"""Nodes per move in crazyhouse at five seconds per move, least and most, growing over the game."""
