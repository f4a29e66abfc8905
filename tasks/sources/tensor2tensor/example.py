"""TFRecord files and the tf.train.Example messages in them, read without TensorFlow or protobuf.

A record: its length (8 bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, the masked CRC-32C of the
data. There is nothing else in the file.

Example  { Features features = 1 }                Features { map<string, Feature> feature = 1 }
Feature  { oneof: BytesList bytes_list = 1, FloatList float_list = 2, Int64List int64_list = 3 }
...List  { repeated value = 1 }                   a map entry has its key in field 1 and its value in field 2"""

import struct
from collections.abc import Iterator, Sequence
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


Values = Sequence[bytes] | Sequence[float] | Sequence[int]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_BYTES_LIST, _FLOAT_LIST, _INT64_LIST = 1, 2, 3


def read_example(message: bytes) -> dict[str, Values]:
    """Return the features of an Example: lists of bytes, floats or ints by name. Raises ValueError: it is not an
    Example."""
    features: dict[str, Values] = {}
    for _, wire, part in _fields(message, only=1):
        for _, entry_wire, entry in _fields(_bytes(part, wire), only=1):
            pair = {number: _bytes(value, kind) for number, kind, value in _fields(_bytes(entry, entry_wire))}
            try:
                features[pair.get(1, b"").decode()] = _values(pair.get(2, b""))
            except UnicodeDecodeError as error:
                raise ValueError(f"expected a feature's name in UTF-8, got {pair[1][:40]!r}") from error
    return features


def _values(feature: bytes) -> Values:
    values: Values = []
    for kind, wire, content in _fields(feature):
        items = list(_fields(_bytes(content, wire), only=1))
        if kind == _BYTES_LIST:
            values = [_bytes(item, item_wire) for _, item_wire, item in items]
        elif kind == _FLOAT_LIST:
            values = [number for _, item_wire, item in items for number in _floats(item, item_wire)]
        elif kind == _INT64_LIST:
            values = [number for _, item_wire, item in items for number in _integers(item, item_wire)]
    return values


def _floats(item: bytes | int, wire: int) -> Sequence[float]:
    """Return floats, packed or alone."""
    if isinstance(item, int) or len(item) % 4 or wire not in (_BYTES, _FIXED32):
        raise ValueError(f"expected 32-bit floats, got wire type {wire}")
    return struct.unpack(f"<{len(item) // 4}f", item)


def _integers(item: bytes | int, wire: int) -> Iterator[int]:
    """Yield 64-bit integers, packed or alone."""
    if isinstance(item, int):
        yield _signed(item)
        return
    position, data = 0, _bytes(item, wire)
    while position < len(data):
        number, position = _varint(data, position)
        yield _signed(number)


def _signed(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def _fields(message: bytes, only: int | None = None) -> Iterator[tuple[int, int, bytes | int]]:
    """Yield number, wire type and content of each field."""
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        number, wire = tag >> 3, tag & 7
        content: bytes | int
        if wire == _VARINT:
            content, position = _varint(message, position)
        elif wire in (_BYTES, _FIXED32, _FIXED64):
            size, position = (
                _varint(message, position) if wire == _BYTES else ((4 if wire == _FIXED32 else 8), position)
            )
            content = message[position : position + size]
            position += size
            if position > len(message):
                raise ValueError(
                    f"expected an Example, but field {number} reaches {position - len(message)} bytes past the end"
                )
        else:
            raise ValueError(f"expected an Example, but field {number} has the wire type {wire}")
        if only is None or number == only:
            yield number, wire, content


def _varint(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while position < len(message) and shift < 70:
        byte = message[position]
        number |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return number, position
        shift += 7
    raise ValueError(f"expected an Example, but the number at byte {position} does not end")


def _bytes(content: bytes | int, wire: int) -> bytes:
    if wire != _BYTES or isinstance(content, int):
        raise ValueError(f"expected an Example, but a message has the wire type {wire}")
    return content
