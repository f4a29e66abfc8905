"""How long to wait for what is sure to come: so long that a slow machine gets there, and only a hang is cut off."""

import time
from collections.abc import Callable

PATIENCE = 3600.0  # seconds, for one wait; a busy machine takes fifty times what an idle one does


def wait_until(sign: Callable[[], object], what: str, said: Callable[[], str] = str) -> None:
    """Wait for a sign, or raise TimeoutError with what was waited for and what had been said."""
    deadline = time.monotonic() + PATIENCE
    while not sign():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE:.0f} s for {what}; said so far:\n{said()[-6000:]}")
        time.sleep(0.02)
