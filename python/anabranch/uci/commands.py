"""The commands with arguments, read from text: position, go, setoption.

Only forms are read: unknown words are passed over, numbers out of all reason are cut. Whether moves
are legal and options exist is checked elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 2**31 - 1
LONGEST_ECHO = 80
"""Characters of the input that are repeated in an error."""


@dataclass(frozen=True, slots=True)
class Go:
    """The arguments of `go`. Times are milliseconds."""

    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    movetime: int | None = None
    nodes: int | None = None
    depth: int | None = None
    mate: int | None = None
    perft: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()

    @property
    def is_endless(self) -> bool:
        """Whether nothing but a stop ends it."""
        limits = (self.wtime, self.btime, self.movetime, self.nodes, self.depth, self.mate)
        return self.infinite or all(limit is None for limit in limits)

    @property
    def has_only_a_clock(self) -> bool:
        """Whether a clock is the only limit."""
        others = (self.movetime, self.nodes, self.depth, self.mate)
        return not self.is_endless and all(limit is None for limit in others)

    def clock(self, white: bool) -> tuple[int, int] | None:
        """Time left and increment of a side; the other side's where only that was given."""
        own, other = (self.wtime, self.btime) if white else (self.btime, self.wtime)
        left = other if own is None else own
        if left is None:
            return None
        increment = (self.winc if white else self.binc) or 0
        return max(0, left), max(0, increment)


_NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate", "perft")
_AT_LEAST_ONE = ("movestogo", "nodes", "depth", "mate", "perft")


def read_go(words: list[str]) -> Go:
    """The arguments of `go`.

    >>> go = read_go("movetime 100 searchmoves e2e4 d2d4 nonsense nodes x ponder".split())
    >>> go.movetime, go.searchmoves, go.nodes, go.ponder
    (100, ('e2e4', 'd2d4'), None, True)
    """
    numbers: dict[str, int] = {}
    flags: dict[str, bool] = {}
    moves: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word in _NUMBERS:
            number = _number(words[place]) if place < len(words) else None
            if number is not None:
                numbers[word] = max(number, 1) if word in _AT_LEAST_ONE else number
                place += 1
        elif word in ("infinite", "ponder"):
            flags[word] = True
        elif word == "searchmoves":
            while place < len(words) and is_move(words[place]):
                moves.append(words[place].lower() if "@" not in words[place] else words[place])
                place += 1
    return Go(
        **numbers,
        infinite=flags.get("infinite", False),
        ponder=flags.get("ponder", False),
        searchmoves=tuple(moves),
    )


def _number(text: str) -> int | None:
    if len(text) > 40:
        text = text[:40] if text.lstrip("+-").isdigit() else "x"
    try:
        return max(-LARGEST, min(LARGEST, int(text)))
    except ValueError:
        return None


def is_move(word: str) -> bool:
    """Whether a word has the form of a move: e2e4, e7e8q, N@f3.

    >>> [is_move(word) for word in ("e2e4", "e7e8q", "N@f3", "ponder", "0000")]
    [True, True, True, False, True]
    """
    if word == "0000":
        return True
    if len(word) == 4 and word[1] == "@":
        return word[0].upper() in "PNBRQK" and word[2] in "abcdefgh" and word[3] in "12345678"
    word = word.lower()
    squares = len(word) in (4, 5) and all(word[i] in "abcdefgh" and word[i + 1] in "12345678" for i in (0, 2))
    return squares and (len(word) == 4 or word[4] in "pnbrqk")


def read_position(words: list[str]) -> tuple[str | None, list[str]] | None:
    """The arguments of `position`: a FEN, `None` for the start of the game, and moves. `None` where neither
    is given.

    >>> read_position("startpos moves e2e4".split())
    (None, ['e2e4'])
    >>> read_position("fen 8/8/8/8/8/8/8/K1k5 w - - 0 1".split())
    ('8/8/8/8/8/8/8/K1k5 w - - 0 1', [])
    """
    while words and words[0] not in ("startpos", "fen"):
        words = words[1:]
    if not words:
        return None
    try:
        at = words.index("moves")
    except ValueError:
        at = len(words)
    fen = None if words[0] == "startpos" else " ".join(words[1:at])
    return fen, words[at + 1 :]


def read_setoption(words: list[str]) -> tuple[str, str] | None:
    """The name and the value of `setoption`; both may have spaces.

    >>> read_setoption("name Debug Log File value my log.txt".split())
    ('Debug Log File', 'my log.txt')
    >>> read_setoption("name Clear Hash".split())
    ('Clear Hash', '')
    """
    if not words or words[0] != "name":
        return None
    try:
        at = words.index("value")
    except ValueError:
        at = len(words)
    return " ".join(words[1:at]), " ".join(words[at + 1 :])
