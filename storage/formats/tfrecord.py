"""TFRecord files, read without TensorFlow.

A record: its length (8 bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, the masked CRC-32C of the
data. There is nothing else in the file.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from storage.formats.crc32c import masked_crc32c

_HEAD = struct.Struct("<QI")
_FOOT = struct.Struct("<I")
MAX_RECORD_BYTES = 1 << 30


def read_records(stream: BinaryIO, *, place: str) -> Iterator[tuple[int, bytes]]:
    """Yield the byte offset and the data of each record, holding one.

    Args:
        stream: the file, from its start.
        place: its name, for messages.

    Raises:
        ValueError: a record is cut short, its checksum is wrong, or it is longer than `MAX_RECORD_BYTES`.
    """
    offset = 0
    while head := stream.read(_HEAD.size):
        where = f"{place}, record at byte {offset}"
        if len(head) < _HEAD.size:
            raise ValueError(f"{where}: expected a head of {_HEAD.size} bytes, the file ends after {len(head)}")
        length, checksum = _HEAD.unpack(head)
        _check(head[:8], checksum, f"{where}: its length")
        if length > MAX_RECORD_BYTES:
            raise ValueError(f"{where}: expected at most {MAX_RECORD_BYTES} bytes, it says it has {length}")
        data, foot = stream.read(length), stream.read(_FOOT.size)
        if len(data) < length or len(foot) < _FOOT.size:
            raise ValueError(
                f"{where}: expected {length} bytes and a checksum, the file ends after {len(data) + len(foot)}"
            )
        _check(data, _FOOT.unpack(foot)[0], f"{where}: its data")
        yield offset, data
        offset += _HEAD.size + length + _FOOT.size


def _check(data: bytes, stored: int, what: str) -> None:
    found = masked_crc32c(data)
    if found != stored:
        raise ValueError(
            f"{what} has the masked CRC-32C {found:#010x}, expected {stored:#010x}: damaged, or no TFRecord file"
        )
