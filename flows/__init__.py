"""Wiring only: which stage reads which. The work of a stage is in `tasks`."""

import os
import sys

# Waiting torch threads must not spin: on a busy machine they would take the processor from each other. OpenMP reads
# this once, when torch is loaded; child processes inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if sys.argv[:1] == ["-m"]:  # Python looks for the module to run; that of a flow would silently do nothing
    started = next((item for item in sys.orig_argv if item.startswith(("flows.", "-mflows."))), "").removeprefix("-m")
    if started.count(".") == 1 and started != "flows.__main__":
        expected = "expected wikisum COMMAND or python -m flows COMMAND, whose --help lists the commands"
        print(f"python -m {started} runs nothing: {expected}", file=sys.stderr)
        sys.exit(2)
