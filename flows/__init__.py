"""Wiring only: which stage reads which. The work of a stage is in `tasks`."""

import os

# Waiting torch threads must not spin: on a busy machine they would take the processor from each other. OpenMP reads
# this once, when torch is loaded; child processes inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
