"""The messages between a shard's process and its extracting process: a JSON object and a body of bytes."""

import json
import struct
from typing import IO, Any

_HEADER = struct.Struct(">II")  # lengths in bytes of the JSON object and of the body


def write_frame(stream: IO[bytes], message: dict[str, Any], body: bytes = b"") -> None:
    """Write one message and flush. Raises BrokenPipeError: the other process has ended."""
    head = json.dumps(message).encode("ascii")
    stream.write(_HEADER.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read one message; None if the other process closed the stream (or died within a message)."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    head_length, body_length = _HEADER.unpack(header)
    head, body = stream.read(head_length), stream.read(body_length)
    if len(head) < head_length or len(body) < body_length:
        return None
    return json.loads(head), body
