"""Run a measured part in a separate process, so that its peak memory includes nothing else."""

import json
import subprocess
import sys
from typing import Any


def run_apart(module: str, *options: str, task: Any = None) -> dict[str, Any]:
    """Run a benchmark's module with some options and a task; return the JSON object of its last line.

    Args:
        module: such as benchmarks.crawl.
        options: of its command line.
        task: JSON-able; written to its standard input.

    Raises:
        SystemExit: it failed; with the end of its standard error.
    """
    call = [sys.executable, "-m", module, *options]
    done = subprocess.run(call, input=json.dumps(task), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{module} {' '.join(options)} failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
