"""A message as few bytes: its 16-bit numbers apart from its words, as second differences.

Curves are smooth, so that second differences of 16-bit numbers are small: their high bytes are
nearly constant and compress well. Packing loses nothing, and equal messages give equal bytes.

The block is gzip of: length of the JSON (32 bits), the JSON, the low bytes of all differences,
their high bytes. In the JSON `{"@": [first, count]}` stands for a run of numbers.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RUN = "@"  # the only key of an object that stands for numbers; no message has such a key
_LENGTH = struct.Struct("<I")


class Encoded(str):
    """16-bit numbers, little-endian, as base64 text."""

    __slots__ = ()

    @classmethod
    def of(cls, numbers: NDArray[np.int16]) -> Encoded:
        return cls(base64.b64encode(numbers.astype("<i2").tobytes()).decode())

    @property
    def numbers(self) -> NDArray[np.int16]:
        return np.frombuffer(base64.b64decode(self), "<i2")


def pack(message: Any) -> bytes:
    """Pack a message of plain values and `Encoded` numbers.

    Examples
    --------
    >>> numbers = Encoded.of(np.array([3, -5, 32767], dtype=np.int16))
    >>> unpack(pack({"curve": numbers, "word": "mean"})) == {"curve": numbers, "word": "mean"}
    True
    """
    differences: list[NDArray[np.uint16]] = []
    first = 0

    def without_numbers(value: Any) -> Any:
        nonlocal first
        if isinstance(value, Encoded):
            numbers = value.numbers
            differences.append(_second_differences(numbers.view(np.uint16)))
            first += len(numbers)
            return {_RUN: [first - len(numbers), len(numbers)]}
        if isinstance(value, dict):
            return {key: without_numbers(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [without_numbers(part) for part in value]
        return value

    text = json.dumps(without_numbers(message), ensure_ascii=False, separators=(",", ":")).encode()
    joined = np.concatenate([np.empty(0, np.uint16), *differences])
    low, high = (joined & 255).astype(np.uint8), (joined >> 8).astype(np.uint8)
    block = b"".join((_LENGTH.pack(len(text)), text, low.tobytes(), high.tobytes()))
    return gzip.compress(block, 9, mtime=0)


def unpack(packed: bytes) -> Any:
    """Return the message of `pack`."""
    block = gzip.decompress(packed)
    end = _LENGTH.size + _LENGTH.unpack_from(block)[0]
    low, high = np.frombuffer(block[end:], np.uint8).astype(np.uint16).reshape(2, -1)
    joined = low | (high << 8)

    def with_numbers(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {_RUN}:
                first, count = value[_RUN]
                differences = joined[first : first + count]
                sums = np.cumsum(np.cumsum(differences, dtype=np.uint16), dtype=np.uint16)
                return Encoded.of(sums.view(np.int16))
            return {key: with_numbers(part) for key, part in value.items()}
        return [with_numbers(part) for part in value] if isinstance(value, list) else value

    return with_numbers(json.loads(block[_LENGTH.size : end]))


def _second_differences(numbers: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Take differences of differences, modulo 2¹⁶, of numbers that begin at nought."""
    zero = np.zeros(1, np.uint16)
    return np.diff(np.diff(numbers, prepend=zero), prepend=zero)
