"""What solving a position found, as plain values: the verdict for the side to move, the line, the proof."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from anabranch import _core
from anabranch.errors import ProofError
from anabranch.formats.scores import mate_in
from anabranch.jobs.files import write_atomic
from anabranch.result import Line, Root


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The result of `Engine.solve`.

    >>> from anabranch import Engine
    >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
    >>> solution.result, solution.mate, solution.line.moves, solution.proof_positions
    ('win', 1, ('a1a8',), 2)
    """

    result: Literal["win", "loss"] | None
    """For the side to move; `None` while nothing is proven."""
    plies: int | None
    """Length of the line; `None` where it ends before the game does, in Hex at a certain connection."""
    line: Line | None
    """The winner's moves against the longest defence."""
    is_shortest: bool
    """Whether no shorter win exists. The certificate may be that of a longer line."""
    positions: int
    """How often the moves of a position were listed."""
    proof_positions: int
    """Positions of the proof."""
    no_win: bool
    """Whether the side to move has no forced win; with `checks_only`, none by checks alone."""
    checks_only: bool
    """Whether only checks of the attacker were tried."""
    time: float
    """Seconds."""
    certificate: str | None = field(repr=False)
    """The proof as text, see docs/proofs.md."""
    root: Root = field(repr=False)

    @property
    def position(self) -> str:
        """The position (FEN).

        >>> from anabranch import Engine
        >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
        >>> solution.position.split()[0]
        '6k1/5ppp/8/8/8/8/5PPP/R5K1'
        """
        return self.root.fen

    @property
    def mate(self) -> int | None:
        """Moves to the end of the game, negative when the side to move loses; `None` while it is open.

        >>> from anabranch import Engine
        >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
        >>> solution.mate
        1
        """
        return None if self.result is None else mate_in(self.result, self.plies)

    def save_certificate(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file, for `anabranch verify-proof`. It appears whole or not at all.

        >>> from tempfile import TemporaryDirectory
        >>> from anabranch.verify import verify_proof
        >>> from anabranch import Engine
        >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
        >>> with TemporaryDirectory() as folder:
        ...     solution.save_certificate(f"{folder}/mate.jsonl")
        ...     verify_proof(f"{folder}/mate.jsonl").result
        'win'
        """
        if self.certificate is None:
            raise ProofError("nothing is proven about this position, so there is no certificate")
        if self.root.variant not in _core.variants():
            raise ProofError("certificates are for chess and its variants, as python-chess verifies them")
        write_atomic(Path(path), self.certificate)

    def to_dict(self) -> dict[str, Any]:
        """The same in dictionaries, lists and plain values.

        >>> from anabranch import Engine
        >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
        >>> solution.to_dict()["san"]
        '1. Ra8#'
        """
        values = asdict(self)
        values.pop("root")
        values["line"] = None if self.line is None else list(self.line.moves)
        return {
            "position": self.position,
            "variant": self.root.variant,
            "chess960": self.root.chess960,
            "mate": self.mate,
            "san": None if self.line is None else self.line.san,
            **values,
        }

    def to_json(self, indent: int | None = None) -> str:
        """The same as JSON text.

        >>> from anabranch import Engine
        >>> solution = Engine().solve("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", positions=1000)
        >>> solution.to_json()[:14]
        '{"position": "'
        """
        return json.dumps(self.to_dict(), indent=indent)

    def __str__(self) -> str:
        if self.result is None or self.line is None:
            sides = "by checks" if self.checks_only else "at all"
            known = f", no forced win {sides}" if self.no_win else ""
            return f"open after {self.positions:,} positions{known}"
        if self.mate is None:
            return f"{self.result}: {self.line.san}, and the rest is certain"
        exact = " (the shortest)" if self.is_shortest else ""
        return f"{self.result} in {abs(self.mate)}{exact}: {self.line.san}"


def solution_of(report: dict[str, Any], root: Root, seconds: float, checks_only: bool) -> Solution:
    """A report of the core."""
    result, moves = report["result"], tuple(report.pop("line"))
    line = None
    if result is not None:
        line = Line(moves, 1.0 if result == "win" else -1.0, 0, result, report["plies"], root)
    return Solution(**report, line=line, checks_only=checks_only, time=seconds, root=root)
