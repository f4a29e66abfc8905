"""Hold a root for a flow that does not build: to verify, prune, promote or copy."""

from collections.abc import Iterator
from contextlib import contextmanager

import prefect.runtime

from storage.lock import root_lock
from storage.root_format import check_root
from storage.store import Store

WAIT_SECONDS = 86_400.0  # for another run that holds the root; the command line refuses at once


@contextmanager
def held_root(root: str) -> Iterator[Store]:
    """Hold a root that exists; a deployment waits for it. Raises StorageError: there is none, or it has another format;
    RootBusyError: another run holds it."""
    store = Store(root)
    check_root(store)
    with root_lock(store, WAIT_SECONDS if prefect.runtime.deployment.id else 0.0):
        yield store
