"""TFRecord files, read without TensorFlow. A record: its length (8 bytes, little-endian), the masked CRC-32C of these 8
bytes, the data, the masked CRC-32C of the data. There is nothing else in the file."""

import struct
from collections.abc import Iterator
from typing import BinaryIO

import google_crc32c

_HEAD = struct.Struct("<QI")
_FOOT = struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
MAX_RECORD_BYTES = 1 << 30


def read_records(stream: BinaryIO, *, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the byte offset and the data of each record; one record is in memory at a time. `name` is the file's, for
    messages. Raises ValueError: a record is cut short, its checksum is wrong, or it is longer than
    `MAX_RECORD_BYTES`."""
    offset = 0
    while head := stream.read(_HEAD.size):
        location = f"{name}, record at byte {offset}"
        if len(head) < _HEAD.size:
            raise ValueError(f"{location}: expected a head of {_HEAD.size} bytes, the file ends after {len(head)}")
        length, checksum = _HEAD.unpack(head)
        _check(head[:8], checksum, f"{location}: its length")
        if length > MAX_RECORD_BYTES:
            raise ValueError(f"{location}: expected at most {MAX_RECORD_BYTES} bytes, it says it has {length}")
        data, foot = stream.read(length), stream.read(_FOOT.size)
        if len(data) < length or len(foot) < _FOOT.size:
            raise ValueError(
                f"{location}: expected {length} bytes and a checksum, the file ends after {len(data) + len(foot)}"
            )
        _check(data, _FOOT.unpack(foot)[0], f"{location}: its data")
        yield offset, data
        offset += _HEAD.size + length + _FOOT.size


def masked_crc32c(data: bytes) -> int:
    """Return the CRC-32C in the form in which the files store it: rotated by 15 bits, plus a constant."""
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _check(data: bytes, stored: int, subject: str) -> None:
    computed = masked_crc32c(data)
    if computed != stored:
        raise ValueError(
            f"{subject} has the masked CRC-32C {computed:#010x}, expected {stored:#010x}: damaged, or no TFRecord file"
        )
