"""The shard's side of extraction: run one extracting process and replace it when a page kills it."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

from tasks.engine.closing import Closing
from tasks.extraction.engines import Extracted
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.settings import ExtractSettings
from tasks.extraction.worker import read_frame, write_frame

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
            [sys.executable, "-P", "-W", "ignore", "-m", "tasks.extraction.worker"],
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
