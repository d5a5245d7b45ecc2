"""Network files of Lc0 with random weights, written by hand: all kinds of heads that residual towers have."""

import gzip
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAGIC = 0x1C0


def varint(number: int) -> bytes:
    """A number as the protocol buffer has it."""
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def message(number: int, content: bytes) -> bytes:
    """A field that holds a message or bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def integer(number: int, value: int) -> bytes:
    """A field that holds a number."""
    return varint(number << 3) + varint(value)


def real(number: int, value: float) -> bytes:
    """A field that holds a float."""
    return varint(number << 3 | 5) + struct.pack("<f", value)


def layer(numbers: NDArray[np.float64]) -> bytes:
    """The numbers of a layer in 16 bits."""
    least, most = float(numbers.min()), float(numbers.max()) + 1e-6
    codes = np.round((numbers.ravel() - least) / (most - least) * 65535).astype("<u2")
    return real(1, least) + real(2, most) + message(3, codes.tobytes())


class Writer:
    """Writes networks of one seed."""

    def __init__(self, seed: int = 1) -> None:
        self._source = np.random.default_rng(seed)

    def network(
        self,
        *,
        policy: str = "convolution",
        value: str = "wdl",
        moves_left: bool = False,
        squeeze: bool = True,
        mish: bool = False,
        blocks: int = 2,
        filters: int = 8,
        licence: str = "none",
    ) -> bytes:
        """The message of a network."""
        kind = integer(1, 1) + integer(2, 1 + (value == "wdl")) + integer(3, 4 if squeeze else 3)
        kind += integer(4, {"classical": 1, "convolution": 2, "attention": 3}[policy])
        kind += integer(5, 2 if value == "wdl" else 1) + integer(6, int(moves_left)) + integer(7, int(mish))
        form = integer(1, 1) + message(2, kind)
        weights = message(1, self._conv(112, filters, 3))
        for _ in range(blocks):
            weights += message(2, self._block(filters, squeeze))
        weights += self._policy(policy, filters)
        weights += self._head(6, 7, filters, 32, 3 if value == "wdl" else 1)
        if moves_left:
            weights += self._head(12, 13, filters, 8, 1)
        version = integer(1, 0) + integer(2, 28) + integer(3, 0)
        head = varint(1 << 3 | 5) + struct.pack("<I", MAGIC) + message(2, licence.encode())
        return head + message(3, version) + message(4, form) + message(10, weights)

    def write(self, path: Path, **kinds: object) -> Path:
        """A file with a network."""
        path.write_bytes(gzip.compress(self.network(**kinds)))  # type: ignore[arg-type]
        return path

    def _random(self, *shape: int, scale: float = 1.0) -> NDArray[np.float64]:
        return self._source.standard_normal(shape) * scale

    def _conv(self, inputs: int, outputs: int, size: int, *, plain: bool = False) -> bytes:
        spread = (inputs * size * size) ** -0.5
        found = message(1, layer(self._random(outputs, inputs, size, size, scale=spread)))
        if plain:
            return found + message(2, layer(self._random(outputs)))
        found += message(3, layer(self._random(outputs, scale=0.1)))
        found += message(4, layer(self._source.uniform(0.5, 1.5, outputs)))
        found += message(5, layer(self._source.uniform(0.5, 1.5, outputs)))
        return found + message(6, layer(self._random(outputs, scale=0.1)))

    def _dense(self, number: int, inputs: int, outputs: int) -> bytes:
        found = message(number, layer(self._random(outputs, inputs, scale=inputs**-0.5)))
        return found + message(number + 1, layer(self._random(outputs, scale=0.3)))

    def _block(self, filters: int, squeeze: bool) -> bytes:
        found = message(1, self._conv(filters, filters, 3)) + message(2, self._conv(filters, filters, 3))
        if squeeze:
            found += message(3, self._dense(1, filters, 4) + self._dense(3, 4, 2 * filters))
        return found

    def _policy(self, kind: str, filters: int) -> bytes:
        if kind == "classical":
            return message(3, self._conv(filters, 4, 1)) + self._dense(4, 4 * 64, 1858)
        if kind == "convolution":
            last = self._conv(filters, 80, 3, plain=True)
            return message(11, self._conv(filters, filters, 3)) + message(3, last)
        # Attention: an embedding, queries, keys, and promotions.
        found = b"".join(self._dense(number, filters, filters) for number in (4, 17, 19))
        return found + message(22, layer(self._random(4, filters, scale=0.3)))

    def _head(self, conv: int, first: int, filters: int, planes: int, outputs: int) -> bytes:
        """A head of the sizes that Lc0's converter takes for granted."""
        found = message(conv, self._conv(filters, planes, 1)) + self._dense(first, planes * 64, 128)
        return found + self._dense(first + 2, 128, outputs)
