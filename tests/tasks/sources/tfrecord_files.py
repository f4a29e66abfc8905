"""TFRecord files of tf.train.Example messages, as the published shards are made of."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

from tasks.sources.tensor2tensor import masked_crc32c

Values = Sequence[bytes] | Sequence[float] | Sequence[int]


def write_records(stream: BinaryIO, records: Iterable[bytes]) -> None:
    """Write records one after the other."""
    for data in records:
        length = struct.pack("<Q", len(data))
        stream.write(length + _checksum(length) + data + _checksum(data))


def write_example(features: Mapping[str, Values]) -> bytes:
    """Return an Example. A list's kind is that of its first value; an empty one counts as bytes."""
    entries = b""
    for name, values in features.items():
        entries += _field(1, _field(1, name.encode()) + _field(2, _feature(values)))
    return _field(1, entries)


def _checksum(data: bytes) -> bytes:
    return struct.pack("<I", masked_crc32c(data))


def _feature(values: Values) -> bytes:
    first = values[0] if values else b""
    if isinstance(first, bytes):
        return _field(1, b"".join(_field(1, value) for value in values if isinstance(value, bytes)))
    if isinstance(first, float):
        return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))
    packed = b"".join(_number(value & ((1 << 64) - 1)) for value in values if isinstance(value, int))
    return _field(3, _field(1, packed))


def _field(number: int, content: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(content)) + content


def _number(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
