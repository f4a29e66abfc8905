"""A measured part in a process of its own, so that its peak memory is its own."""

import json
import subprocess
import sys
from typing import Any


def run_apart(module: str, *options: str, task: Any = None) -> dict[str, Any]:
    """Run a benchmark's module with some options and a task; return the JSON object of its last line.

    Args:
        module: such as benchmarks.crawl.
        options: of its command line.
        task: JSON-able; on its standard input.

    Raises:
        SystemExit: it failed; with the end of what it said.
    """
    call = [sys.executable, "-m", module, *options]
    done = subprocess.run(call, input=json.dumps(task), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{module} {' '.join(options)} failed:\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
