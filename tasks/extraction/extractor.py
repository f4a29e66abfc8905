"""Extraction in a process of its own, so that a page can harm only itself: the shard's side, which replaces the process
when a page kills it, and the extracting side, `main`, which reads pages from its standard input and writes their text.

The process limits itself, so that nothing remains when the shard's process is killed: the kernel ends it when a page
has used up its processor time, also in C code, and denies it memory beyond its address space. A message is a JSON
object and a body."""

import json
import logging
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from lxml import etree

from tasks.engine.closing import Closing
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


_WALL = 20.0  # wall seconds allowed per processor second of the limit; ends a process that hangs without computing
_START_SECONDS = 300.0  # wall seconds allowed for the start of a process, even on a very busy machine


class Extractor(Closing):
    """Extracts pages one after another in a separate process, so that a page can harm only itself.

    A plain subprocess with pipes works in threads, in daemonic processes and in Dask workers, and forks nothing.

    Example:
        >>> with Extractor(ExtractSettings()) as extractor:
        ...     extractor.extract(b"<p>Some text.</p>", mime="text/html", charset=None).paragraphs
        ('Some text.',)"""

    def __init__(self, settings: ExtractSettings, pages_per_process: int = 2000) -> None:
        """Start nothing yet; a process is replaced after so many pages, so that its memory does not grow."""
        self._settings = settings
        self._pages_per_process = pages_per_process
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._served = 0
        self._expired = False

    def extract(self, body: bytes, *, mime: str | None, charset: str | None) -> Extracted:
        """Return the text of a page, or why there is none. A process that has extracted other pages may fail because of
        what those left in memory. Then the page is tried again in a new process, so that its result depends on the page
        alone. `charset` is the declared one, or None. Raises RuntimeError: the extracting process cannot be started."""
        if self._served >= self._pages_per_process:
            self.close()
        fresh = self._process is None
        extracted = self._ask(body, mime, charset)
        if self._process is None and not fresh and extracted.reason != DocumentReason.EXTRACTION_TIMEOUT:
            extracted = self._ask(body, mime, charset)
        return extracted

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _start(self) -> None:
        self.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "tasks.extraction.extractor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # The hash seed is fixed, so that the order of sets in an engine cannot differ between runs.
            # It finds the same code as this process.
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        )
        self._served = 0
        if self._exchange(self._settings.model_dump(mode="json"), b"", _START_SECONDS) is None:
            code = self._process.wait()
            self._errors.seek(0)
            stderr = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
            self.close()
            raise RuntimeError(f"the extracting process ended with {code} while starting: {stderr}")

    def _ask(self, body: bytes, mime: str | None, charset: str | None) -> Extracted:
        """Return the process's answer for a page, or the reason of its death; start a process if there is none."""
        if self._process is None:
            self._start()
        self._served += 1
        answer = self._exchange({"mime": mime, "charset": charset}, body, _WALL * self._settings.cpu_seconds)
        if answer is not None and answer["reason"] != DocumentReason.EXTRACTION_MEMORY:
            lists = {name: tuple(answer[name]) for name in ("paragraphs", "reservations")}
            return Extracted(**{**answer, **lists})
        assert self._process is not None
        code = self._process.wait()
        self.close()
        reason = DocumentReason.EXTRACTION_FAILED
        if answer is not None or (code == -signal.SIGKILL and not self._expired):
            reason = DocumentReason.EXTRACTION_MEMORY  # the kernel kills when the machine is out of memory
        elif self._expired or code == -signal.SIGPROF:
            reason = DocumentReason.EXTRACTION_TIMEOUT
        return Extracted(None, (), None, reason)

    def _exchange(self, message: dict[str, Any], body: bytes, seconds: float) -> dict[str, Any] | None:
        """Send a message and return the answer, or None if the process died or took too many wall seconds."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        self._expired = False
        guard = threading.Timer(seconds, self._expire, [process])
        guard.daemon = True
        guard.start()
        try:
            write_frame(process.stdin, message, body)
            answer = read_frame(process.stdout)
        except BrokenPipeError:
            return None
        finally:
            guard.cancel()
        return None if answer is None else answer[0]

    def _expire(self, process: subprocess.Popen[bytes]) -> None:
        self._expired = True
        process.kill()


if __name__ == "__main__":
    main()
