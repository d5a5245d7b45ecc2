"""Network files of Lc0 (`.pb.gz`): read and checked, without running them.

A file is a protocol buffer, `pblczero.Net` of lczero-common, in gzip or unpacked. The weights of residual
towers are read by `lc0_tower`. Nothing here knows ONNX.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import NetworkError
from anabranch.networks.container import GZIP, LARGEST, LC0_BEGIN, DamageError, fields, read_bytes

MAGIC = (0x1C0).to_bytes(4, "little")

INPUTS = {
    1: "classical",
    2: "castling plane",
    3: "canonical",
    4: "canonical, hectoplies",
    5: "canonical, version 2",
    132: "canonical, hectoplies, armageddon",
    133: "canonical, version 2, armageddon",
}
STRUCTURES = {
    1: "residual",
    2: "residual with squeeze-excitation",
    3: "residual",
    4: "residual with squeeze-excitation",
    5: "ONNX",
    6: "attention body",
    7: "attention body, several heads",
    134: "attention body, several heads",
}
RESIDUAL = (1, 2, 3, 4)
ONNX_INSIDE = 5
POLICIES = {1: "classical", 2: "convolution", 3: "attention"}
VALUES = {1: "classical", 2: "wdl", 3: "parameters"}
ACTIVATIONS = {0: "relu", 1: "mish"}


class ProtoMessage:
    """The fields of a protocol buffer message by their numbers."""

    def __init__(self, content: bytes | memoryview) -> None:
        self._fields: dict[int, list[memoryview]] = defaultdict(list)
        try:
            for each in fields(content):
                self._fields[each.number].append(each.value)
        except DamageError:
            raise DamageError("its message is damaged, or it is not a network of Lc0") from None

    def has(self, number: int) -> bool:
        """Whether the field is there."""
        return number in self._fields

    def all(self, number: int) -> list[ProtoMessage]:
        """The messages of a repeated field."""
        return [ProtoMessage(value) for value in self._fields.get(number, ())]

    def one(self, number: int) -> ProtoMessage:
        """The message of a field; an empty one where it is missing."""
        found = self._fields.get(number)
        return ProtoMessage(found[-1] if found else b"")

    def bytes(self, number: int) -> bytes:
        """The bytes of a field; none where it is missing."""
        found = self._fields.get(number)
        return bytes(found[-1]) if found else b""

    def text(self, number: int) -> str:
        """The text of a field."""
        return self.bytes(number).decode("utf-8", "replace")

    def integer(self, number: int, otherwise: int = 0) -> int:
        """The number of a field that holds a varint."""
        found = self.bytes(number)
        if not found:
            return otherwise
        return sum((byte & 127) << 7 * place for place, byte in enumerate(found))

    def real(self, number: int) -> float:
        """The number of a field of type float."""
        found = self.bytes(number)
        if not found:
            return 0.0
        if len(found) != 4:
            raise DamageError("its message is damaged: a number has the wrong size")
        value: float = struct.unpack("<f", found)[0]
        return value


@dataclass(frozen=True, slots=True)
class Lc0File:
    """A network file of Lc0."""

    path: Path
    size: int
    sha256: str
    """Of the file."""
    licence: str
    least_version: str
    """The oldest Lc0 that can use it."""
    input: int
    structure: int
    policy: str
    value: str
    has_moves_left: bool
    activation: str
    blocks: int
    step: int | None
    accuracy: float | None
    """Share of moves of the training data that the policy predicted, as the file states it."""
    message: ProtoMessage

    @property
    def is_tower(self) -> bool:
        """Whether this is a residual tower that can be read here."""
        return self.structure in RESIDUAL and self.policy in ("classical", "convolution")


def read_lc0(path: str | os.PathLike[str], content: bytes | None = None) -> Lc0File:
    """Open and check a network file of Lc0; what is wrong with it is a NetworkError."""
    file = Path(path)
    content = read_bytes(file) if content is None else content
    try:
        return _read(file, content)
    except DamageError as error:
        raise NetworkError(f"{file} is refused: {error}") from None


def _read(path: Path, content: bytes) -> Lc0File:
    message = ProtoMessage(_unpack(content))
    if message.bytes(1) != MAGIC:
        raise DamageError("it is not a network of Lc0")
    form = message.one(4)
    kind, training, weights = form.one(2), message.one(5), message.one(10)
    version = message.one(3)
    structure = kind.integer(3, 1)
    if structure not in STRUCTURES:
        raise DamageError(f"its structure has the number {structure}, which this version does not know")
    if structure != ONNX_INSIDE and not weights.has(1) and not weights.has(27):
        raise DamageError("it has no weights")
    return Lc0File(
        path=path,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence=message.text(2).strip(),
        least_version=".".join(str(version.integer(number)) for number in (1, 2, 3)),
        input=kind.integer(1, 1),
        structure=structure,
        policy=POLICIES.get(kind.integer(4, 1), "unknown"),
        value=VALUES.get(kind.integer(5, 1), "unknown"),
        has_moves_left=kind.integer(6) == 1,
        activation=ACTIVATIONS.get(kind.integer(7), "unknown"),
        blocks=len(weights.all(2)) or len(weights.all(27)),
        step=training.integer(1) if training.has(1) else None,
        accuracy=training.real(5) / 100 if training.has(5) else None,
        message=message,
    )


def _unpack(content: bytes) -> bytes:
    if content.startswith(LC0_BEGIN):
        return content
    if not content.startswith(GZIP):
        raise DamageError("it is not gzip, as networks of Lc0 are")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(content, LARGEST)
    except zlib.error:
        raise DamageError("its gzip data are damaged") from None
    if unpacker.unconsumed_tail:
        raise DamageError("it is larger than 2 GB when unpacked")
    if not unpacker.eof:
        raise DamageError("it is cut short: its gzip data have no end")
    return found
