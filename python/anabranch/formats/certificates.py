"""Certificates: files with the proof of a win or loss, as JSON lines.

The first line is the header: the game and the claim. Each other line is one position of the proof. A
certificate stays on the disk while it is used: `Certificate` checks the form of all lines once, keeps the
offset and the plies of each, and reads a position when it is asked for, so that memory does not depend on the
moves in it. This file knows the form only; `anabranch.verify` checks what the lines say.
"""

from __future__ import annotations

import json
import os
import stat
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NoReturn, Self, cast

from anabranch.errors import ProofError
from anabranch.jobs.files import write_atomic

FORMAT = "anabranch-proof"
VERSION = 1
LONGEST_LINE = 1 << 20
"""In bytes, with its end."""
SHORTEST_LINE = len('{"id":0,"plies":0}\n')
MOST_POSITIONS = 4_000_000
MOST_PLIES = 60_000


@dataclass(frozen=True)
class Header:
    """The first line: the game up to the root, and what is proven of it."""

    variant: str
    chess960: bool
    fen: str
    moves: list[str]
    result: Literal["win", "loss"]
    """For the side to move at the root."""
    plies: int
    nodes: int


@dataclass(frozen=True)
class ProofNode:
    """A position of the proof: the attacker's with one move, the defender's with all, an end with none."""

    id: int
    plies: int
    moves: dict[str, int] = field(default_factory=dict)
    """The moves, each with the number of the position after it."""
    kind: Literal["attacker", "defender", "end"] = "end"


class Certificate:
    """An open certificate, whose lines have the right form: every number of a position from 0 on stands once,
    and the root, 0, first. It is closed like a file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file = _open(self.path)
        try:
            self.header = self._read_header()
            self.plies = array("H", bytes(2 * self.header.nodes))
            self._offsets = array("q", bytes(8 * self.header.nodes))
            self._lines = array("L", bytes(array("L").itemsize * self.header.nodes))
            self._index()
        except BaseException:
            self.close()
            raise

    def node(self, id: int) -> ProofNode:
        """Read a position."""
        self._file.seek(self._offsets[id])
        node = self._read_node(self._read_line(self._lines[id]), self._lines[id])
        if node.id != id or node.plies != self.plies[id]:
            self.refuse("the file has changed", id)
        return node

    def refuse(self, reason: str, id: int | None = None) -> NoReturn:
        """Raise an error about the line of a position, or about the header."""
        self._refuse(1 if id is None else self._lines[id], reason)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refuse(self, line: int, reason: str) -> NoReturn:
        raise ProofError(f"line {line} of {self.path}: {reason}")

    def _read_line(self, number: int) -> bytes:
        """The line that begins where the file stands; empty at the end of the file."""
        text = self._file.readline(LONGEST_LINE + 1)
        if len(text) > LONGEST_LINE:
            self._refuse(number, f"a line has at most {LONGEST_LINE:,} bytes")
        return text

    def _parse(self, text: bytes, line: int) -> dict[str, Any]:
        try:
            document = json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _TwiceError) else "this is no JSON object"
            self._refuse(line, reason)
        if not isinstance(document, dict):
            self._refuse(line, "this is no JSON object")
        return cast("dict[str, Any]", document)

    def _read_header(self) -> Header:
        document = self._parse(self._read_line(1), 1)
        if document.pop("format", None) != FORMAT:
            self._refuse(1, f"the format is not {FORMAT!r}")
        version = document.pop("version", None)
        if not _is_number(version) or version != VERSION:
            self._refuse(1, f"the version is {_show(version)}; only {VERSION} can be read")
        self._require_fields(document, Header.__dataclass_fields__, 1)
        for name in ("variant", "fen"):
            if not isinstance(document[name], str):
                self._refuse(1, f"{name} is {_show(document[name])}, no text")
        if not isinstance(document["chess960"], bool):
            self._refuse(1, f"chess960 is {_show(document['chess960'])}, neither true nor false")
        moves = document["moves"]
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            self._refuse(1, "moves is no list of texts")
        if document["result"] not in ("win", "loss"):
            self._refuse(1, f"the result is {_show(document['result'])}, neither 'win' nor 'loss'")
        self._require_number("plies", document["plies"], 1, MOST_PLIES, 1)
        self._require_number("nodes", document["nodes"], 1, MOST_POSITIONS, 1)
        header = Header(**document)
        # Checked before memory is reserved for them.
        if header.nodes > os.fstat(self._file.fileno()).st_size // SHORTEST_LINE:
            self._refuse(1, f"the file is too short for {header.nodes} positions")
        return header

    def _index(self) -> None:
        """Read all positions once."""
        for index in range(self.header.nodes):
            line, offset = index + 2, self._file.tell()
            text = self._read_line(line)
            if not text:
                self._refuse(line, f"the file ends after {index} of {self.header.nodes} positions")
            node = self._read_node(text, line)
            if index == 0 and node.id != 0:
                self._refuse(line, f"the first position is {node.id}, not the root, 0")
            if self._lines[node.id]:
                self._refuse(line, f"position {node.id} is already in line {self._lines[node.id]}")
            self._lines[node.id], self._offsets[node.id], self.plies[node.id] = line, offset, node.plies
        line = self.header.nodes + 2
        if self._read_line(line):
            self._refuse(line, f"the file goes on after its {self.header.nodes} positions")

    def _read_node(self, text: bytes, line: int) -> ProofNode:
        document = self._parse(text, line)
        match document:
            case {"move": move, "to": to}:
                self._require_fields(document, ("id", "plies", "move", "to"), line)
                kind, moves = "attacker", {move: to} if isinstance(move, str) else None
            case {"moves": listed}:
                self._require_fields(document, ("id", "plies", "moves"), line)
                kind, moves = "defender", listed if isinstance(listed, dict) and listed else None
            case _:
                self._require_fields(document, ("id", "plies"), line)
                kind, moves = "end", {}
        if moves is None:
            self._refuse(line, "the moves have the wrong form")
        last = self.header.nodes - 1
        self._require_number("id", document["id"], 0, last, line)
        self._require_number("plies", document["plies"], 0, MOST_PLIES, line)
        for move, to in moves.items():
            self._require_number(f"the position after {_show(move)}", to, 0, last, line)
        return ProofNode(document["id"], document["plies"], moves, cast("Any", kind))

    def _require_fields(self, document: dict[str, Any], names: Iterable[str], line: int) -> None:
        names = list(names)
        for name in names:
            if name not in document:
                self._refuse(line, f"there is no {name}")
        for name in document:
            if name not in names:
                self._refuse(line, f"{_show(name)} does not belong here")

    def _require_number(self, name: str, number: Any, least: int, most: int, line: int) -> None:
        if not _is_number(number) or not least <= number <= most:
            self._refuse(line, f"{name} is {_show(number)}, no number from {least} to {most}")


def write_certificate(path: str | Path, header: Header, nodes: Iterable[Mapping[str, Any]]) -> None:
    """Write a certificate; positions are given as the objects of their lines."""
    first = {"format": FORMAT, "version": VERSION, **asdict(header)}
    write_atomic(Path(path), "".join(json.dumps(line) + "\n" for line in (first, *nodes)))


def _open(path: Path) -> IO[bytes]:
    """A regular file, which can be read twice. Anything else raises `OSError`."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file")
    return file


class _TwiceError(ValueError):
    """A name stands twice in an object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, value in pairs:
        if name in document:
            raise _TwiceError(f"{_show(name)} stands twice in an object")
        document[name] = value
    return document


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


__all__ = ["FORMAT", "VERSION", "Certificate", "Header", "ProofNode", "write_certificate"]
