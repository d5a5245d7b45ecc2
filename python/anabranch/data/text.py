"""Texts from files, compressed or not, and from standard input, in pieces that end between games.

Where pieces end depends on the text alone, so a reader that was interrupted can go on at the end of any.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from anabranch.errors import DataError
from anabranch.optional import lacking

PIECE = 1 << 22
"""Bytes of a piece, and up to the end of the game there."""
LONGEST = 1 << 26
"""Bytes after which a piece ends even within a game."""

_GAME = re.compile(rb"\n\r?\n(?=[ \t]*\[Event )")
_TAGS = re.compile(rb"\n\r?\n(?=\[)")


class Piece(NamedTuple):
    """Some whole games."""

    text: bytes
    end: int
    """Where it ends in the text, in bytes."""
    consumed: int
    """Bytes of the file that were read for it; 0 where that cannot be known."""


def open_text(path: Path) -> tuple[BinaryIO, BinaryIO]:
    """A file as text and as it is; `-` is standard input. Compression is recognised by the first bytes."""
    try:
        raw = sys.stdin.buffer if str(path) == "-" else path.open("rb", 1 << 20)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    assert isinstance(raw, io.BufferedReader)
    first = raw.peek(4)[:4]
    if first == b"\x28\xb5\x2f\xfd":
        try:
            import zstandard
        except ImportError as error:
            raise lacking("a .zst file needs the package zstandard", "data") from error
        tool = zstandard.ZstdDecompressor(max_window_size=1 << 31)
        return cast("BinaryIO", tool.stream_reader(raw, read_across_frames=True)), raw
    if first[:3] == b"BZh":
        return cast("BinaryIO", bz2.BZ2File(raw)), raw
    if first[:2] == b"\x1f\x8b":
        return cast("BinaryIO", gzip.GzipFile(fileobj=raw)), raw
    return raw, raw


def read_pieces(path: Path, begin: int = 0, size: int = PIECE) -> Iterator[Piece]:
    """The pieces of a text from some byte on."""
    stream, raw = open_text(path)
    seekable = str(path) != "-"
    try:
        _skip(stream, begin)
        buffer = b""
        end = begin
        while True:
            more = _read(stream, size)
            buffer += more
            while (cut := _cut(buffer, size, not more)) > 0:
                end += cut
                yield Piece(buffer[:cut], end, raw.tell() if seekable else 0)
                buffer = buffer[cut:]
            if not more:
                return
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}") from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise DataError(f"{path} is damaged: {error}") from error
    finally:
        if seekable:
            stream.close()
            raw.close()


def _read(stream: BinaryIO, size: int) -> bytes:
    """As many bytes as wanted, fewer only at the end."""
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _skip(stream: BinaryIO, count: int) -> None:
    while count > 0 and (part := _read(stream, min(count, PIECE))):
        count -= len(part)


def _cut(buffer: bytes, size: int, is_last: bool) -> int:
    """Where the first piece of a buffer ends; 0 if that is not known yet."""
    match = _GAME.search(buffer, size) if len(buffer) > size else None
    if match is None and len(buffer) > LONGEST:
        match = _TAGS.search(buffer, size)
        if match is None:
            return LONGEST
    if match is not None:
        return match.end()
    return len(buffer) if is_last else 0
