"""The extracting process: reads pages from its standard input and writes their text; a page may kill it. It limits
itself, so that nothing remains when the shard's process is killed: the kernel ends it when a page has used up its
processor time, also in C code, and denies it memory beyond its address space. A message is a JSON object and a body."""

import json
import logging
import os
import resource
import signal
import struct
import sys
from dataclasses import asdict
from typing import IO, Any

from lxml import etree

from tasks.extraction.engines import Extracted, extract
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.settings import ExtractSettings

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


def main() -> None:
    """Extract pages until the input ends; end after a page that ran out of memory."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the shard's process ends this one
    logging.disable(logging.CRITICAL)  # engines log every page without a main text
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not mix with the answers
    pages = sys.stdin.buffer
    first = read_frame(pages)
    if first is None:
        return
    settings = ExtractSettings.model_validate(first[0])
    memory = settings.memory_mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    write_frame(answers, {"ready": True})
    while (frame := read_frame(pages)) is not None:
        signal.setitimer(signal.ITIMER_PROF, settings.cpu_seconds)  # SIGPROF has no handler, so it ends the process
        answer = _answer(*frame, settings)
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_frame(answers, answer)
        if answer["reason"] == DocumentReason.EXTRACTION_MEMORY:
            return


def _answer(message: dict[str, Any], body: bytes, settings: ExtractSettings) -> dict[str, Any]:
    """Return the fields of `Extracted` for a page, whatever is wrong with it."""
    try:
        return asdict(extract(body, message["mime"], message["charset"], settings))
    except MemoryError:
        reason = DocumentReason.EXTRACTION_MEMORY
    except etree.LxmlError as error:  # out of memory, libxml2 reports a nameless fault of the document
        lacking = any(sign in str(error) for sign in ("memory", "unknown error"))
        reason = DocumentReason.EXTRACTION_MEMORY if lacking else DocumentReason.EXTRACTION_FAILED
    except Exception:  # noqa: BLE001  a page may trigger any bug of an engine; that must not affect the next page
        reason = DocumentReason.EXTRACTION_FAILED
    return asdict(Extracted(None, (), None, reason))


if __name__ == "__main__":
    main()
