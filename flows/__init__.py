"""Wiring only: which stage reads which. What a stage does is in `tasks`."""

import os

# Threads of torch that spin while they wait starve each other when the machine has other work. OpenMP reads this once,
# when torch is loaded; child processes inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
