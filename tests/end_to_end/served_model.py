"""`transformers serve` with the model of a folder, on a free port of this machine."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.patience import PATIENCE


@contextmanager
def served(folder: Path, port: int) -> Iterator[str]:
    """Yield the base address of the interface; the name of the model there is the folder's path."""
    command = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder), "--port", str(port)]
    with tempfile.TemporaryDirectory() as empty:
        # Its list of models is that of a cache, without which it answers 500.
        own = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": empty}
        server = subprocess.Popen([*command, "--device", "cpu", "--host", "127.0.0.1"], env={**os.environ, **own})
        try:
            ends = time.monotonic() + PATIENCE
            while not _answers(f"http://127.0.0.1:{port}/health"):
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < ends, "the server never answered"
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(PATIENCE)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False
