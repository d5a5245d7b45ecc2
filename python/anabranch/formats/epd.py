"""EPD lines: a position with operations.

This file reads text. The moves of an operation are read where the variant is known: `anabranch.bench.suite`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anabranch.errors import SuiteError

_SPACE = re.compile(r"\s*")
_OPCODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OPERAND = re.compile(r'"([^"]*)"|([^\s;"]+)')


def read_operations(text: str) -> dict[str, list[str]]:
    """The operations of an EPD line, each an opcode with its operands.

    >>> read_operations('bm Nf3 e4; dm 3; id "one; or two";')
    {'bm': ['Nf3', 'e4'], 'dm': ['3'], 'id': ['one; or two']}
    """
    operations: dict[str, list[str]] = {}
    at = _skip(text, 0)
    while at < len(text):
        opcode = _OPCODE.match(text, at)
        if opcode is None:
            raise SuiteError(f"an operation should begin at {text[at : at + 20]!r}")
        operands: list[str] = []
        at = _skip(text, opcode.end())
        while at < len(text) and text[at] != ";":
            operand = _OPERAND.match(text, at)
            if operand is None:
                raise SuiteError("a quoted text has no end")
            operands.append(operand[2] if operand[1] is None else operand[1])
            at = _skip(text, operand.end())
        if opcode[0] in operations:
            raise SuiteError(f"the operation {opcode[0]} stands twice")
        operations[opcode[0]] = operands
        at = _skip(text, at + 1)
    return operations


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def read_epd(line: str) -> tuple[str, dict[str, list[str]]]:
    """The position (FEN) and the operations of an EPD line: board, side to move, castling, en passant, then
    operations. The two counters of a FEN may stand before the operations, or come as `hmvc` and `fmvn`.

    >>> read_epd('6k1/5ppp/8/8/8/8/8/R5K1 w - - hmvc 3; id "back rank";')
    ('6k1/5ppp/8/8/8/8/8/R5K1 w - - 3 1', {'hmvc': ['3'], 'id': ['back rank']})
    """
    fields = line.split(maxsplit=4)
    if len(fields) < 4:
        raise SuiteError("an EPD has four fields before its operations")
    rest = fields[4] if len(fields) > 4 else ""
    counters = re.match(r"((?:\d\+\d\s+)?)(?:(\d+)\s+(\d+)(?:\s+|$))?", rest)
    assert counters is not None  # every part of it may be missing
    checks, clock, number = counters.groups()
    operations = read_operations(rest[counters.end() :])
    clock = clock or read_number(operations, "hmvc") or "0"
    number = number or read_number(operations, "fmvn") or "1"
    return " ".join([*fields[:4], *checks.split(), clock, number]), operations


def read_number(operations: dict[str, list[str]], opcode: str, *, is_signed: bool = False) -> str | None:
    """The operand of an operation that takes a whole number; `None` where there is no such operation."""
    if opcode not in operations:
        return None
    text = " ".join(operations[opcode])
    digits = text.removeprefix("-") if is_signed else text
    if not (digits.isascii() and digits.isdigit()):
        raise SuiteError(f"{opcode} takes a whole number, not {text!r}")
    return text


@dataclass(frozen=True, slots=True)
class PositionLine:
    """A line of a file of positions."""

    number: int
    """The first is 1."""
    text: str
    """As it stands there."""
    id: str | None = None
    """What the file calls the position."""
    position: str | None = None
    """A FEN, or the start of the game, either with moves; `None` where the line cannot be read."""
    error: str | None = None
    """Why it cannot."""


def read_positions(lines: Iterable[str]) -> Iterator[PositionLine]:
    """The positions of a file, line by line: EPD, FEN, or either "startpos" or a FEN with "moves ...". Empty
    lines and lines that begin with '#' are skipped.

    >>> lines = ["8/8/8/4k3/8/8/3QK3/8 w - - bm Qd4;", "startpos moves e2e4"]
    >>> [one.position for one in read_positions(lines)]
    ['8/8/8/4k3/8/8/3QK3/8 w - - 0 1', 'startpos moves e2e4']
    """
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not is_position_line(text):
            continue
        if text.split(maxsplit=1)[0] == "startpos" or re.search(r"\smoves(\s|$)", text.partition('"')[0]):
            yield PositionLine(number, text, position=text)
            continue
        try:
            position, operations = read_epd(text)
            yield PositionLine(number, text, " ".join(operations.get("id", [])) or None, position)
        except SuiteError as error:
            yield PositionLine(number, text, error=str(error))


def is_position_line(line: str) -> bool:
    """Whether a line of a file of positions holds one.

    >>> is_position_line("startpos"), is_position_line("# a remark"), is_position_line(" ")
    (True, False, False)
    """
    text = line.strip()
    return bool(text) and not text.startswith("#")
