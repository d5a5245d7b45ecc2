"""Network files as bytes: which family they are of, the top-level fields of ONNX files, and their seal.

An ONNX file is a protocol buffer. Its top-level fields are walked here without parsing what is in them, so
that the seal covers every byte and does not depend on who wrote or reads the file. Nothing here knows what a
network is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from anabranch.errors import NetworkError
from anabranch.networks.metadata import SHA256

LARGEST = 2**31 - 1
"""Bytes; a protocol buffer cannot be larger."""
METADATA_FIELD = 14
"""Number of the field `metadata_props` of an ONNX model."""
LONGEST_HEADER = 100_000_000
"""Bytes that the header of a safetensors file may have."""
GZIP = b"\x1f\x8b"
LC0_BEGIN = b"\x0d\xc0\x01\x00\x00"
"""How an unpacked network of Lc0 begins: the field `magic` of its message."""

Family: TypeAlias = Literal["onnx", "sparse", "lc0"]


class DamageError(ValueError):
    """The content is not that of a sound file; the text is the end of a sentence that names it."""


class Field(NamedTuple):
    """A field of a protocol buffer."""

    number: int
    value: memoryview
    raw: memoryview
    """All of it, with its tag."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a network file."""
    file = Path(path)
    try:
        if file.is_dir():
            raise NetworkError(f"{file} is a directory, not a network file")
        if file.exists() and not file.is_file():
            raise NetworkError(f"{file} is not a regular file")
        if (size := file.stat().st_size) > LARGEST:
            raise NetworkError(f"{file} is too large for a network: {size:,} bytes")
        content = file.read_bytes()
    except FileNotFoundError:
        raise NetworkError(f"there is no network file {file}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, NetworkError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise NetworkError(f"{file} cannot be read: {reason}") from error
    if not content:
        raise NetworkError(f"{file} is empty")
    return content


def family_of(path: str | os.PathLike[str], content: bytes) -> Family:
    """Which family a file is of, by its content; a name that ends in .pb.gz means Lc0 too, whatever it holds.

    What may hold code is refused.
    """
    if content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise NetworkError(f"{path} is a pickle, which may hold any code, and is not opened")
    if content.startswith(b"PK\x03\x04"):
        raise NetworkError(
            f"{path} is a zip archive, as torch.save writes it with a pickle inside, and is not opened"
        )
    if content.startswith(b"version https://git-lfs"):
        raise NetworkError(f"{path} is only a pointer of Git LFS; 'git lfs pull' brings the network")
    if content.startswith((GZIP, LC0_BEGIN)) or str(path).lower().endswith(".pb.gz"):
        return "lc0"
    length = int.from_bytes(content[:8], "little")
    if len(content) > 8 and content[8:9] == b"{" and 2 <= length <= LONGEST_HEADER:
        return "sparse"
    return "onnx"


def fields(content: bytes | memoryview) -> Iterator[Field]:
    """The fields of a protocol buffer, in their order."""
    view = memoryview(content)
    at = 0
    while at < len(view):
        begin = at
        tag, at = _varint(view, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise DamageError("it is not an ONNX file")
        start = at
        if kind == 0:
            _, at = _varint(view, at)
        elif kind == 1:
            at += 8
        elif kind == 2:
            length, start = _varint(view, at)
            at = start + length
        elif kind == 5:
            at += 4
        else:
            raise DamageError("it is not an ONNX file")
        if at > len(view):
            raise DamageError("it is cut short, or not an ONNX file")
        yield Field(number, view[start:at], view[begin:at])


def read_texts(content: bytes) -> dict[str, str]:
    """The metadata texts of an ONNX file."""
    texts: dict[str, str] = {}
    for each in fields(content):
        if each.number == METADATA_FIELD:
            key, text = _entry(each.value)
            if key in texts:
                raise DamageError(f"its metadata have {key!r} twice")
            texts[key] = text
    return texts


def seal_of(content: bytes) -> str:
    """SHA-256 of every top-level field but the seal itself."""
    digest = hashlib.sha256()
    for each in fields(content):
        if not (each.number == METADATA_FIELD and _entry(each.value)[0] == SHA256):
            digest.update(each.raw)
    return digest.hexdigest()


def with_texts(content: bytes, texts: Mapping[str, str]) -> bytes:
    """The same file with these metadata texts instead of its own, sealed."""
    parts = [bytes(each.raw) for each in fields(content) if each.number != METADATA_FIELD]
    parts += [_write(METADATA_FIELD, _pair(name, texts[name])) for name in sorted(texts) if name != SHA256]
    body = b"".join(parts)
    return body + _write(METADATA_FIELD, _pair(SHA256, seal_of(body)))


def _pair(key: str, text: str) -> bytes:
    return _write(1, key.encode()) + _write(2, text.encode())


def _write(number: int, value: bytes) -> bytes:
    return _write_varint(number << 3 | 2) + _write_varint(len(value)) + value


def _write_varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(view) and shift < 64:
        byte = view[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
    raise DamageError("it is cut short, or not an ONNX file")


def _entry(value: memoryview) -> tuple[str, str]:
    parts = {1: "", 2: ""}
    for each in fields(value):
        if each.number in parts:
            try:
                parts[each.number] = bytes(each.value).decode()
            except UnicodeDecodeError:
                raise DamageError("its metadata are not text") from None
    return parts[1], parts[2]
