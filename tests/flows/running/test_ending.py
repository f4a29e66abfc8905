import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[3]
# A Ctrl-C that comes while a pool waits for its last job.
INTERRUPTED = """
import os, signal, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from flows.running.ending import end

def main():
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 2)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        pool.shutdown(wait=True)
    except KeyboardInterrupt:
        end(130)

if __name__ == "__main__":
    main()
"""


def test_a_pool_whose_end_was_interrupted_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    ended = subprocess.run(
        [sys.executable, script],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
    )
    assert ended.returncode == 130
    assert not Path(f"/proc/{int(ended.stdout)}").exists()
