"""Extraction in a separate process, so that a page can harm only itself. The shard's side replaces the process when a
page kills it. The extracting side, `main`, reads pages from a pipe and answers with their text.

The process limits itself, so that nothing remains when the shard's process is killed. The kernel ends it when a page
has used up its processor time, also in C code, and denies it memory beyond its address space. A question is a JSON
object and a body, the answer a JSON object."""

import json
import logging
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from lxml import etree

from tasks.engine.closing import Closing
from tasks.extraction.engines import Extracted, extract
from tasks.extraction.main_text import load
from tasks.extraction.origin import Origin
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.settings import CPU_SECONDS, ExtractSettings

MEMORY_MIB = 2048  # address space of the extracting process


def main() -> None:
    """Extract the pages of a pipe until it ends; end after a page that ran out of memory."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the shard's process ends this one
    logging.disable(logging.CRITICAL)  # engines log every page without a main text
    settings = ExtractSettings.model_validate_json(sys.argv[2])
    memory, cpu_seconds = int(sys.argv[3]) * 2**20, float(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if settings.engine == "blocks":
        load()  # before the first page, which would pay for it from its processor time
    with Connection(int(sys.argv[1])) as shard, suppress(EOFError, OSError):  # the shard's process has ended
        shard.send_bytes(b"{}")  # ready
        answer: dict[str, Any] = {"reason": None}
        while answer["reason"] != DocumentReason.EXTRACTION_MEMORY:
            question, body = shard.recv_bytes(), shard.recv_bytes()
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # SIGPROF has no handler, so it ends the process
            answer = _answer(json.loads(question), body, settings)
            signal.setitimer(signal.ITIMER_PROF, 0)
            shard.send_bytes(json.dumps(answer).encode())


def _answer(question: dict[str, Any], body: bytes, settings: ExtractSettings) -> dict[str, Any]:
    try:
        return asdict(extract(body, **question, settings=settings))
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

    A plain subprocess with a pipe works in threads, in daemonic processes and in Dask workers, and forks nothing.

    Example:
        >>> with Extractor(ExtractSettings()) as extractor:
        ...     extractor.extract(b"<p>Some text.</p>", mime="text/html", charset=None).paragraphs
        ('Some text.',)"""

    def __init__(
        self,
        settings: ExtractSettings,
        pages_per_process: int = 2000,
        *,
        memory_mib: int = MEMORY_MIB,
        cpu_seconds: float = CPU_SECONDS,
    ) -> None:
        """Start nothing yet; a process is replaced after so many pages, so that its memory does not grow. A page that
        needs more address space than `memory_mib` or more processor time than `cpu_seconds` is refused."""
        self._settings = settings
        self._memory_mib, self._cpu_seconds = memory_mib, cpu_seconds
        self._pages_per_process = pages_per_process
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._errors: IO[bytes] | None = None
        self._served = 0
        self._expired = False

    def extract(self, body: bytes, *, mime: str | None, charset: str | None) -> Extracted:
        """Return the text of a page, or why there is none. A process may fail because earlier pages left data in its
        memory. Then the page is tried again in a new process, so that its result depends on the page alone. `charset`
        is the declared one, or None. Raises RuntimeError: the extracting process cannot be started."""
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
            self._process.wait()
        if self._pipe is not None:
            self._pipe.close()
        if self._errors is not None:
            self._errors.close()
        self._process = self._pipe = self._errors = None

    def _start(self) -> None:
        self.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._pipe, other = Pipe()
        settings, limits = self._settings.model_dump_json(), [str(self._memory_mib), str(self._cpu_seconds)]
        module = ["-m", "tasks.extraction.extractor", str(other.fileno()), settings, *limits]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", *module],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            pass_fds=[other.fileno()],
            # The hash seed is fixed, so that the order of sets in an engine cannot differ between runs.
            # It finds the same code as this process.
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        )
        other.close()  # so that the process alone holds it
        self._served = 0
        if self._received(_START_SECONDS) is None:
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
        assert self._process is not None and self._pipe is not None
        seconds = _WALL * self._cpu_seconds
        limit = struct.pack("ll", *divmod(int(1e6 * seconds), 1_000_000))  # seconds and microseconds
        with socket.fromfd(self._pipe.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as pipe:
            for side in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
                pipe.setsockopt(socket.SOL_SOCKET, side, limit)
        with suppress(OSError):  # it has ended, or it does not read
            self._pipe.send_bytes(json.dumps({"mime": mime, "charset": charset}).encode())
            self._pipe.send_bytes(body)
        answer = self._received(seconds)
        if answer is not None and answer["reason"] != DocumentReason.EXTRACTION_MEMORY:
            lists = {name: tuple(answer[name]) for name in ("paragraphs", "reservations", "page_numbers")}
            return Extracted(**{**answer, **lists, "origin": Origin(*answer["origin"])})
        code = self._process.wait()
        self.close()
        reason = DocumentReason.EXTRACTION_FAILED
        if answer is not None or (code == -signal.SIGKILL and not self._expired):
            reason = DocumentReason.EXTRACTION_MEMORY  # the kernel kills when the machine is out of memory
        elif self._expired or code == -signal.SIGPROF:
            reason = DocumentReason.EXTRACTION_TIMEOUT
        return Extracted(None, (), None, reason)

    def _received(self, seconds: float) -> dict[str, Any] | None:
        """Return the answer of the process, or None if it died or was killed after too many wall seconds."""
        assert self._process is not None and self._pipe is not None
        answer: dict[str, Any] | None = None
        self._expired = not self._pipe.poll(seconds)
        try:
            if not self._expired:
                answer = json.loads(self._pipe.recv_bytes())
        except BlockingIOError:  # it stopped in the middle of its answer
            self._expired = True
        except (EOFError, OSError):
            pass
        if self._expired:
            self._process.kill()
        return answer


if __name__ == "__main__":
    main()
